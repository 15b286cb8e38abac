using System.Text;
using System.Xml.Linq;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Usenet.Tests.Mock.Layouts;

public sealed class LayoutTests
{
    private static readonly XNamespace Nzb = "http://www.newzbin.com/DTD/2003/nzb";

    public static TheoryData<string> Samples => [.. ArchiveSamples.Names];

    public static TheoryData<string> Recipes => [.. LayoutRecipe.Names];

    [Theory]
    [MemberData(nameof(Samples))]
    public void Range_of_a_volume_or_entry_matches_its_whole_content(string sample)
    {
        var dice = new Random(5);
        var archive = ArchiveSamples.Make(sample);
        foreach (var bytes in archive.Volumes.Take(3).Select(volume => volume.Bytes).Concat(archive.Entries.Select(entry => entry.Bytes)))
        {
            var whole = bytes.ToArray();
            for (var i = 0; i < 20; i++)
            {
                var offset = dice.Next(whole.Length + 1);
                var range = new byte[dice.Next(Math.Min(40_000, whole.Length - offset) + 1)];
                bytes.Fill(offset, range);
                Assert.True(range.AsSpan().SequenceEqual(whole.AsSpan(offset, range.Length)));
            }

            Assert.Throws<EndOfStreamException>(() => bytes.Fill(whole.Length, new byte[1]));
            Assert.Equal(System.IO.Hashing.Crc32.HashToUInt32(whole), bytes.Crc32);
        }
    }

    [Theory]
    [InlineData("rar5 of 140 volumes", 140)]
    [InlineData("rar4 under old names", 5)]
    [InlineData("7z volumes", 4)]
    [InlineData("split", 4)]
    public void Set_has_the_requested_count_of_equally_sized_volumes(string sample, int volumes)
    {
        var sizes = ArchiveSamples.Make(sample).Volumes.Select(volume => volume.Bytes.Length).ToList();
        Assert.Equal(volumes, sizes.Count);
        Assert.All(sizes.SkipLast(1), size => Assert.Equal(sizes[0], size));
        Assert.InRange(sizes[^1], 1, sizes[0]);
    }

    [Fact]
    public void Shifted_volume_is_shorter_and_the_next_one_longer()
    {
        var sizes = ArchiveSamples.Make("rar5 with a shifted volume").Volumes.Select(volume => volume.Bytes.Length - 70_000).ToList();
        Assert.Equal((sizes[1] - 1000, sizes[1] + 1000, sizes[1]), (sizes[2], sizes[3], sizes[4]));
    }

    [Fact]
    public void Volume_names_follow_the_naming_scheme()
    {
        Assert.Equal(["film.part1.rar", "film.part2.rar", "film.part3.rar", "film.part4.rar"], NamesOf("rar5", VolumeNaming.Usual));
        Assert.Equal(["film.rar", "film.r00", "film.r01", "film.r02"], NamesOf("rar4", VolumeNaming.Old));
        Assert.Equal(["film.7z.001", "film.7z.002", "film.7z.003", "film.7z.004"], NamesOf("7z volumes", VolumeNaming.Usual));
        Assert.Equal(["film.z01", "film.z02", "film.z03", "film.zip"], NamesOf("split zip", VolumeNaming.Usual));
        Assert.Equal(["film.mkv.001", "film.mkv.002", "film.mkv.003", "film.mkv.004"], NamesOf("split", VolumeNaming.Usual));
        var numbers = NamesOf("rar4", VolumeNaming.Numbers);
        Assert.Equal([".1", ".2", ".3", ".4"], numbers.Select(Path.GetExtension));
        Assert.Single(numbers.Select(Path.GetFileNameWithoutExtension).Distinct());
        var random = NamesOf("rar4", VolumeNaming.Random);
        Assert.Equal(4, random.Distinct().Count());
        Assert.All(random, name => Assert.Equal(32, name.Length));
    }

    [Fact]
    public void Content_too_small_for_its_volumes_is_refused() =>
        Assert.Throws<ArgumentException>(() => (ArchiveSamples.Layout("rar5") with { Entries = [new("a.mkv", 10)], Volumes = 40 }).Make(1));

    [Theory]
    [MemberData(nameof(Recipes))]
    public async Task Recipe_release_is_served_from_its_message_ids_alone(string layout)
    {
        var recipe = new LayoutRecipe { Layout = layout, Size = 200_003, Files = 2, Volumes = layout is "tar" or "zip" ? null : 6, Obfuscates = true, Par2 = 2 };
        Assert.True(LayoutRecipe.TryParse(recipe.ToString(), out var parsed));
        Assert.Equal(recipe, parsed);

        var release = recipe.Make(seed: 21, articleSize: 9000);
        Assert.Equal(200_003, release.Entries.Sum(entry => entry.Bytes.Length));
        Assert.Equal(["film-01.mkv", "film-02.mkv"], release.Entries.Select(entry => entry.Path));
        Assert.All(release.Entries, entry => Assert.Equal(0x1A, entry.Bytes.Slice(0, 1).ToArray()[0]));

        var nzb = XDocument.Parse(Encoding.UTF8.GetString(release.ToNzb()));
        var password = nzb.Descendants(Nzb + "meta").SingleOrDefault(meta => (string)meta.Attribute("type")! == "password");
        Assert.Equal(layout.EndsWith("enc", StringComparison.Ordinal) ? LayoutRecipe.UsualPassword : null, password?.Value);

        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        for (var file = 0; file < release.Files.Count; file++)
        {
            var decoded = new List<byte>();
            foreach (var id in release.MessageIds(file))
                decoded.AddRange(RawArticle.Parse(await client.ReadBodyAsync(id)).Decoded);
            Assert.True(release.Files[file].Content!.Bytes.ToArray().AsSpan().SequenceEqual(decoded.ToArray()), release.Files[file].Name);
        }
    }

    [Fact]
    public async Task Release_is_served_only_after_it_is_posted()
    {
        var release = new ReleaseBuilder("Posted", 31, 9000).AddArchive(ArchiveSamples.Layout("7z tree")).AddFile("film.nfo", 700).Shuffle().Build();
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        Assert.StartsWith("430 ", await client.AskAsync($"STAT <{release.MessageId(0, 1)}>"), StringComparison.Ordinal);
        mock.Post(release);
        Assert.Equal(release.Files[0].Content!.Bytes.Slice(0, 700).ToArray(), RawArticle.Parse(await client.ReadBodyAsync(release.MessageId(0, 1))).Decoded.Take(700));
    }

    [Fact]
    public void Nzb_can_list_each_segment_as_a_file()
    {
        var release = new ReleaseBuilder("Posted", 31, 9000).AddFile("film.mkv", 50_000).ListSegmentsAsFiles().Build();
        var files = XDocument.Parse(Encoding.UTF8.GetString(release.ToNzb())).Descendants(Nzb + "file").ToList();
        Assert.Equal(6, files.Count);
        Assert.All(files, file => Assert.Equal("1", (string)file.Descendants(Nzb + "segment").Single().Attribute("number")!));
    }

    [Theory]
    [InlineData(SubjectStyle.Quoted, "[1/2] - \"film.zip\" yEnc (1/1) ")]
    [InlineData(SubjectStyle.Unquoted, "[1/2] film.zip yEnc (1/1)")]
    [InlineData(SubjectStyle.Counted, "Some title [1/2] yEnc (1/1)")]
    [InlineData(SubjectStyle.Shared, "Some title yEnc (1/1)")]
    public void Subjects_follow_the_subject_style(SubjectStyle style, string start)
    {
        var archive = new ArchiveLayout { Format = LayoutFormat.Zip, Entries = [new("film.mkv", 1000)] };
        var release = new ReleaseBuilder("Some title", 4).Subjects(style).AddArchive(archive).AddFile("film.nfo", 10).Build();
        Assert.StartsWith(start, release.Files[0].Subject, StringComparison.Ordinal);
    }

    [Fact]
    public void Obfuscated_release_has_real_names_only_in_its_par2_index()
    {
        var release = new ReleaseBuilder("Some.Film", 4).Obfuscate().AddArchive(ArchiveSamples.Layout("rar5")).Obfuscate(false).AddPar2(blocks: 1).Build();
        Assert.All(release.Files.Take(4), file => Assert.Equal(32, file.Name.Length));
        Assert.Contains("film.part3.rar", Encoding.Latin1.GetString(release.Files[4].Content!.Bytes.ToArray()), StringComparison.Ordinal);
    }

    private static string[] NamesOf(string sample, VolumeNaming naming) =>
        [.. (ArchiveSamples.Layout(sample) with { Naming = naming, Volumes = 4 }).Make(2).Volumes.Select(volume => volume.Name)];
}
