using System.Globalization;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>Kinds of posts besides <see cref="TraitTests"/>: discs, documents, links, misleading names, sets with gaps.</summary>
public sealed class PostedKindsTests(ImportBench bench) : IClassFixture<ImportBench>
{
    private const int ArticleSize = 20_000;

    [Theory]
    [InlineData("Blu.Ray", "BDMV/index.bdmv", "BDMV/PLAYLIST/00000.mpls", "BDMV/STREAM/00000.m2ts", "BDMV/STREAM/00001.m2ts")]
    [InlineData("Dvd", "VIDEO_TS/VIDEO_TS.IFO", "VIDEO_TS/VTS_01_0.BUP", "VIDEO_TS/VTS_01_1.VOB", "VIDEO_TS/VTS_01_2.VOB")]
    public Task Disc_folders_keep_their_names(string title, params string[] paths) => ServeAsync(
        title, Rar5() with { Entries = [.. paths.Select((path, i) => new LayoutEntry(path, i < 2 ? 3000 : 300_000 + i))], Stem = title, Volumes = 4 });

    [Fact]
    public Task Plain_disc_image_is_served() => bench.ServeAsync(Builder("Image").AddFile("Image.iso", 400_000).Build());

    [Fact]
    public Task Several_films_of_one_set_are_served() => ServeAsync(
        "Several", Rar5() with { Entries = [new("first.mkv", 200_000), new("second.mp4", 300_000), new("third.avi", 250_000)], Stem = "several" });

    [Fact]
    public async Task Epub_and_cbz_documents_are_published_as_files()
    {
        var book = new ArchiveLayout { Format = LayoutFormat.Zip, Entries = [new LayoutEntry("mimetype.txt", 40_000)] }.Make(1).Volumes[0].Bytes;
        var comic = Rar5().Make(2).Volumes[0].Bytes;

        await bench.ServeAsync(Builder("Documents").AddFile("Documents.mkv", 300_000).AddFile("Documents.epub", book).AddFile("Documents.cbz", comic).Build());
    }

    [Theory]
    [InlineData(LayoutFormat.Rar5)]
    [InlineData(LayoutFormat.Tar)]
    public Task Links_in_an_archive_are_left_out(LayoutFormat format) => ServeAsync(
        $"Links.{format}",
        new ArchiveLayout { Format = format, Entries = [new("film.mkv", 300_000), new("other.mkv", 8) { Kind = EntryKind.Link }, new("film.srt", 900)] });

    [Theory]
    [InlineData(LayoutFormat.Rar4)]
    [InlineData(LayoutFormat.Rar5)]
    public Task Stored_set_flagged_as_solid_is_served(LayoutFormat format) =>
        ServeAsync($"Solid.{format}", Rar5() with { Format = format, IsSolid = true, Entries = [new("one.mkv", 300_000), new("two.mkv", 200_000)], Stem = "solid" });

    [Fact]
    public Task Seven_zip_ordered_only_by_subject_counters_is_served() => bench.ServeAsync(
        Builder("Seven.Counted").Subjects(SubjectStyle.Counted).AddArchive(Rar5() with { Format = LayoutFormat.SevenZip, Volumes = 7, Naming = VolumeNaming.Random }).Shuffle().Build());

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public Task Obfuscated_post_is_served_with_and_without_PAR2(bool hasPar2)
    {
        var builder = Builder($"Obfuscated.{hasPar2}").Obfuscate().AddArchive(Rar5() with { Volumes = 6 });
        return bench.ServeAsync((hasPar2 ? builder.AddPar2(2) : builder).Shuffle().Build());
    }

    [Fact]
    public async Task Wrong_extension_is_corrected()
    {
        var film = new ArchiveLayout { Format = LayoutFormat.Split, Entries = [new LayoutEntry("film.mkv", 300_000)] }.Make(3).Entries[0].Bytes;

        await bench.ServeAsync(Builder("Lies").AddFile("Lies.avi", film).Build(), _ => "Lies.mkv");
    }

    [Theory]
    [InlineData(0)]
    [InlineData(4)]
    [InlineData(9)]
    public async Task Set_missing_one_volume_fails_as_incomplete(int volume)
    {
        var ending = await bench.ImportAsync(Builder($"Lacks.{volume}").AddArchive(Rar5() with { Volumes = 10, Unposted = [volume] }).Build());

        Assert.Equal("IncompleteSet", ending.Reason);
        Assert.StartsWith("Part of the archive was never posted (9 of ", ending.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Film_listed_as_10151_one_segment_files_is_one_film()
    {
        const int article = 300;
        var release = new ReleaseBuilder("Segment.Per.File", 77, article).AddFile("Segment.Per.File.mkv", 10_151L * article).ListSegmentsAsFiles().Build();

        await bench.ServeAsync(release);
    }

    [Theory]
    [InlineData(LayoutFormat.Rar5, SubjectStyle.Quoted)]
    [InlineData(LayoutFormat.Rar4, SubjectStyle.Unquoted)]
    [InlineData(LayoutFormat.SevenZip, SubjectStyle.Quoted)]
    [InlineData(LayoutFormat.Rar5, SubjectStyle.Shared)]
    public async Task Volumes_listed_segment_by_segment_are_served(LayoutFormat format, SubjectStyle subjects)
    {
        // In the last row all volumes share one name, so only their articles tell their parts apart.
        var release = Builder($"Volumes.{format}.{subjects}.x264").Subjects(subjects)
            .AddArchive(Rar5() with { Format = format, Volumes = 5 }).ListSegmentsAsFiles(numbered: true).Shuffle().Build();

        await bench.ServeAsync(release);
    }

    [Fact]
    public async Task Post_of_10000_files_is_served()
    {
        var builder = new ReleaseBuilder("Ten.Thousand", 78, 2000).AddFile("Ten.Thousand.mkv", 200_000);
        for (var i = 0; i < 10_000; i++)
            builder.AddFile(string.Create(CultureInfo.InvariantCulture, $"page{i:0000}.jpg"), 600);

        var ending = await bench.ImportAsync(builder.Build());

        Assert.Equal("", ending.Sentence);
        Assert.Equal(10_001, (await bench.ListAsync("Ten.Thousand")).Count);
        await bench.AssertEqualAsync("Ten.Thousand/Ten.Thousand.mkv", builder.Build().Entries[0].Bytes);
    }

    private static ReleaseBuilder Builder(string title) => new(title, (ulong)title.Length + title[^1], ArticleSize);

    private static ArchiveLayout Rar5() => new() { Format = LayoutFormat.Rar5, Entries = [new LayoutEntry("film.mkv", 500_000)], Volumes = 3 };

    private Task ServeAsync(string title, ArchiveLayout layout) => bench.ServeAsync(Builder(title).AddArchive(layout).Build());
}
