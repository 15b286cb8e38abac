using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>The pool keeps a minimum of connections open without playback: these tests use only imports.</summary>
public sealed class WarmFloorTests
{
    private const int Articles = 80;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact(Timeout = 60_000)]
    public async Task Warm_connections_open_on_first_use()
    {
        const int Floor = 3;
        await using var host = await StartAsync(new NntpOptions { WarmFloor = Floor, HedgeEnabled = false }, connections: Floor + 1, TimeProvider.System);
        Assert.Equal(0, host.Mock.Stats.Opened);
        await FetchAsync(host, 1);
        await Eventually.HoldsAsync(() => host.Mock.Stats.Opened == Floor, () => $"{host.Mock.Stats.Opened} opened", Token);
    }

    [Fact(Timeout = 60_000)]
    public async Task Warm_connections_stay_open_without_playback()
    {
        const int Floor = 3;
        var time = new ManualTimeProvider();
        await using var host = await StartAsync(new NntpOptions { WarmFloor = Floor, HedgeEnabled = false }, connections: Floor, time);
        await FetchAllAsync(host);
        Assert.Equal((Floor, Floor), (host.Pool.Sockets(0), host.Mock.Stats.Opened));

        // Much longer than the idle limit of any server.
        var received = host.Counters.BytesReceived;
        for (var date = 1; date <= 10; date++)
        {
            time.Advance(TimeSpan.FromSeconds(40));
            var expected = received + (date * Floor * "111 20260103100000\r\n".Length);
            await Eventually.HoldsAsync(() => host.Counters.BytesReceived == expected, () => $"{host.Mock.Stats.CommandCount("DATE")} DATE", Token);
        }

        Assert.Equal((Floor, Floor, 0), (host.Pool.Sockets(0), host.Mock.Stats.Opened, host.Mock.Stats.CommandCount("QUIT")));
    }

    [Theory(Timeout = 60_000)]
    [InlineData(true, 1)]
    [InlineData(false, 0)]
    public async Task Connections_above_the_warm_floor_close_without_playback(bool keepsWarm, int left)
    {
        const int Opened = 4;
        var time = new ManualTimeProvider();
        await using var host = await StartAsync(
            new NntpOptions { WarmFloor = 1, KeepsWarm = keepsWarm, HedgeEnabled = false, CloseGrace = TimeSpan.Zero }, connections: Opened, time);
        await FetchAllAsync(host);
        Assert.Equal(Opened, host.Pool.Sockets(0));

        time.Advance(TimeSpan.FromSeconds(45));

        await Eventually.HoldsAsync(
            () => host.Mock.Stats.CommandCount("QUIT") == Opened - left && host.Pool.Sockets(0) == left && host.Mock.Stats.ConnectionsNow == left,
            () => $"{host.Pool.Sockets(0)} sockets, {host.Mock.Stats.ConnectionsNow} at the mock",
            Token);
    }

    private static Task<EngineHost> StartAsync(NntpOptions options, int connections, TimeProvider time) => EngineHost.StartAsync(
        EngineHost.Film(Articles),
        new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(50) }] },
        options,
        provider: (_, account) => account with { MaxConnections = connections, PipeliningDepth = 1 },
        nntpTime: time);

    /// <summary>Fetches so many articles that every handshake ends meanwhile.</summary>
    private static Task FetchAllAsync(EngineHost host) => Task.WhenAll(Enumerable.Range(1, Articles).Select(part => FetchAsync(host, part)));

    private static async Task FetchAsync(EngineHost host, int part)
    {
        var request = new ArticleRequest(MessageId.Parse(host.Release.MessageId(0, part)), OperationLane.Import);
        Assert.True((await host.Pool.FetchAsync(request, new CollectingSink(), Token)).IsFound);
    }
}
