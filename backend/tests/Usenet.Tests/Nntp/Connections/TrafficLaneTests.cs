using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Each byte that a provider sends counts for exactly one purpose (OPS-42).</summary>
public sealed class TrafficLaneTests
{
    private const int ArticleSize = 500_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Login_bytes_count_as_other_traffic()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(1),
            new MockOptions { Providers = [new MockProvider { User = "anna", Password = "secret" }] },
            provider: (_, account) => account with { User = "anna", Password = "secret" });
        await host.Pool.ProbeAsync(0, Token);

        Assert.Equal(new LaneBytes { Other = host.Mock.Stats.Bytes }, host.Use.Lanes);
        Assert.InRange(host.Mock.Stats.Bytes, 1, 1_000);
    }

    [Theory]
    [InlineData(OperationLane.Playback)]
    [InlineData(OperationLane.Import)]
    [InlineData(OperationLane.HealthCheck)]
    public async Task Article_bytes_count_for_the_lane_of_their_fetch(OperationLane lane)
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(4), new MockOptions { Providers = [new MockProvider { Missing = ArticleSelection.Parse("3") }] });
        await host.Pool.ProbeAsync(0, Token);
        var before = host.Mock.Stats.Bytes;

        for (var part = 1; part <= 4; part++)
            await FetchAsync(host, part, lane, Token);
        await host.Pool.StatAsync(new StatRequest(new[] { IdOf(host, 1), IdOf(host, 3) }, lane), new ArticlePresence[2], Token);

        var bytes = host.Mock.Stats.Bytes - before;
        var expected = lane switch
        {
            OperationLane.Playback => new LaneBytes { Playback = bytes },
            OperationLane.Import => new LaneBytes { Import = bytes },
            _ => new LaneBytes { Checks = bytes },
        };
        Assert.Equal(expected, host.Use.Lanes with { Other = 0 });
        Assert.Equal(host.Mock.Stats.Bytes, host.Use.Bytes);
        Assert.Equal((4, 3), (host.Use.Tried, host.Use.Found));
    }

    [Theory(Timeout = 120_000)]
    [InlineData(MockTls.None)]
    [InlineData(MockTls.Valid)]
    public async Task Sum_of_all_lanes_equals_the_bytes_sent(MockTls tls)
    {
        // A slow line, so that the rest of a canceled article is not worth reading.
        var line = new MockProvider { Tls = tls, ConnectionBandwidth = 8_000_000, Piece = 4_096, Latency = TimeSpan.FromMilliseconds(5) };
        var stall = new MockFault { Kind = FaultKind.BodyStall, Provider = 0, Rate = 0.05, Tries = 1, Duration = TimeSpan.FromMilliseconds(900), CloseAfterStall = false };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(90, ArticleSize, files: 2),
            new MockOptions { Providers = [line with { Missing = ArticleSelection.Parse("5,17") }, line], Faults = [stall] },
            new NntpOptions { HedgeFloor = TimeSpan.FromMilliseconds(300) },
            provider: (_, account) => account with { UseTls = tls != MockTls.None, SkipTlsVerification = true });

        // Two readers of one film, an import and a check of another, and readers that leave in the middle of their articles.
        ReaderAccount[] accounts = [new(), new(TrafficLane.Playback), new(TrafficLane.Scans)];
        await Task.WhenAll(
            ReadAsync(host, file: 0, OperationLane.Playback, accounts[0]),
            ReadAsync(host, file: 0, OperationLane.Playback, accounts[1]),
            ReadAsync(host, file: 1, OperationLane.Import),
            CheckAsync(host),
            LeaveAsync(host, accounts[2]));
        accounts[0].Decide(TrafficLane.Playback);
        Assert.True(host.Counters.Hedges > 0, "no hedge");
        await host.AssertCountsAgreeAsync(Token);

        var (use, mock) = (host.Use, host.Mock.Stats);
        TestContext.Current.TestOutputHelper?.WriteLine($"{use.Lanes}, sent {mock.Bytes}, {mock.CancelledBodies} articles cut off");
        Assert.True(mock.CancelledBodies > 0, "no article was cut off");
        Assert.True(use.Lanes is { Playback: > 0, Scans: > 0, Import: > 0, Checks: > 0, Other: > 0, Undecided: 0 });
        Assert.Equal(use.Lanes.Playback, accounts[0].Bytes.Received + accounts[1].Bytes.Received);
        Assert.Equal(use.Lanes.Scans, accounts[2].Bytes.Received);
        Assert.InRange((double)use.Bytes, mock.Bytes * 0.999, mock.Bytes * 1.001);
    }

    private static async Task ReadAsync(EngineHost host, int file, OperationLane lane, ReaderAccount? account = null)
    {
        await using var stream = host.Engine.Open([FileExtent.Whole(host.File(file))], lane, account: account);
        await stream.CopyToAsync(Stream.Null, Token);
    }

    private static async Task CheckAsync(EngineHost host)
    {
        for (var part = 1; part <= 40; part++)
        {
            await host.StatAsync(1, 45, everyProvider: true);
            await FetchAsync(host, part, OperationLane.HealthCheck, Token);
        }
    }

    private static async Task LeaveAsync(EngineHost host, ReaderAccount account)
    {
        var buffer = new byte[1_000];
        for (var article = 1; article < 40; article += 3)
        {
            await using var stream = host.Engine.Open([FileExtent.Whole(host.File())], OperationLane.Playback, (long)article * ArticleSize, account: account);
            await stream.ReadExactlyAsync(buffer, Token);
        }
    }

    private static async Task FetchAsync(EngineHost host, int part, OperationLane lane, CancellationToken cancellationToken) =>
        await host.Pool.FetchAsync(new ArticleRequest(IdOf(host, part), lane, ExpectedBytes: host.Release.Files[0].ArticleSize), new SoleWriterSink(), cancellationToken);

    private static MessageId IdOf(EngineHost host, int part) => MessageId.Parse(host.Release.MessageId(0, part));
}
