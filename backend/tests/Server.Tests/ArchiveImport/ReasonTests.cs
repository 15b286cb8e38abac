using Sluice.Server.History;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>Failure reasons and missing parts of releases, as the history shows them: one release each.</summary>
public sealed class ReasonTests(ImportBench bench) : IClassFixture<ImportBench>
{
    private const int ArticleSize = 20_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Film_missing_most_of_its_middle_fails_as_severe_damage()
    {
        var release = Builder("Severe", 300).AddFile("Severe.mkv", 64 * ArticleSize).Build();

        var ending = await bench.WithoutAsync(ArticleSelection.Parts([.. Enumerable.Range(2, 62)]), () => bench.ImportAsync(release));

        Assert.Equal("SevereDamage", ending.Reason);
        // The number of replies before the deadline depends on the machine; nearly all sampled articles are missing.
        Assert.Matches("^Too much is missing: [0-9]+ of [0-9]+ sampled articles are gone at all providers\\.$", ending.Sentence);
    }

    [Fact]
    public async Task Film_with_a_small_hole_is_published()
    {
        var release = Builder("Small.Hole", 301).AddFile("Small.Hole.mkv", 64 * ArticleSize).Build();

        var ending = await bench.WithoutAsync(ArticleSelection.Parts(20, 21, 22), () => bench.ImportAsync(release));

        Assert.Equal("", ending.Sentence);
    }

    [Fact]
    public async Task Known_dead_post_fails_at_once_until_retried()
    {
        var release = Builder("Known", 302).AddFile("Known.mkv", 9 * ArticleSize).Build();
        var gone = ArticleSelection.Article(release.MessageId(0, 9));
        var first = await bench.WithoutAsync(gone, () => bench.ImportAsync(release));
        bench.Mock.Reset();

        var again = await bench.ImportAsync(release, "", "Known.Again");

        Assert.Equal("MissingArticles", first.Reason);
        Assert.Equal(("KnownDead", "This post failed before: its articles are gone from all providers."), (again.Reason, again.Sentence));
        Assert.Equal(["ReadNzb"], (await bench.Host.Get<HistoryStore>().FindAsync(again.Id, Token))!.Steps.Select(step => step.Step));
        Assert.Empty(bench.Mock.Stats.Bodies);

        await bench.Host.CallAsync($"mode=retry&value={again.Id}", Token);
        while ((await bench.Host.WaitForHistoryAsync(again.Id, Token)).GetProperty("fail_message").GetString() == again.Sentence)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    [Fact]
    public async Task New_provider_makes_a_known_dead_post_import_again()
    {
        using var folder = new TemporaryFolder();
        await using var mock = await MockServer.StartAsync();
        await using var other = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(folder);
        await UseAsync(host, mock);
        var release = Builder("Other", 303).AddFile("Other.mkv", 9 * ArticleSize).Build();
        mock.Post(release);
        other.Post(release);
        mock.ChangeMissing(ArticleSelection.All);
        var first = await EndAsync(host, release.ToNzb(), "A");
        var second = await EndAsync(host, release.ToNzb(), "B");
        await UseAsync(host, other);

        var third = await EndAsync(host, release.ToNzb(), "C");

        Assert.Equal(("DeadPost", "KnownDead", null), (first, second, third));
    }

    [Fact]
    public async Task Archive_with_too_many_key_rounds_is_unsupported()
    {
        var layout = Layout(LayoutFormat.Rar5) with { Password = "pw", KeyRoundsLog2 = 22, EncryptsHeaders = true };

        var ending = await bench.ImportAsync(Builder("Rounds", 304).Password("pw").AddArchive(layout).Build());

        Assert.Equal("UnsupportedArchive", ending.Reason);
        Assert.StartsWith("RAR archives of this kind cannot be streamed (", ending.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Archive_with_a_damaged_header_fails_as_broken()
    {
        var volume = Layout(LayoutFormat.Rar5).Make(305).Volumes[0];
        var bytes = new byte[volume.Bytes.Length];
        volume.Bytes.Fill(0, bytes);
        bytes[14] ^= 0x40;

        var ending = await bench.ImportAsync(Builder("Broken", 305).AddFile(volume.Name, MockBytes.Of(bytes)).Build());

        Assert.Equal("BrokenArchive", ending.Reason);
        Assert.StartsWith("The archive is damaged or inconsistent (", ending.Sentence, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Release_without_media_fails_unless_the_category_allows_it()
    {
        var release = Builder("Book", 306).AddFile("Book.txt", 40_000).Build();

        var ending = await bench.ImportAsync(release);
        var id = (await bench.Host.AddAsync(release.ToNzb(), "Book.nzb", Token, "&cat=software"))[0];

        Assert.Equal(("NoMedia", "The release holds no video or audio file."), (ending.Reason, ending.Sentence));
        Assert.Equal("", (await bench.Host.WaitForHistoryAsync(id, Token)).GetProperty("fail_message").GetString());
    }

    [Fact]
    public async Task Release_with_only_samples_fails()
    {
        var ending = await bench.ImportAsync(Builder("Film", 307).AddFile("film-sample.mkv", 90_000).Build());

        Assert.Equal(("OnlySamples", "The release holds samples only."), (ending.Reason, ending.Sentence));
    }

    [Theory]
    [InlineData("")]
    [InlineData("&cat=tv")]
    [InlineData("&cat=software")]
    public async Task Release_named_sample_with_only_samples_fails(string category)
    {
        var release = Builder("sample-only", 317).AddFile("Film.2019.sample.mkv", 90_000).Build();
        bench.Mock.Post(release);

        var id = (await bench.Host.AddAsync(release.ToNzb(), "sample-only.nzb", Token, category))[0];

        Assert.Equal("The release holds samples only.", (await bench.Host.WaitForHistoryAsync(id, Token)).GetProperty("fail_message").GetString());
    }

    [Fact]
    public async Task Samples_and_blocklisted_files_are_not_published()
    {
        var layout = Layout(LayoutFormat.Rar5) with
        {
            Entries = [new LayoutEntry("film.mkv", 500_000), new LayoutEntry("Sample/film-sample.mkv", 50_000), new LayoutEntry("film.nfo", 900), new LayoutEntry("film.srt", 900)],
        };
        var release = Builder("Filtered", 308).AddArchive(layout).AddFile("filtered.nfo", 900).AddFile("filtered.sfv", 300).AddPar2(2).Build();

        var ending = await bench.ImportAsync(release);

        Assert.Equal("", ending.Sentence);
        Assert.Equal(["film.mkv", "film.srt"], (await bench.ListAsync("Filtered")).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Compressed_subtitle_set_is_skipped_and_the_film_served()
    {
        var subtitles = Layout(LayoutFormat.Rar5) with { Entries = [new LayoutEntry("film.idx", 30_000) { IsCompressed = true }], Stem = "film.subs", Volumes = 1 };
        var release = Builder("Companions", 309).AddArchive(Layout(LayoutFormat.Rar5)).AddArchive(subtitles).Build();

        var ending = await bench.ImportAsync(release);

        Assert.Equal("", ending.Sentence);
        await bench.AssertHoldsAsync("Companions", [release.Entries[0]]);
    }

    [Theory]
    [InlineData("full", "MissingArticles")]
    [InlineData("sampled", null)]
    public async Task Full_check_fails_on_one_missing_film_article(string mode, string? reason)
    {
        using var folder = new TemporaryFolder();
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(
            folder,
            mock,
            null,
            ("SLUICE_CONFIG__API__ENSURE_ARTICLE_EXISTENCE_CATEGORIES", "tv"),
            ("SLUICE_CONFIG__API__ARTICLE_EXISTENCE_CHECK_MODE", mode));
        var release = Builder("Checked", 310, 500).AddFile("Checked.mkv", 2000 * 500).AddFile("Checked.srt", 5000).Build();
        mock.Post(release);
        // No sample contains this article.
        mock.ChangeMissing(ArticleSelection.Article(release.MessageId(0, 1042)));

        Assert.Equal(reason, await EndAsync(host, release.ToNzb(), "Checked", "&cat=tv"));
        Assert.Null(await EndAsync(host, release.ToNzb(), "Unchecked", "&cat=movies"));
    }

    private static async Task UseAsync(ProductHost host, MockServer provider) => Assert.Empty(
        await host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["usenet.providers"] = ProductHost.ProvidersJson(provider) }, Token));

    private static async Task<string?> EndAsync(ProductHost host, byte[] nzb, string name, string query = "")
    {
        var id = (await host.AddAsync(nzb, name + ".nzb", Token, query))[0];
        await host.WaitForHistoryAsync(id, Token);
        return (await host.Get<HistoryStore>().FindAsync(id, Token))!.Reason;
    }

    private static ReleaseBuilder Builder(string title, ulong seed, int articleSize = ArticleSize) => new(title, seed, articleSize);

    private static ArchiveLayout Layout(LayoutFormat format) => new() { Format = format, Entries = [new LayoutEntry("film.mkv", 500_000)], Volumes = 3 };
}
