using System.Net;
using System.Net.Http.Headers;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Server.Tests.Startup;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>A server with a bandwidth limit set by a client, under players and imports, on the system clock (STR-14).</summary>
public sealed class LimitedServerTests : IDisposable
{
    private const int Players = 8;
    private const int Imports = 5;
    private const int Articles = 240;
    private const int ArticleSize = 716_800;

    // 20 Mbit/s, in KiB.
    private const int Limit = 2441;
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(10);

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 300_000)]
    [Trait("Category", "Long")]
    public async Task Eight_players_and_five_imports_share_the_bandwidth_limit()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider(), new MockProvider()] });
        await using var host = await ProductHost.StartAsync(_folder, mock);
        host.Client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", ProductHost.Password);
        var film = Release(1);
        await AddAsync(host, film, 1);
        await host.CallAsync($"mode=config&name=speedlimit&value={Limit}K", Token);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var played = new long[Players];
        var players = Enumerable.Range(0, Players).Select(player => PlayAsync(host, player, played, enough.Token)).ToArray();
        await Task.Delay(TimeSpan.FromSeconds(3), TimeProvider.System, Token);
        var imports = Task.WhenAll(Enumerable.Range(2, Imports).Select(number => AddAsync(host, Release((ulong)number), number)));

        for (var window = 0; window < 2; window++)
        {
            var (began, bytes) = (TimeProvider.System.GetTimestamp(), mock.Stats.Bytes);
            await Task.Delay(Window, TimeProvider.System, Token);
            var allowed = Limit * 1024 * TimeProvider.System.GetElapsedTime(began).TotalSeconds;
            Assert.InRange((mock.Stats.Bytes - bytes) / allowed, 0.95, 1.05);
        }

        await imports;
        await enough.CancelAsync();
        await Task.WhenAll(players);
        Assert.All(played, bytes => Assert.InRange(bytes, ArticleSize, long.MaxValue));

        // No article was requested twice, and none from the second provider.
        Assert.Equal(0, mock.ProviderStats[1].CommandCount("BODY"));
        Assert.All(film.MessageIds(0).Skip(1).SkipLast(1), id => Assert.InRange(mock.Stats.Bodies.GetValueOrDefault(id), 0, 1));
    }

    private static MockRelease Release(ulong seed) => MockRelease.Plain(seed, (long)Articles * ArticleSize, articleSize: ArticleSize);

    private static async Task AddAsync(ProductHost host, MockRelease release, int number)
    {
        var id = (await host.AddAsync(release.ToNzb(), $"Film {number}.nzb", Token, "&cat=movies")).Single();
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
    }

    /// <summary>Plays from an offset of its own until it is canceled.</summary>
    private static async Task PlayAsync(ProductHost host, int player, long[] played, CancellationToken enough)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri("content/movies/Film 1/film.mkv", UriKind.Relative));
        request.Headers.Range = new RangeHeaderValue((long)Articles / Players * player * ArticleSize, null);
        try
        {
            using var answer = await host.Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, enough);
            Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
            await using var body = await answer.Content.ReadAsStreamAsync(enough);
            var buffer = new byte[64 << 10];
            for (int read; (read = await body.ReadAsync(buffer, enough)) > 0;)
                played[player] += read;
        }
        catch (OperationCanceledException) when (enough.IsCancellationRequested)
        {
            // The test has canceled the player.
        }
    }
}
