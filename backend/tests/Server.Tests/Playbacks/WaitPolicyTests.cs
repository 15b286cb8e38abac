using Sluice.Server.Playbacks;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Server.Tests.Playbacks;

/// <summary>The wait reason of a playback for the facts of one moment.</summary>
public sealed class WaitPolicyTests
{
    private static readonly WaitFacts Waits = new()
    {
        IsOpen = true,
        Waiting = TimeSpan.FromMilliseconds(400),
        Stage = FetchStage.Receiving,
        Asked = TimeSpan.FromMilliseconds(300),
        Providers = 2,
        Reachable = 1,
        OpenConnections = 4,
        UsedConnections = 3,
        Limit = 1000,
        Received = 2000,
        Streams = 5,
    };

    [Fact]
    public void Each_wait_reason_follows_from_its_facts()
    {
        Assert.Equal((WaitReason.ProviderSlow, 300, "ms"), Decide(Waits));
        Assert.Equal((WaitReason.OtherStreams, 5, "streams"), Decide(Waits with { IsCrowded = true }));
        Assert.Equal((WaitReason.LineFull, 2000, "bytes-per-second"), Decide(Waits with { IsLineFull = true }));
        Assert.Equal((WaitReason.ProviderSlots, 3, "connections"), Decide(Waits with { Stage = FetchStage.WaitsForConnection }));
        Assert.Equal((WaitReason.ArticleRetry, 300, "ms"), Decide(Waits with { IsRepeated = true }));
        Assert.Equal((WaitReason.Cpu, 91, "percent"), Decide(Waits with { ProcessorPercent = 91 }));
        Assert.Equal((WaitReason.Limit, 1000, "bytes-per-second"), Decide(Waits with { IsPaced = true }));
        Assert.Equal((WaitReason.ProviderDown, null, null), Decide(Waits with { Reachable = 0 }));
        Assert.Equal((WaitReason.PlayerSlow, 1000, "ms"), Decide(new WaitFacts { IsOpen = true, ClientIdle = TimeSpan.FromSeconds(1) }));
    }

    [Fact]
    public void Reasons_are_ranked_with_provider_down_first()
    {
        var all = Waits with
        {
            Stage = FetchStage.WaitsForConnection,
            IsRepeated = true,
            Reachable = 0,
            IsPaced = true,
            IsLineFull = true,
            IsCrowded = true,
            ProcessorPercent = 100,
        };
        var order = new List<WaitReason> { Decide(all).Reason };
        foreach (var less in (Func<WaitFacts, WaitFacts>[])
        [
            facts => facts with { Reachable = 2 },
            facts => facts with { IsPaced = false },
            facts => facts with { ProcessorPercent = 89 },
            facts => facts with { IsRepeated = false },
            facts => facts with { Stage = FetchStage.Asked },
            facts => facts with { IsLineFull = false },
            facts => facts with { IsCrowded = false },
            facts => facts with { Stage = null },
        ])
        {
            all = less(all);
            order.Add(Decide(all).Reason);
        }

        Assert.Equal(
            [
                WaitReason.ProviderDown, WaitReason.Limit, WaitReason.Cpu, WaitReason.ArticleRetry, WaitReason.ProviderSlots, WaitReason.LineFull,
                WaitReason.OtherStreams, WaitReason.ProviderSlow, WaitReason.None,
            ],
            order);
    }

    [Fact]
    public void Short_waits_and_closed_streams_have_no_reason()
    {
        Assert.Equal(WaitReason.None, Decide(Waits with { IsOpen = false }).Reason);
        Assert.Equal(WaitReason.None, Decide(Waits with { Waiting = TimeSpan.FromMilliseconds(249) }).Reason);
        Assert.Equal(WaitReason.ProviderSlow, Decide(Waits with { Waiting = TimeSpan.FromMilliseconds(1), WaitedShare = 0.5 }).Reason);
        Assert.Equal(WaitReason.None, Decide(new WaitFacts { IsOpen = true, ClientIdle = TimeSpan.FromMilliseconds(999) }).Reason);
    }

    [Fact]
    public void Provider_down_needs_providers_and_a_delayed_reconnect()
    {
        Assert.Equal(WaitReason.ProviderDown, Decide(Waits with { OpenConnections = 0, IsRepeated = true, Stage = null }).Reason);
        Assert.Equal(WaitReason.ProviderSlow, Decide(Waits with { OpenConnections = 0, Stage = FetchStage.WaitsForConnection }).Reason);
        Assert.Equal(WaitReason.ProviderSlow, Decide(Waits with { Providers = 0, Reachable = 0 }).Reason);
    }

    private static (WaitReason Reason, double? Value, string? Unit) Decide(WaitFacts facts) => WaitPolicy.Decide(facts);
}
