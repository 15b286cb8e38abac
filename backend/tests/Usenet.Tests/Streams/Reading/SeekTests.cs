using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Articles that a move to another position requests, and fetches that it cancels.</summary>
public sealed class SeekTests
{
    private const int ArticleSize = 20_000;
    private const int OnWire = 4;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Queued_fetches_are_never_sent_after_their_reader_left(bool byDisposal)
    {
        await using var host = await StalledAsync("11-45", TimeSpan.FromSeconds(2));
        var stream = host.Open();
        await stream.ReadExactlyAsync(new byte[10 * ArticleSize], Token);
        await Eventually.HoldsAsync(() => Bodies(host) >= 10 + OnWire, () => $"{Bodies(host)} BODY", Token);

        // Many more are queued by now; only the commands that two connections may have in flight and the target article may follow. The target
        // may be requested more than once if it is queued behind a stalled article, so articles are counted and not commands.
        var asked = host.Mock.Stats.Bodies.Count;
        if (!byDisposal)
            await MoveAndReadAsync(host, stream, 50 * ArticleSize);
        await stream.DisposeAsync();
        await host.AssertNothingIsLeftAsync(Token);
        Assert.InRange(host.Mock.Stats.Bodies.Count, asked, asked + OnWire + (byDisposal ? 0 : 1));
    }

    [Fact]
    public async Task Seek_does_not_wait_for_abandoned_fetches()
    {
        // Every article except the target stalls forever without a stall limit, so only cancellation ends the old fetches.
        await using var host = await StalledAsync("2-45", TimeSpan.Zero, new NntpOptions { PlaybackStall = TimeSpan.FromMinutes(5), CloseGrace = TimeSpan.FromSeconds(1), HedgeEnabled = false });
        await using var stream = host.Open();
        await stream.ReadExactlyAsync(new byte[ArticleSize], Token);
        foreach (var article in new[] { 50, 55, 48, 59 })
            await MoveAndReadAsync(host, stream, article * ArticleSize);
    }

    [Fact]
    public async Task Seek_does_not_wait_behind_its_own_stalled_replies()
    {
        // Both connections are open with one stalled article each when the reader moves, so the target is queued behind one of them.
        await using var host = await StalledAsync("2-45", TimeSpan.Zero, new NntpOptions { PlaybackStall = TimeSpan.FromMinutes(5), CloseGrace = TimeSpan.FromSeconds(1), HedgeEnabled = false });
        await using (var first = host.Open(46 * ArticleSize, 52 * ArticleSize))
            await first.ReadExactlyAsync(new byte[6 * ArticleSize], Token);
        await host.AssertNothingIsLeftAsync(Token);
        await Eventually.HoldsAsync(() => host.Mock.Stats.ConnectionsNow == 2, () => $"{host.Mock.Stats.ConnectionsNow} connections", Token);

        await using var stream = host.Open();
        await stream.ReadExactlyAsync(new byte[ArticleSize], Token);
        await Eventually.HoldsAsync(() => Bodies(host) == 9, () => $"{Bodies(host)} BODY", Token);
        await MoveAndReadAsync(host, stream, 57 * ArticleSize);
    }

    [Fact]
    public async Task Seek_hint_prefetches_the_target_once_outside_the_window()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(60, ArticleSize));
        await using var stream = host.Open(0, 59 * ArticleSize);
        await stream.ReadExactlyAsync(new byte[100], Token);
        await Eventually.HoldsAsync(() => host.Mock.Stats.Articles == 1, () => $"{host.Mock.Stats.Articles} articles", Token);

        stream.HintSeek((40 * ArticleSize) + 50);
        stream.HintSeek((40 * ArticleSize) + 60);
        stream.HintSeek(50);
        stream.HintSeek(-1);
        stream.HintSeek(59 * ArticleSize);
        await Eventually.HoldsAsync(() => host.Mock.Stats.Articles == 2, () => $"{host.Mock.Stats.Articles} articles", Token);

        var read = stream.ReadAsync(new byte[100], Token).AsTask();
        Assert.True(read.IsCompletedSuccessfully);
        await MoveAndReadAsync(host, stream, (40 * ArticleSize) + 55);
        Assert.Equal(2, Bodies(host));
    }

    [Fact]
    public async Task Wrong_seek_hints_cost_few_articles_and_leak_nothing()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(60, ArticleSize));
        await using (var stream = host.Open())
        {
            await stream.ReadExactlyAsync(new byte[100], Token);
            stream.HintSeek(40 * ArticleSize);
            stream.HintSeek(30 * ArticleSize);
            await MoveAndReadAsync(host, stream, 20 * ArticleSize);
        }

        await host.AssertNothingIsLeftAsync(Token);
        Assert.InRange(Bodies(host), 2, 4);
    }

    [Fact]
    public async Task Skip_within_the_window_fetches_no_article_twice()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(60, ArticleSize),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(20) }] });
        await using var stream = host.Open();
        await stream.ReadExactlyAsync(new byte[12 * ArticleSize], Token);
        await Eventually.HoldsAsync(() => host.Mock.Stats.Articles >= 16, () => $"{host.Mock.Stats.Articles} articles", Token);

        await MoveAndReadAsync(host, stream, 14 * ArticleSize);
        await stream.ReadExactlyAsync(new byte[20 * ArticleSize], Token);
        Assert.All(host.Mock.Stats.Bodies, body => Assert.Equal(1, body.Value));
    }

    [Fact]
    public async Task Rapid_seeks_on_a_slow_line_reuse_open_connections()
    {
        // The rest of an abandoned article takes longer than a handshake, but less than the drain limit on the slowest machine.
        const int Size = 600_000;
        var patient = new NntpOptions { DrainTime = TimeSpan.FromSeconds(5), HedgeEnabled = false };
        var provider = new MockProvider { Latency = TimeSpan.FromMilliseconds(10), ConnectionBandwidth = 6_000_000 };
        await using var host = await EngineHost.StartAsync(EngineHost.Film(40, Size), new MockOptions { Providers = [provider] }, patient, new StreamOptions());

        // A whole article measures the rate of the line.
        await using (var whole = host.Open(39 * Size))
            await whole.ReadExactlyAsync(new byte[Size / 2], Token);
        for (var i = 1; i <= 16; i++)
        {
            var position = (i * 7 % 40 * Size) + (Size * 3 / 8);
            await using var stream = host.Open(position);
            var read = new byte[60_000];
            await stream.ReadExactlyAsync(read, Token);
            Assert.Equal(host.Truth(position, read.Length), read);
        }

        await host.AssertNothingIsLeftAsync(Token);
        Assert.InRange(host.Mock.Stats.Opened, 2, 10);
    }

    [Theory]
    [InlineData(ArticleSize / 2, 1)]
    [InlineData(2 * ArticleSize, 1)]
    [InlineData(3 * ArticleSize, 2)]
    [InlineData(59 * ArticleSize, 4)]
    public async Task Long_range_opens_extra_connections_and_a_probe_only_one(int end, int connections)
    {
        // The first article never ends, so further connections are only opened for articles that may follow.
        await using var host = await StalledAsync("1", TimeSpan.Zero, connections: 8);
        await using var stream = host.Open(0, end);
        await stream.ReadExactlyAsync(new byte[100], Token);
        await Eventually.HoldsAsync(() => host.Mock.Stats.ConnectionsNow == connections, () => $"{host.Mock.Stats.ConnectionsNow} connections", Token);
        Assert.Equal((connections, 1), (host.Pool.Sockets(0), Bodies(host)));
    }

    [Theory]
    [InlineData(11_000, 9_000, 1)]
    [InlineData(11_000, 9_001, 2)]
    [InlineData(16_000, null, 1)]
    [InlineData(16_001, null, 2)]
    public async Task Landing_across_a_segment_boundary_requests_both_articles(int offset, int? length, int expected)
    {
        // No article is answered, so all requests were sent at once.
        await using var host = await StalledAsync("1-60", TimeSpan.Zero, new NntpOptions { PlaybackStall = TimeSpan.FromMinutes(5), HedgeEnabled = false });
        var position = (40 * ArticleSize) + offset;
        await using (var stream = host.Open(position, position + length))
        {
            using var gone = CancellationTokenSource.CreateLinkedTokenSource(Token);
            var reading = stream.ReadAsync(new byte[100], gone.Token).AsTask();
            await Eventually.HoldsAsync(() => Bodies(host) >= expected, () => $"{Bodies(host)} BODY", Token);
            await gone.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading);
        }

        await host.AssertNothingIsLeftAsync(Token);
        Assert.Equal(expected, Bodies(host));
    }

    private static async Task MoveAndReadAsync(EngineHost host, ReadOnlyStream stream, long position)
    {
        var read = new byte[10];
        stream.Position = position;
        await stream.ReadExactlyAsync(read, Token);
        Assert.Equal(host.Truth(position, read.Length), read);
    }

    private static long Bodies(EngineHost host) => host.Mock.Stats.CommandCount("BODY");

    /// <summary>
    /// Starts two connections with two commands each; the given articles pause in the middle, so everything queued behind them waits.
    /// </summary>
    private static Task<EngineHost> StalledAsync(string articles, TimeSpan duration, NntpOptions? nntp = null, int connections = 2)
    {
        var stall = new MockFault
        {
            Kind = FaultKind.BodyStall,
            Articles = ArticleSelection.Parse(articles),
            Duration = duration,
            CloseAfterStall = false,
        };
        return EngineHost.StartAsync(
            EngineHost.Film(60, ArticleSize),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(20), Faults = [stall] }] },
            nntp,
            provider: (_, account) => account with { MaxConnections = connections, PipeliningDepth = 2 });
    }
}
