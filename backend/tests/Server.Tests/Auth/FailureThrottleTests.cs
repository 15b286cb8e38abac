using System.Globalization;
using Sluice.Server.Auth;
using Xunit;

namespace Sluice.Server.Tests.Auth;

public sealed class FailureThrottleTests
{
    private readonly SteppedTime _time = new();

    [Theory]
    [InlineData(9, false)]
    [InlineData(10, true)]
    [InlineData(11, true)]
    public void Key_is_blocked_from_the_tenth_failure_on(int failures, bool blocked)
    {
        var throttle = new FailureThrottle(_time);
        for (var i = 0; i < failures; i++)
            throttle.Add("a");

        Assert.Equal(blocked, throttle.IsBlocked("a"));
        Assert.False(throttle.IsBlocked("b"));
    }

    [Fact]
    public void Key_is_free_again_when_the_oldest_failure_is_a_minute_old()
    {
        var throttle = new FailureThrottle(_time);
        throttle.Add("a");
        _time.Advance(TimeSpan.FromSeconds(30));
        for (var i = 0; i < 9; i++)
            throttle.Add("a");

        _time.Advance(TimeSpan.FromSeconds(30) - TimeSpan.FromTicks(1));
        Assert.True(throttle.IsBlocked("a"));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.False(throttle.IsBlocked("a"));
        throttle.Add("a");
        Assert.True(throttle.IsBlocked("a"));
    }

    [Fact]
    public void Many_keys_push_out_the_oldest_only()
    {
        var throttle = new FailureThrottle(_time);
        Block(throttle, "old");
        _time.Advance(TimeSpan.FromSeconds(1));
        Block(throttle, "young");
        _time.Advance(TimeSpan.FromSeconds(1));

        for (var i = 0; i < 9_999; i++)
            throttle.Add(i.ToString(CultureInfo.InvariantCulture));

        Assert.False(throttle.IsBlocked("old"));
        Assert.True(throttle.IsBlocked("young"));
    }

    private static void Block(FailureThrottle throttle, string key)
    {
        for (var i = 0; i < 10; i++)
            throttle.Add(key);
    }
}
