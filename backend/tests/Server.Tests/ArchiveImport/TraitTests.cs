using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>Ways to post films, one release each: real numbers of files and volumes, sizes scaled down.</summary>
public sealed class TraitTests(ImportBench bench) : IClassFixture<ImportBench>
{
    private const int ArticleSize = 20_000;
    private const long FilmSize = 3_000_000;
    private const string Password = "correct horse";

    [Fact]
    public async Task Extensionless_film_among_companions_is_served_as_mkv()
    {
        var builder = Builder("Plain.Small", 1).AddFile("Plain.Small", Film(1));
        for (var i = 1; i <= 21; i++)
            builder.AddFile($"note{i}", MockBytes.Of(new byte[500 + i]));

        var ending = await bench.ImportAsync(builder.Build());

        Assert.Equal("", ending.Sentence);
        Assert.Contains("Plain.Small.mkv", await bench.ListAsync("Plain.Small"));
        await bench.AssertEqualAsync("Plain.Small/Plain.Small.mkv", Film(1));
    }

    [Fact]
    public Task Named_rar_set_is_served() => ServeAsync("Rar.Named", 2, Rar5() with { Volumes = 5 });

    [Fact]
    public Task Rar_set_with_encrypted_headers_and_NZB_password_is_served() =>
        ServeAsync("Rar.Hdrenc", 3, Rar5() with { Volumes = 5, Password = Password, EncryptsHeaders = true });

    [Fact]
    public Task Seven_zip_volumes_with_random_names_are_served() =>
        ServeAsync("Seven.Obfuscated", 4, Seven() with { Volumes = 6, Naming = VolumeNaming.Random });

    [Fact]
    public Task Plain_film_is_served() => bench.ServeAsync(Builder("Plain.Medium", 5).AddFile("Plain.Medium.mkv", 8_000_000).Build());

    [Fact]
    public async Task Season_of_plain_films_with_unquoted_subjects_is_served()
    {
        var builder = Builder("Plain.Season", 6).Subjects(SubjectStyle.Unquoted);
        for (var i = 1; i <= 12; i++)
            builder.AddFile(string.Create(CultureInfo.InvariantCulture, $"Plain.Season.S01E{i:00}.mkv"), 400_000 + i);
        await bench.ServeAsync(builder.Build());
    }

    [Fact]
    public Task Rar_set_of_59_volumes_with_opaque_subjects_is_served() =>
        ServeAsync("Rar.Movie", 7, Rar5() with { Volumes = 59 }, style: SubjectStyle.Opaque);

    [Fact]
    public Task Old_rar_set_without_volume_numbers_is_served() =>
        ServeAsync("Rar4.Stored", 8, Rar4() with { Volumes = 12, Naming = VolumeNaming.Old, HasVolumeNumbers = false });

    [Fact]
    public Task Hex_name_in_the_archive_is_replaced_by_the_release_name() => ServeAsync(
        "Rar4.Inner",
        9,
        Rar4("0123456789abcdef0123456789abcdef.mkv") with { Volumes = 8, Stem = "Rar4.Inner" },
        pathOf: _ => "Rar4.Inner.mkv");

    [Fact]
    public Task Rar_volumes_with_random_names_are_grouped_by_content() =>
        ServeAsync("Rar.Identity", 10, Rar5() with { Volumes = 15, Naming = VolumeNaming.Random });

    [Fact]
    public Task Old_rar_volumes_with_random_names_are_ordered_by_counter() =>
        ServeAsync("Rar4.Obfuscated", 11, Rar4() with { Volumes = 15, Naming = VolumeNaming.Random, HasVolumeNumbers = false });

    [Fact]
    public Task Rar_volumes_with_numeric_extensions_are_served() =>
        ServeAsync("Rar.Numbers", 12, Rar5(size: 4_000_000) with { Volumes = 193, Naming = VolumeNaming.Numbers });

    [Fact]
    public Task Seven_zip_with_a_plain_header_is_served() => ServeAsync("Seven.Plain", 13, Seven() with { Volumes = 5 });

    [Fact]
    public Task Seven_zip_of_105_volumes_is_served() => ServeAsync("Seven.Large", 14, Seven() with { Volumes = 105 });

    [Fact]
    public Task Packed_header_at_the_end_of_volume_513_is_found() =>
        ServeAsync("Seven.Split", 15, Seven(size: 5_300_000) with { Volumes = 513, PacksHeader = true });

    [Fact]
    public Task Seven_zip_with_encrypted_header_and_NZB_password_is_served() =>
        ServeAsync("Seven.Hdrenc", 16, Seven() with { Volumes = 7, Password = Password, EncryptsHeaders = true });

    [Fact]
    public Task Rar_set_of_341_volumes_with_encrypted_headers_is_served() =>
        ServeAsync("Rar.Hdrenc.Large", 17, Rar5(size: 4_000_000) with { Volumes = 341, Password = Password, EncryptsHeaders = true });

    [Fact]
    public Task Rar_set_with_encrypted_headers_and_random_names_is_served() =>
        ServeAsync("Rar.Hdrenc.Obfuscated", 18, Rar5() with { Volumes = 14, Password = Password, EncryptsHeaders = true, Naming = VolumeNaming.Random });

    [Fact]
    public Task Seven_zip_of_471_volumes_with_random_names_is_served() =>
        ServeAsync("Seven.Obfuscated.Large", 19, Seven(size: 5_000_000) with { Volumes = 471, Naming = VolumeNaming.Random });

    [Fact]
    public Task Seven_zip_with_random_names_and_packed_header_is_served() => ServeAsync(
        "Seven.Second", 20, Seven() with { Volumes = 40, Naming = VolumeNaming.Random, PacksHeader = true }, style: SubjectStyle.Counted);

    [Fact]
    public Task Disc_image_in_an_old_rar_set_is_served() =>
        ServeAsync("Rar.Iso", 21, Rar4("Rar.Iso.iso") with { Volumes = 9, Naming = VolumeNaming.Old });

    [Fact]
    public Task Tree_of_seasons_in_one_rar_set_keeps_its_folders() => ServeTreeAsync("Rar.Tree", 22, 354_351 / 20);

    [Fact]
    public async Task Season_of_12_rar_sets_in_612_files_is_served()
    {
        var builder = Builder("Rar.Season", 23);
        for (var i = 1; i <= 12; i++)
        {
            var name = string.Create(CultureInfo.InvariantCulture, $"Rar.Season.S01E{i:00}");
            builder.AddArchive(Rar5(name + ".mkv", 600_000) with { Volumes = 51, Stem = name });
        }

        await bench.ServeAsync(builder.Build());
    }

    [Fact]
    public Task Pack_of_62_plain_films_is_served() => ServePackAsync("Direct.Pack", 24, 744_439 / 20);

    [Fact]
    public async Task Missing_article_fails_only_the_ranges_over_it()
    {
        var release = new ReleaseBuilder("Damaged.Partial", 25, 200).AddFile("Damaged.Partial.mkv", 15_572 * 200L).Build();
        var (hole, path, truth) = (9000 * 200L, "Damaged.Partial/Damaged.Partial.mkv", release.Entries[0].Bytes);
        var gone = ArticleSelection.Article(release.MessageId(0, 9001));

        var (ending, status) = await bench.WithoutAsync(gone, async () =>
        {
            var ending = await bench.ImportAsync(release);
            await bench.AssertRangeAsync(path, truth, hole - 100_000, 100_000);
            await bench.AssertRangeAsync(path, truth, hole + 200, 100_000);
            using var answer = await bench.GetAsync(path, new RangeHeaderValue(hole + 10, hole + 20));
            using var whole = await bench.GetAsync(path, null);
            await Assert.ThrowsAnyAsync<Exception>(() => whole.Content.ReadAsByteArrayAsync(TestContext.Current.CancellationToken));
            return (ending, answer.StatusCode);
        });

        Assert.Equal("", ending.Sentence);
        Assert.Equal(HttpStatusCode.Gone, status);
    }

    [Fact]
    public async Task Compressed_rar_set_is_refused()
    {
        var layout = Rar4() with { Entries = [new LayoutEntry("film.mkv", FilmSize) { IsCompressed = true }], Volumes = 6 };

        var ending = await bench.ImportAsync(Release("Rar4.Compressed", 26, layout));

        Assert.Equal("CompressedArchive", ending.Reason);
        Assert.Equal("film.mkv is compressed (m3); only stored archives can be streamed.", ending.Sentence);
    }

    [Fact]
    public async Task Rar_set_with_only_its_film_compressed_is_refused()
    {
        var layout = Rar5() with
        {
            Entries = [new LayoutEntry("film.nfo", 900), new LayoutEntry("film.mkv", FilmSize) { IsCompressed = true }, new LayoutEntry("film.srt", 9000)],
            Volumes = 6,
        };

        var ending = await bench.ImportAsync(Release("Rar5.Mixed", 27, layout));

        Assert.Equal("CompressedArchive", ending.Reason);
        Assert.Equal("film.mkv is compressed (m3); only stored archives can be streamed.", ending.Sentence);
    }

    [Fact]
    public async Task Encrypted_rar_set_without_a_password_is_refused()
    {
        var layout = Rar5(size: 4_000_000) with { Volumes = 341, Password = Password, EncryptsHeaders = true };

        var ending = await bench.ImportAsync(Builder("Rar.No.Password", 28).AddArchive(layout).Build());

        Assert.Equal("EncryptedNoPassword", ending.Reason);
        Assert.Equal("The archive is encrypted and no password was given.", ending.Sentence);
    }

    [Fact]
    public async Task Film_missing_15_of_16_articles_is_refused()
    {
        var release = Builder("Damaged.Severe", 29).AddFile("Damaged.Severe.mkv", 16 * ArticleSize).Build();

        var ending = await bench.WithoutAsync(ArticleSelection.Parts([.. Enumerable.Range(2, 15)]), () => bench.ImportAsync(release));

        Assert.Contains(ending.Reason, (string?[])["SevereDamage", "DeadPost", "MissingArticles"]);
    }

    [Fact]
    public async Task Post_missing_every_article_is_refused()
    {
        var release = Builder("Dead.Post", 30).AddArchive(Rar5() with { Volumes = 20 }).Build();

        var ending = await bench.WithoutAsync(ArticleSelection.All, () => bench.ImportAsync(release));

        Assert.Equal("DeadPost", ending.Reason);
        Assert.EndsWith(" articles we checked still exists on your provider.", ending.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Set_continuing_in_an_unposted_volume_is_refused()
    {
        var layout = Rar5() with { Volumes = 24, Naming = VolumeNaming.Random, Unposted = [21, 22, 23] };

        var ending = await bench.ImportAsync(Builder("Incomplete.Set", 31).Subjects(SubjectStyle.Shared).AddArchive(layout).Build());

        Assert.Equal("IncompleteSet", ending.Reason);
        Assert.StartsWith("Part of the archive was never posted (21 of ", ending.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    [Trait("Category", "Long")]
    public Task Tree_of_seasons_of_354351_segments_keeps_its_folders() => ServeTreeAsync("Rar.Tree.Whole", 32, 354_351);

    [Fact]
    [Trait("Category", "Long")]
    public Task Pack_of_744439_segments_is_served() => ServePackAsync("Direct.Pack.Whole", 33, 744_439);

    private static ReleaseBuilder Builder(string title, ulong seed, int articleSize = ArticleSize) => new(title, seed, articleSize);

    private static MockRelease Release(string title, ulong seed, ArchiveLayout layout, SubjectStyle style = SubjectStyle.Quoted) =>
        Builder(title, seed).Password(layout.Password).Subjects(style).AddArchive(layout).Build();

    private static ArchiveLayout Rar5(string path = "film.mkv", long size = FilmSize) => Layout(LayoutFormat.Rar5, path, size);

    private static ArchiveLayout Rar4(string path = "film.mkv", long size = FilmSize) => Layout(LayoutFormat.Rar4, path, size);

    private static ArchiveLayout Seven(string path = "film.mkv", long size = FilmSize) => Layout(LayoutFormat.SevenZip, path, size);

    private static ArchiveLayout Layout(LayoutFormat format, string path, long size) => new() { Format = format, Entries = [new LayoutEntry(path, size)] };

    /// <summary>Returns the bytes of a film, which do not depend on its name.</summary>
    private static MockBytes Film(ulong seed) => Layout(LayoutFormat.Split, "film.mkv", FilmSize).Make(seed).Entries[0].Bytes;

    private Task ServeAsync(
        string title, ulong seed, ArchiveLayout layout, SubjectStyle style = SubjectStyle.Quoted, Func<string, string>? pathOf = null) =>
        bench.ServeAsync(Release(title, seed, layout, style), pathOf);

    private async Task ServeTreeAsync(string title, ulong seed, int segments)
    {
        const int article = 300;
        List<LayoutEntry> episodes =
        [
            .. Enumerable.Range(0, 30).Select(i => new LayoutEntry(
                string.Create(CultureInfo.InvariantCulture, $"Show/Season {(i / 10) + 1}/Episode {(i % 10) + 1:00}.mkv"), segments * (long)article / 31)),
        ];
        var layout = new ArchiveLayout { Format = LayoutFormat.Rar5, Entries = episodes, Volumes = 60 };
        var release = Builder(title, seed, article).AddArchive(layout).Build();

        var ending = await bench.ImportAsync(release);

        Assert.Equal("", ending.Sentence);
        Assert.Equal(release.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal), (await bench.ListAsync(title)).Order(StringComparer.Ordinal));
        await AssertRangesAsync(title, release.Entries);
    }

    private async Task ServePackAsync(string title, ulong seed, int segments)
    {
        const int article = 300;
        var builder = Builder(title, seed, article);
        for (var i = 1; i <= 62; i++)
            builder.AddFile(string.Create(CultureInfo.InvariantCulture, $"{title}.E{i:00}.mkv"), segments / 62 * (long)article);
        var release = builder.Build();

        var ending = await bench.ImportAsync(release);

        Assert.Equal("", ending.Sentence);
        Assert.Equal(62, (await bench.ListAsync(title)).Count);
        await AssertRangesAsync(title, release.Entries);
    }

    private async Task AssertRangesAsync(string title, IReadOnlyList<MockEntry> entries)
    {
        var random = new Random(16);
        for (var i = 0; i < 60; i++)
        {
            var entry = entries[random.Next(entries.Count)];
            var offset = random.NextInt64(entry.Bytes.Length);
            await bench.AssertRangeAsync($"{title}/{entry.Path}", entry.Bytes, offset, (int)Math.Min(2000, entry.Bytes.Length - offset));
        }
    }
}
