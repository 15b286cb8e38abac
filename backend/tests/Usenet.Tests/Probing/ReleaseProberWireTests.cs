using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>Probes over real connections, with an NZB and article heads from the mock at two providers.</summary>
public sealed class ReleaseProberWireTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static TheoryData<FaultKind> Kinds => new(Enum.GetValues<FaultKind>().Where(kind => kind
        is FaultKind.Missing or FaultKind.Corrupt or FaultKind.Command430 or FaultKind.Command451 or FaultKind.CommandLineFeed
        or FaultKind.BodySplitTerminator or FaultKind.BodyDotEdge or FaultKind.Body8Bit || kind.ToString().StartsWith("Yenc", StringComparison.Ordinal)));

    [Fact]
    public async Task Film_of_large_articles_costs_two_bodies()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(12, articleSize: 716_800));

        var report = await ProbeAsync(host);

        Assert.Equal(host.File().Map, Assert.Single(report.Files).Map);
        Assert.Equal((2, 2), (report.HeadsAsked, report.Fetches));
        Assert.Equal(2, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Season_costs_two_bodies_per_file()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(120, articleSize: 30_000, files: 40));

        var report = await ProbeAsync(host);

        Assert.Equal(Enumerable.Range(0, 40).Select(file => host.File(file).Map), report.Files.Select(file => file.Map));
        Assert.All(report.Files, file => Assert.True(file.IsConfirmed));
        Assert.Equal(80, host.Mock.Stats.CommandCount("BODY"));
        Assert.InRange(host.Mock.Stats.ConnectionsPeak, 1, 8);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Map_is_correct_despite_any_fault_at_one_provider(FaultKind kind)
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(5),
            new MockOptions { Providers = [new MockProvider(), new MockProvider()], Faults = [new MockFault { Kind = kind, Provider = 0 }] });

        var file = Assert.Single((await ProbeAsync(host)).Files);

        Assert.Equal((HeadState.Found, true), (file.State, file.IsConfirmed));
        Assert.Equal(host.File().Map, file.Map);
        Assert.InRange(host.Mock.Stats.FaultCount(kind), 1, long.MaxValue);
    }

    [Fact]
    public async Task Unreachable_providers_throw_without_a_verdict()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(3));
        host.Mock.ChangeFaults([new MockFault { Kind = FaultKind.ConnectClose }]);

        await Assert.ThrowsAsync<NntpException>(() => ProbeAsync(host));
        Assert.Equal(0, host.Limiter.InUse(OperationLane.Import));
    }

    [Fact]
    public async Task Probed_film_reads_back_byte_for_byte()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(6));
        var posted = Assert.Single((await ProbeAsync(host)).Files).ToPostedFile();
        Assert.NotNull(posted);

        await using var stream = host.Engine.Open([FileExtent.Whole(posted)], OperationLane.Playback);
        var bytes = new MemoryStream();
        await stream.CopyToAsync(bytes, Token);

        Assert.Equal(host.Truth(0, (int)host.Release.Files[0].Size), bytes.ToArray());
    }

    private static async Task<ProbeReport> ProbeAsync(EngineHost host)
    {
        var stored = new MemoryStream();
        var writer = new MessageIdListWriter(stored);
        var files = new List<(NzbSubject Subject, int First, int Count)>();
        await foreach (var file in NzbReader.ReadAsync(new MemoryStream(host.Release.ToNzb()), null, new NzbHead(), Token))
            files.Add((NzbSubject.Parse(file.Subject), await writer.AddAsync(file, Token), file.Segments.Count));
        await writer.CompleteAsync(Token);

        var list = await MessageIdList.OpenAsync(stored, Token);
        return await new ReleaseProber(host.Pool).ProbeAsync(
            [.. files.Select(file => new ProbeTarget(file.Subject, list.Slice(file.First, file.Count)))], null, Token);
    }
}
