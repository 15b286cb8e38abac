using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Division of the memory for decoded bytes among streams that come and go.</summary>
public sealed class ByteBudgetTests
{
    private const int Budget = 1600;
    private const int Guaranteed = 100;

    private readonly StreamOptions _options = new() { ByteBudget = Budget, ReadAhead = Budget, GuaranteedBytes = Guaranteed };
    private readonly ByteBudget _budget;

    public ByteBudgetTests() => _budget = new ByteBudget(_options);

    [Fact]
    public void Streams_share_seven_eighths_of_the_budget_equally()
    {
        var first = Enter();
        Assert.Equal(1400, first.Limit);
        var second = Enter();
        Assert.Equal((700, 700), (first.Limit, second.Limit));
        _budget.Leave(second);
        Assert.Equal(1400, first.Limit);
    }

    [Fact]
    public void Reserve_covers_the_guaranteed_bytes_of_new_streams()
    {
        var greedy = Enter();
        Assert.True(greedy.TryCharge(1400));
        Assert.False(greedy.TryCharge(1));

        var next = Enter();
        Assert.True(next.TryCharge(Guaranteed));
        Assert.False(next.TryCharge(1));
        var last = Enter();
        Assert.True(last.TryCharge(Guaranteed));
        Assert.Equal(Budget, _budget.Held);
        var late = Enter();
        Assert.False(late.TryCharge(1));

        // A segment that its reader waits for is loaded even beyond the budget.
        late.Charge(50);
        Assert.Equal(Budget + 50, _budget.Held);
        foreach (var (share, held) in new[] { (greedy, 1400), (next, Guaranteed), (last, Guaranteed), (late, 50) })
            share.Return(held);
        Assert.Equal(0, _budget.Held);
    }

    [Fact]
    public void Stream_above_its_shrunken_share_must_release_memory()
    {
        var (rich, poor) = (0, 0);
        var first = Enter(giveBack: () => rich++);
        var second = Enter(giveBack: () => poor++);
        Assert.True(first.TryCharge(600));
        Assert.True(second.TryCharge(400));
        var third = Enter();
        Assert.Equal((466, 1, 0), (third.Limit, rich, poor));

        first.Return(600);
        _budget.Configure(_options with { ByteBudget = 800 });
        Assert.Equal((233, 1, 1), (third.Limit, rich, poor));
        second.Return(400);
    }

    [Fact]
    public void Background_streams_share_a_quarter_of_the_budget()
    {
        var import = Enter(OperationLane.Import);
        Assert.Equal(400, import.Limit);
        Assert.True(import.TryCharge(300));
        var check = Enter(OperationLane.HealthCheck);
        Assert.False(check.TryCharge(101));
        Assert.True(check.TryCharge(100));
        var player = Enter();
        Assert.True(player.TryCharge(400));
        import.Return(300);
        check.Return(100);
        player.Return(400);
    }

    [Fact]
    public void Stream_replacing_another_leaves_shares_unchanged()
    {
        var gaveBack = 0;
        var rich = Enter(giveBack: () => gaveBack++);
        var leaving = Enter();
        Assert.True(rich.TryCharge(700));

        Assert.Empty(_budget.Enter(new BudgetShare(_budget, OperationLane.Playback, static () => { }), instead: leaving));
        Assert.Equal((700, 2, 0), (rich.Limit, _budget.Streams, gaveBack));
        rich.Return(700);
    }

    [Theory]
    [InlineData(64, 25)]
    [InlineData(256, 100)]
    [InlineData(1024, 400)]
    public void Budget_allows_25_streams_per_64_MiB(int budget, int places) =>
        Assert.Equal(places, new StreamOptions { ByteBudget = (long)budget << 20 }.MaxStreams);

    private BudgetShare Enter(OperationLane lane = OperationLane.Playback, Action? giveBack = null)
    {
        var share = new BudgetShare(_budget, lane, giveBack ?? (static () => { }));
        foreach (var call in _budget.Enter(share))
            call();
        return share;
    }
}
