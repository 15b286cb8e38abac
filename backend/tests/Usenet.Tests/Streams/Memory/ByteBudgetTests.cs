using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>How the memory for decoded bytes is divided among streams that come and go.</summary>
public sealed class ByteBudgetTests
{
    private const int Budget = 1600;
    private const int Guaranteed = 100;

    private readonly StreamOptions _options = new() { ByteBudget = Budget, ReadAhead = Budget, GuaranteedBytes = Guaranteed };
    private readonly ByteBudget _budget;

    public ByteBudgetTests() => _budget = new ByteBudget(_options);

    [Fact]
    public void Streams_that_read_ahead_share_all_but_an_eighth()
    {
        using var first = Enter();
        Assert.Equal(1400, first.Limit);
        using (var second = Enter())
            Assert.Equal((700, 700), (first.Limit, second.Limit));
        Assert.Equal(1400, first.Limit);
    }

    [Fact]
    public void What_is_kept_free_is_there_for_the_bytes_that_a_stream_is_guaranteed()
    {
        using var greedy = Enter();
        Assert.True(greedy.TryCharge(1400));
        Assert.False(greedy.TryCharge(1));

        using var next = Enter();
        Assert.True(next.TryCharge(Guaranteed));
        Assert.False(next.TryCharge(1));
        using var last = Enter();
        Assert.True(last.TryCharge(Guaranteed));
        Assert.Equal(Budget, _budget.Held);
        using var late = Enter();
        Assert.False(late.TryCharge(1));

        // A segment that its reader waits for is loaded all the same.
        late.Charge(50);
        Assert.Equal(Budget + 50, _budget.Held);
        foreach (var (share, held) in new[] { (greedy, 1400), (next, Guaranteed), (last, Guaranteed), (late, 50) })
            share.Return(held);
        Assert.Equal(0, _budget.Held);
    }

    [Fact]
    public void Stream_that_holds_more_than_its_share_gives_back_when_another_is_opened_or_the_budget_shrinks()
    {
        var (rich, poor) = (0, 0);
        using var first = _budget.Enter(OperationLane.Playback, null, () => rich++);
        using var second = _budget.Enter(OperationLane.Playback, null, () => poor++);
        Assert.True(first.TryCharge(600));
        Assert.True(second.TryCharge(400));
        using var third = Enter();
        Assert.Equal((466, 1, 0), (third.Limit, rich, poor));

        first.Return(600);
        _budget.Configure(_options with { ByteBudget = 800 });
        Assert.Equal((233, 1, 1), (third.Limit, rich, poor));
        second.Return(400);
    }

    [Fact]
    public void Streams_of_the_background_have_a_quarter_together()
    {
        using var import = Enter(OperationLane.Import);
        Assert.Equal(400, import.Limit);
        Assert.True(import.TryCharge(300));
        using var check = Enter(OperationLane.HealthCheck);
        Assert.False(check.TryCharge(101));
        Assert.True(check.TryCharge(100));
        using var player = Enter();
        Assert.True(player.TryCharge(400));
        import.Return(300);
        check.Return(100);
        player.Return(400);
    }

    [Fact]
    public void No_more_streams_are_admitted_than_memory_is_guaranteed_to()
    {
        var shares = Enumerable.Range(0, _options.MaxStreams).Select(_ => Enter()).ToArray();
        Assert.Equal(12, Assert.Throws<StreamLimitException>(() => Enter()).Limit);
        shares[0].Dispose();
        using var next = Enter();
        Assert.Equal(12, _budget.StreamsOf(this));
        Assert.Equal(0, _budget.StreamsOf(new object()));
        foreach (var share in shares[1..])
            share.Dispose();
    }

    private BudgetShare Enter(OperationLane lane = OperationLane.Playback) => _budget.Enter(lane, this, static () => { });
}
