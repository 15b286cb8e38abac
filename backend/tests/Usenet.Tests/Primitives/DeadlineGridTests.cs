using Sluice.Testing;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Usenet.Tests.Primitives;

/// <summary>Connections share one timer, and a deadline that is postponed while bytes flow causes no wake-up of its own.</summary>
public sealed class DeadlineGridTests
{
    private readonly ManualTimeProvider _clock = new();
    private readonly DeadlineGrid _grid;
    private readonly List<(int Who, double At)> _looks = [];

    public DeadlineGridTests() => _grid = new DeadlineGrid(_clock);

    [Fact]
    public async Task Deadlines_of_many_owners_fire_together()
    {
        await using var one = Add(1);
        await using var other = Add(2);
        one.Arm(TimeSpan.FromMilliseconds(85));
        other.Arm(TimeSpan.FromMilliseconds(119));
        Assert.Equal(1, _clock.Waiting);

        _clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal([(1, 0.08), (2, 0.08)], _looks);
        Assert.Equal(0, _clock.Waiting);
    }

    [Fact]
    public async Task Near_deadline_is_never_early_and_at_most_one_grid_step_late()
    {
        await using var one = Add(1);
        _clock.Advance(TimeSpan.FromMilliseconds(3));
        one.Arm(TimeSpan.FromMilliseconds(16));

        _clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal([(1, 0.02)], _looks);
    }

    [Fact]
    public async Task Deadline_rearmed_by_an_early_check_fires_on_the_next_tick()
    {
        DeadlineGrid.Deadline? one = null;
        var start = _clock.GetTimestamp();
        await using var owned = one = Add(1, () =>
        {
            var rest = TimeSpan.FromMilliseconds(92) - _clock.GetElapsedTime(start);
            if (rest > TimeSpan.Zero)
                one!.Arm(rest);
        });
        one.Arm(TimeSpan.FromMilliseconds(92));

        _clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal([(1, 0.08), (1, 0.1)], _looks);
    }

    [Fact]
    public async Task Earlier_deadline_stays_armed()
    {
        await using var one = Add(1);
        one.Arm(TimeSpan.FromSeconds(1));
        one.Arm(TimeSpan.FromSeconds(3));
        one.Arm(TimeSpan.FromSeconds(2));

        _clock.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal([(1, 1.0)], _looks);
    }

    [Fact]
    public async Task Deadline_armed_during_a_check_fires_too()
    {
        await using var other = Add(2);
        await using var one = Add(1, () => other.Arm(TimeSpan.FromMilliseconds(120)));
        one.Arm(TimeSpan.FromMilliseconds(-1));

        _clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal([(1, 0.01), (2, 0.12)], _looks);
    }

    [Fact]
    public async Task Timer_is_disposed_with_the_last_deadline()
    {
        var one = Add(1);
        var other = Add(2);
        one.Arm(TimeSpan.FromSeconds(1));
        await one.DisposeAsync();
        one.Arm(TimeSpan.FromSeconds(1));
        Assert.Equal(1, _clock.Alive);
        await other.DisposeAsync();
        Assert.Equal(0, _clock.Alive);

        await using var next = Add(3);
        next.Arm(TimeSpan.FromSeconds(1));
        _clock.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal([(3, 1.0)], _looks);
    }

    [Fact]
    public async Task Disposal_waits_for_a_running_check()
    {
        ValueTask ending = default;
        DeadlineGrid.Deadline? one = null;
        one = Add(1, () =>
        {
            ending = one!.DisposeAsync();
            Assert.False(ending.IsCompleted);
        });
        one.Arm(TimeSpan.FromSeconds(1));

        _clock.Advance(TimeSpan.FromSeconds(1));

        await ending;
        Assert.Equal(0, _clock.Alive);
    }

    private DeadlineGrid.Deadline Add(int who, Action? look = null)
    {
        var start = _clock.GetTimestamp();
        return _grid.Add(() =>
        {
            _looks.Add((who, _clock.GetElapsedTime(start).TotalSeconds));
            look?.Invoke();
        });
    }
}
