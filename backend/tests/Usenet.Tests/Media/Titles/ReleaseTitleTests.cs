using System.Globalization;
using Sluice.Testing;
using Sluice.Usenet.Media.Titles;
using Xunit;

namespace Sluice.Usenet.Tests.Media.Titles;

public sealed class ReleaseTitleTests
{
    [Theory]
    [InlineData("known.tsv", 300)]
    [InlineData("unseen.tsv", 200)]
    public void Posted_names_give_title_year_and_episode(string file, int fewest)
    {
        var rows = Rows(file);
        var (right, wrong) = (0, 0);
        foreach (var (name, expected) in rows)
        {
            var found = ReleaseTitle.Parse(name);
            var isRight = Show(found, withQuality: false) == Show(expected, withQuality: false);
            right += isRight ? 1 : 0;
            wrong += isRight || found is null ? 0 : 1;
            if (found != expected)
                TestContext.Current.TestOutputHelper?.WriteLine($"{name}\n  {Show(found, withQuality: true)}, not {Show(expected, withQuality: true)}");
        }

        TestContext.Current.TestOutputHelper?.WriteLine($"{file}: {right} of {rows.Count} right, {wrong} wrong");
        Assert.True(rows.Count >= fewest);
        Assert.InRange(right, rows.Count * 97 / 100.0, rows.Count);
        Assert.InRange(wrong, 0, rows.Count / 100.0);
    }

    [Theory]
    [InlineData("known.tsv")]
    [InlineData("unseen.tsv")]
    public void Posted_names_give_resolution_and_source(string file)
    {
        var rows = Rows(file);
        Assert.InRange(rows.Count(row => ReleaseTitle.Parse(row.Name)?.Quality == row.Expected?.Quality), rows.Count * 97 / 100.0, rows.Count);
    }

    [Fact]
    public void Names_above_the_folder_name_limit_give_no_title()
    {
        var longest = new string('z', ReleaseTitle.MaxLength - 15);
        Assert.Equal(longest, ReleaseTitle.Parse($"{longest}.2019.1080p.WEB")?.Title);
        Assert.Null(ReleaseTitle.Parse($"{longest}z.2019.1080p.WEB"));
    }

    [Fact]
    public void Random_names_are_parsed_without_an_exception()
    {
        var random = new Random(33);
        const string letters = "S01E5-x.[]( ){}_aEp19208pof,~\u00e9\u6d77\ud83d\udc1f'\"";
        for (var round = 0; round < 20_000; round++)
        {
            var name = new string([.. Enumerable.Range(0, random.Next(ReleaseTitle.MaxLength)).Select(_ => letters[random.Next(letters.Length)])]);
            if (ReleaseTitle.Parse(name) is { } found)
                Assert.False(string.IsNullOrWhiteSpace(found.Title), name);
        }
    }

    [Fact]
    public void Parsing_allocates_little_besides_the_result()
    {
        const string name = "Harbour.Lights.S02E11.The.Long.Night.1080p.WEB-DL.DDP5.1.H.264-NORDLYS";
        Assert.NotNull(ReleaseTitle.Parse(name));
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 100; i++)
            _ = ReleaseTitle.Parse(name);
        Assert.InRange((GC.GetAllocatedBytesForCurrentThread() - before) / 100, 0, 500);
    }

    private static string Show(ReleaseTitle? title, bool withQuality) =>
        title is null ? "-" : $"{title.Title}|{title.Year}|{title.Season}|{title.Episodes}{(withQuality ? $"|{title.Quality}" : "")}";

    private static List<(string Name, ReleaseTitle? Expected)> Rows(string file) =>
    [
        .. File.ReadLines(Repository.PathOf($"backend/tests/Usenet.Tests/Media/Titles/{file}")).Where(line => !line.StartsWith('#')).Select(line =>
        {
            var cells = line.Split('\t').Select(cell => cell == "-" ? null : cell).ToArray();
            return (cells[0]!, cells[1] is { } title
                ? new ReleaseTitle(title) { Year = cells[2] is { } year ? int.Parse(year, CultureInfo.InvariantCulture) : null, Season = cells[3], Episodes = cells[4], Quality = cells[5] }
                : null);
        }),
    ];
}
