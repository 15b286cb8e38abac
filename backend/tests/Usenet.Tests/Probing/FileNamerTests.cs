using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

public sealed class FileNamerTests
{
    private const string Hex = "1a17f88b4c691c204447e20e3e05767d";

    [Theory]
    [InlineData("film.mkv", false)]
    [InlineData("Show.S01E02.1080p.x264-GRP.mkv", false)]
    [InlineData("readme", true)]
    [InlineData(Hex, true)]
    [InlineData(Hex + ".mkv", true)]
    [InlineData("0123456789abcde.mkv", false)]
    [InlineData("abcdefabcdefabc.mkv", false)]
    [InlineData("abcdefabcdefabcd.mkv", true)]
    [InlineData("a1b2c3d4e5f6.mkv", true)]
    [InlineData("a1b2c3d4e5f.mkv", false)]
    [InlineData("movie2020hd.mkv", false)]
    [InlineData("a1b2c3-d4e5f6.mkv", false)]
    [InlineData("Movie.5", true)]
    public void Obfuscated_names_are_recognized(string name, bool obfuscated) =>
        Assert.Equal(obfuscated, NameJudge.IsObfuscated(name));

    [Theory]
    [InlineData("film.mkv", "other.mkv", MediaKind.Matroska, "film.mkv", NameSource.Subject)]
    [InlineData(Hex + ".mkv", "film.mkv", MediaKind.Matroska, "film.mkv", NameSource.Yenc)]
    [InlineData(null, "film.mkv", MediaKind.Matroska, "film.mkv", NameSource.Yenc)]
    [InlineData(Hex, Hex, MediaKind.Matroska, "My Release.mkv", NameSource.Release)]
    [InlineData(null, null, MediaKind.Mp4, "My Release.mp4", NameSource.Release)]
    [InlineData(Hex + ".mkv", null, MediaKind.Unknown, "My Release.mkv", NameSource.Release)]
    [InlineData("film.avi", null, MediaKind.Matroska, "film.mkv", NameSource.Subject)]
    [InlineData("film.m4v", null, MediaKind.Mp4, "film.m4v", NameSource.Subject)]
    [InlineData("film.x264", null, MediaKind.Matroska, "film.x264.mkv", NameSource.Subject)]
    [InlineData("C:\\films\\film.mkv", null, MediaKind.Matroska, "film.mkv", NameSource.Subject)]
    [InlineData("folder/", "film.mkv", MediaKind.Matroska, "film.mkv", NameSource.Yenc)]
    [InlineData(null, null, MediaKind.Unknown, "My Release", NameSource.Release)]
    [InlineData(Hex, null, MediaKind.Unknown, Hex, NameSource.Subject)]
    [InlineData(Hex, null, MediaKind.Rar5, Hex + ".rar", NameSource.Subject)]
    [InlineData("film.r00", null, MediaKind.Rar4, "film.r00", NameSource.Subject)]
    public void Best_readable_name_wins(string? subject, string? yenc, MediaKind kind, string name, NameSource source)
    {
        var named = Assert.Single(FileNamer.Name("My Release", [new NameRequest(subject, yenc, kind, 100)], windowsSafe: true));

        Assert.Equal((name, source), (named.Name, named.Source));
    }

    [Fact]
    public void Original_name_is_kept_for_display()
    {
        var named = Assert.Single(FileNamer.Name("My Release", [new NameRequest(Hex, null, MediaKind.Matroska, 100)], windowsSafe: true));

        Assert.Equal(Hex, named.Original);
    }

    [Fact]
    public void Longest_file_keeps_its_name_and_duplicates_are_numbered()
    {
        NameRequest[] files =
        [
            new("film.mkv", null, MediaKind.Matroska, 10),
            new("FILM.mkv", null, MediaKind.Matroska, 900),
            new("film.mkv", null, MediaKind.Matroska, 20),
            new(Hex, "b", MediaKind.Jpeg, 5),
            new("film (2).mkv", null, MediaKind.Matroska, 30),
        ];

        var names = FileNamer.Name("My Release", files, windowsSafe: true);

        Assert.Equal(["film (4).mkv", "FILM.mkv", "film (3).mkv", "My Release.jpg", "film (2).mkv"], names.Select(name => name.Name));
    }

    [Fact]
    public void Obfuscated_season_is_numbered_by_length()
    {
        var files = Enumerable.Range(0, 3).Select(i => new NameRequest($"{i}{Hex}", null, MediaKind.Matroska, 100 + i)).ToArray();

        Assert.Equal(
            ["Show (3).mkv", "Show (2).mkv", "Show.mkv"],
            FileNamer.Name("Show", files, windowsSafe: true).Select(name => name.Name));
    }

    [Fact]
    public void Any_order_of_files_gives_the_same_names()
    {
        var random = new Random(5);
        string?[] inner = ["a/film.mkv", "A/" + Hex + ".mkv", Hex + ".en.srt", "../x", "a", "VIDEO_TS/x.vob", "film.idx", "film.sub"];
        string?[] subjects = ["film.mkv", "Film.mkv", Hex, Hex + ".mkv", "sub.srt", null, "x/y.nfo", "readme", "film.avi"];
        var kinds = Enum.GetValues<MediaKind>();
        for (var run = 0; run < 300; run++)
        {
            var files = Enumerable.Range(0, 12)
                .Select(i => new NameRequest(subjects[random.Next(subjects.Length)], random.Next(2) == 0 ? null : $"yenc{i}.mkv", kinds[random.Next(kinds.Length)], random.Next(4))
                {
                    Par2 = random.Next(4) == 0 ? subjects[random.Next(subjects.Length)] : null,
                    Inner = random.Next(3) == 0 ? inner[random.Next(inner.Length)] : null,
                    IsJoined = random.Next(8) == 0,
                })
                .ToArray();
            var expected = files.Zip(FileNamer.Name("R", files, true)).Select(pair => $"{pair.First} {pair.Second}").Order(StringComparer.Ordinal).ToList();
            var published = FileNamer.Name("R", files, true).Where(name => !name.IsRefused).ToList();
            Assert.Equal(published.Count, published.Select(name => name.Path.ToUpperInvariant()).Distinct().Count());

            random.Shuffle(files);
            var shuffled = files.Zip(FileNamer.Name("R", files, true)).Select(pair => $"{pair.First} {pair.Second}").Order(StringComparer.Ordinal);

            Assert.Equal(expected, shuffled);
        }
    }

    [Fact]
    public void Twenty_thousand_identical_names_are_numbered()
    {
        var set = new NameSet(windowsSafe: true);
        var names = Enumerable.Range(0, 20_000).Select(_ => set.Add("film.mkv")).ToList();

        Assert.Equal("film.mkv", names[0]);
        Assert.Equal("film (20000).mkv", names[^1]);
    }
}
