using Sluice.Testing;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Usenet.Tests.Primitives;

public sealed class DeadlineTimerTests
{
    private readonly ManualTimeProvider _clock = new();
    private readonly List<double> _looks = [];

    [Fact]
    public void Timer_fires_once_at_the_nearest_deadline()
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
    public void Callback_can_arm_the_next_deadline()
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
    public void Past_deadline_fires_shortly_after_arming()
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
