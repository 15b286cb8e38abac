using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Xml.Linq;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Uuencoded posts up to a limit are imported and play. Larger ones are rejected with the text of the contract (IMP-35).</summary>
public sealed class UuencodedPostTests : IDisposable
{
    private const int ArticleSize = 45 * 400;
    private const int Articles = 40;
    private const long FilmSize = (Articles * (long)ArticleSize) - 7_777;

    private static readonly XNamespace Dav = "DAV:";

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Uuencoded_film_plays_with_at_most_5_percent_extra_fetches()
    {
        var release = Release(new MockFile { Name = "film.mkv", Size = FilmSize, ArticleSize = ArticleSize, IsUuencoded = true });
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);

        await ImportAsync(host, release);
        var habit = Assert.Single(await HabitsAsync(host));
        Assert.Equal(new ArticleHabit(Carries.Never, Carries.Never, Carries.Never), habit);
        Assert.Equal(release.MessageIds().Order(), mock.Stats.Bodies.Keys.Order());

        var before = mock.Stats.CommandCount("BODY");
        Assert.Equal(Truth(release), await host.Client.GetByteArrayAsync(Film("film.mkv"), Token));
        Assert.InRange(mock.Stats.CommandCount("BODY") - before, Articles, Articles * 1.05);
    }

    [Fact]
    public async Task Uuencoded_film_lists_its_size_and_serves_any_range()
    {
        var release = Release(new MockFile { Name = "film.mkv", Size = FilmSize, ArticleSize = ArticleSize, IsUuencoded = true });
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        await ImportAsync(host, release);

        Assert.Equal(FilmSize, await LengthAsync(host, "film.mkv"));
        var truth = Truth(release);
        (long Begin, int Count)[] ranges =
        [
            (0, 1), (0, 44), (1, 45), (ArticleSize - 1, 2), (ArticleSize, 1), (ArticleSize * 7 / 2, 1000), (ArticleSize * 3, ArticleSize * 2),
            ((ArticleSize * 5) + 46, (ArticleSize * 9) + 13), (FilmSize - 1000, 1000), (FilmSize - 1, 1),
        ];
        var random = new Random(3);
        foreach (var (begin, count) in ranges.Concat(Enumerable.Range(0, 20).Select(_ => ((long)random.Next((int)FilmSize - 60_000), random.Next(1, 60_000)))))
            Assert.Equal(truth[(int)begin..((int)begin + count)], await ReadAsync(host, begin, count));
    }

    [Fact]
    public async Task Post_with_uuencoded_and_yEnc_files_plays_both()
    {
        var release = Release(
            new MockFile { Name = "film.mkv", Size = FilmSize, ArticleSize = ArticleSize, IsUuencoded = true },
            new MockFile { Name = "extra.mkv", Size = FilmSize, ArticleSize = ArticleSize });
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);

        await ImportAsync(host, release);

        foreach (var (name, file) in new[] { ("film.mkv", 0), ("extra.mkv", 1) })
        {
            var before = mock.Stats.CommandCount("BODY");
            Assert.Equal(Truth(release, file), await host.Client.GetByteArrayAsync(Film(name), Token));
            Assert.InRange(mock.Stats.CommandCount("BODY") - before, Articles, Articles * 1.05);
        }
    }

    [Theory]
    [InlineData(FaultKind.YencShort)]
    [InlineData(FaultKind.Corrupt)]
    public async Task Import_and_playback_skip_a_damaged_copy_at_one_provider(FaultKind kind)
    {
        var release = Release(new MockFile { Name = "film.mkv", Size = FilmSize, ArticleSize = ArticleSize, IsUuencoded = true });

        // Article 21 instead of the last one, because a last article with its end line does not reveal a missing line before it.
        var faults = new[] { 0, 20, kind == FaultKind.YencShort ? 21 : Articles - 1 }.Select(
            article => new MockFault { Kind = kind, Provider = 0, Articles = ArticleSelection.Article(release.MessageIds()[article]) });
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider(), new MockProvider()], Faults = [.. faults] });
        await using var host = await StartAsync(mock);

        await ImportAsync(host, release);

        Assert.Equal(FilmSize, await LengthAsync(host, "film.mkv"));
        Assert.Equal(Truth(release), await host.Client.GetByteArrayAsync(Film("film.mkv"), Token));
    }

    [Theory]
    [InlineData(FaultKind.YencShort)]
    [InlineData(FaultKind.YencLong)]
    [InlineData(FaultKind.Corrupt)]
    public async Task Article_damaged_everywhere_after_import_is_a_hole(FaultKind kind)
    {
        var release = Release(new MockFile { Name = "film.mkv", Size = FilmSize, ArticleSize = ArticleSize, IsUuencoded = true });
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        await ImportAsync(host, release);
        mock.ChangeFaults([new MockFault { Kind = kind, Articles = ArticleSelection.Article(release.MessageIds()[20]) }]);

        await AssertHoleAsync(host, release, 20, isDoubted: true);
        using var whole = await host.Client.GetAsync(Film("film.mkv"), HttpCompletionOption.ResponseHeadersRead, Token);
        using var received = new MemoryStream();
        await Assert.ThrowsAnyAsync<Exception>(() => whole.Content.CopyToAsync(received, Token));
        Assert.True(Truth(release).AsSpan(0, ArticleSize * 20).StartsWith(received.ToArray()), "bytes of the hole were sent");
    }

    [Fact]
    public async Task Uneven_uuencoded_articles_and_text_are_read_byte_for_byte()
    {
        int[] lengths = [17_999, 18_000, 45, 46, 18_001, 30_000, 44];
        var release = Release(
            new MockFile { Name = "film.mkv", Size = lengths.Sum(), PartLengths = lengths, IsUuencoded = true },
            new MockFile { Name = "film.txt", Size = 900, IsUuencoded = true });
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);

        await ImportAsync(host, release);

        Assert.Equal(Truth(release), await host.Client.GetByteArrayAsync(Film("film.mkv"), Token));
        Assert.Equal(Truth(release, 1), await host.Client.GetByteArrayAsync(Film("film.txt"), Token));
    }

    [Fact]
    public async Task Missing_article_is_a_hole_and_the_rest_plays()
    {
        var release = Release(new MockFile { Name = "film.mkv", Size = FilmSize, ArticleSize = ArticleSize, IsUuencoded = true });
        await using var mock = await MockServer.StartAsync(new MockOptions { Missing = ArticleSelection.Article(release.MessageIds()[20]) });
        await using var host = await StartAsync(mock);

        await ImportAsync(host, release);

        await AssertHoleAsync(host, release, 20, isDoubted: false);
    }

    [Fact]
    public async Task Uuencoded_file_above_the_limit_fails_after_two_articles()
    {
        const int Large = 1 << 20;
        var release = Release(new MockFile { Name = "film.mkv", Size = (64L << 20) + 1, ArticleSize = Large, IsUuencoded = true });
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);

        var id = await host.AddAsync(release.ToNzb(), "Rel.nzb", Token);
        var slot = await host.WaitForHistoryAsync(id[0], Token);

        Assert.Equal("Uuencode archives of this kind cannot be streamed (uuencode larger than 64 MiB).", slot.GetProperty("fail_message").GetString());
        Assert.Equal("UnsupportedArchive", (await host.Get<HistoryStore>().FindAsync(id[0], Token))!.Reason);
        Assert.Equal(new[] { release.MessageIds()[0], release.MessageIds()[^1] }.Order(), mock.Stats.Bodies.Keys.Order());
    }

    private static MockRelease Release(params MockFile[] files) => new("old", 23, files);

    private static byte[] Truth(MockRelease release, int file = 0)
    {
        var truth = new byte[release.Files[file].Size];
        release.Fill(file, 0, truth);
        return truth;
    }

    private static Uri Film(string name) => new($"/content/tv/Rel/{name}", UriKind.Relative);

    private static async Task ImportAsync(ProductHost host, MockRelease release)
    {
        var id = await host.AddAsync(release.ToNzb(), "Rel.nzb", Token, "&cat=tv");
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id[0], Token)).GetProperty("status").GetString());
    }

    /// <param name="host">The server.</param>
    /// <param name="release">The posted release.</param>
    /// <param name="article">The missing or damaged article.</param>
    /// <param name="isDoubted">Whether it is damaged, which a retry has to confirm (F17): the client comes back after Retry-After.</param>
    private static async Task AssertHoleAsync(ProductHost host, MockRelease release, int article, bool isDoubted)
    {
        var (truth, begin, end) = (Truth(release), ArticleSize * article, ArticleSize * (article + 1));
        Assert.Equal(truth[end..(end + 50_000)], await ReadAsync(host, end, 50_000));
        Assert.Equal(truth[(begin - 1000)..begin], await ReadAsync(host, begin - 1000, 1000));

        // On a busy machine the retry may use a connection that has returned a damaged copy, and then needs one more retry.
        var refusals = 0;
        using var first = await GetAsync(host, begin, 1000);
        var status = first.StatusCode;
        for (var wait = first.Headers.RetryAfter?.Delta; status == HttpStatusCode.ServiceUnavailable && refusals < 4; refusals++)
        {
            await Task.Delay(wait!.Value, TimeProvider.System, Token);
            using var next = await GetAsync(host, begin, 1000);
            (status, wait) = (next.StatusCode, next.Headers.RetryAfter?.Delta);
        }

        Assert.Equal(HttpStatusCode.Gone, status);
        Assert.InRange(refusals, isDoubted ? 1 : 0, isDoubted ? 4 : 0);
    }

    /// <summary>Returns the length of a file as listed in its folder.</summary>
    private static async Task<long> LengthAsync(ProductHost host, string name)
    {
        using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), Film(""));
        request.Headers.Add("Depth", "1");
        using var answer = await host.Client.SendAsync(request, Token);
        var entry = XDocument.Parse(await answer.Content.ReadAsStringAsync(Token)).Descendants(Dav + "response")
            .Single(response => response.Element(Dav + "href")!.Value.EndsWith(name, StringComparison.Ordinal));
        return (long)entry.Descendants(Dav + "getcontentlength").Single();
    }

    private static async Task<byte[]> ReadAsync(ProductHost host, long begin, int count)
    {
        using var answer = await GetAsync(host, begin, count);
        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        return await answer.Content.ReadAsByteArrayAsync(Token);
    }

    private static async Task<HttpResponseMessage> GetAsync(ProductHost host, long begin, int count)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, Film("film.mkv"));
        request.Headers.Range = new RangeHeaderValue(begin, begin + count - 1);
        return await host.Client.SendAsync(request, Token);
    }

    private static Task<IReadOnlyList<ArticleHabit>> HabitsAsync(ProductHost host) => host.Get<SluiceDatabase>().ReadAsync(
        connection => (IReadOnlyList<ArticleHabit>)[.. connection.Query<long>("SELECT habit FROM posted_file").Select(ArticleHabit.Unpack)], Token);

    private async Task<ProductHost> StartAsync(MockServer mock)
    {
        var host = await ProductHost.StartAsync(_folder, mock, replace: null, ("SLUICE_CONFIG__USENET__SEGMENT_CACHE__ENABLED", "false"));
        host.Client.DefaultRequestHeaders.Authorization =
            new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        return host;
    }
}
