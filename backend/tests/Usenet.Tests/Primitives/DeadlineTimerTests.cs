using Sluice.Testing;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Usenet.Tests.Primitives;

public sealed class DeadlineTimerTests
{
    private readonly ManualTimeProvider _clock = new();
    private readonly List<double> _looks = [];

    [Fact]
    public void Owner_looks_at_the_nearest_deadline_whatever_is_armed_behind_it()
    {
        using var timer = Timer();
        timer.Arm(TimeSpan.FromSeconds(3));
        timer.Arm(TimeSpan.FromSeconds(1));
        timer.Arm(TimeSpan.FromSeconds(2));
        Assert.Equal(1, _clock.Waiting);

        _clock.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal([1.0], _looks);
    }

    [Fact]
    public void Look_arms_the_timer_for_the_deadline_behind_it()
    {
        DeadlineTimer? timer = null;
        using var owned = timer = Timer(() =>
        {
            if (_looks.Count < 3)
                timer!.Arm(TimeSpan.FromSeconds(2));
        });
        timer.Arm(TimeSpan.FromSeconds(1));

        _clock.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal([1.0, 3.0, 5.0], _looks);
        Assert.Equal(0, _clock.Waiting);
    }

    [Fact]
    public void Deadline_that_is_over_is_looked_at_a_moment_later()
    {
        using var timer = Timer();
        timer.Arm(TimeSpan.FromSeconds(-1));
        Assert.Empty(_looks);

        _clock.Advance(TimeSpan.FromMilliseconds(5));

        Assert.Equal([0.005], _looks);
    }

    private DeadlineTimer Timer(Action? look = null)
    {
        var start = _clock.GetTimestamp();
        return new DeadlineTimer(_clock, () =>
        {
            _looks.Add(_clock.GetElapsedTime(start).TotalSeconds);
            look?.Invoke();
        });
    }
}
