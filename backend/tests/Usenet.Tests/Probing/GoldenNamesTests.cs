using System.Globalization;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>The table Golden/names.txt: files get their names, whatever their order (F23).</summary>
public sealed class GoldenNamesTests
{
    public static TheoryData<string> Titles => [.. GoldenCorpus.Read("names.txt").Select(one => one.Title)];

    [Theory]
    [MemberData(nameof(Titles))]
    public void Files_get_the_golden_names_in_any_order(string title)
    {
        var lines = GoldenCorpus.Read("names.txt").Single(one => one.Title == title).Lines;
        var release = lines[0]["release ".Length..];
        var windowsSafe = !title.EndsWith("(posix)", StringComparison.Ordinal);
        var rows = lines.Skip(1).Select(Parse).ToArray();
        var random = new Random(23);
        for (var run = 0; run < 6; run++)
        {
            var names = FileNamer.Name(release, [.. rows.Select(row => row.File)], windowsSafe);

            Assert.Equal(rows.Select(row => row.Path), names.Select(name => name.IsRefused ? "refused" : name.Path));
            random.Shuffle(rows);
        }
    }

    [Fact]
    public void Golden_table_has_at_least_60_distinct_cases()
    {
        var cases = GoldenCorpus.Read("names.txt");

        Assert.InRange(cases.Count, 60, 1000);
        Assert.Equal(cases.Count, cases.DistinctBy(one => one.Title).Count());
    }

    [Fact]
    public void Published_names_are_clean_and_unique()
    {
        foreach (var one in GoldenCorpus.Read("names.txt"))
        {
            var files = one.Lines.Skip(1).Select(line => Parse(line).File).ToList();
            var names = FileNamer.Name("R", files, windowsSafe: true).Where(name => !name.IsRefused).ToList();

            Assert.Equal(names.Count, names.Select(name => name.Path).Distinct(StringComparer.OrdinalIgnoreCase).Count());
            Assert.All(names.SelectMany(name => name.Path.Split('/')), part => Assert.Equal(NameCleaner.Clean(part, windowsSafe: true), part));
        }
    }

    private static (NameRequest File, string Path) Parse(string line)
    {
        var arrow = line.LastIndexOf(" => ", StringComparison.Ordinal);
        var fields = line[..arrow].Split(" | ");
        var (kind, length) = (fields[0].Split(' ')[0], fields[0].Split(' ')[1]);
        var names = fields.Skip(1).Select(field => field.Split(' ', 2)).ToDictionary(field => field[0], field => field.ElementAtOrDefault(1));
        var file = new NameRequest(names.GetValueOrDefault("subject"), names.GetValueOrDefault("yenc"), Enum.Parse<MediaKind>(kind), long.Parse(length, CultureInfo.InvariantCulture))
        {
            Par2 = names.GetValueOrDefault("par2"),
            Inner = names.GetValueOrDefault("inner"),
            IsJoined = names.ContainsKey("joined"),
        };
        return (file, line[(arrow + 4)..]);
    }
}
