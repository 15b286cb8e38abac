using System.Net;
using Sluice.Server.Auth;
using Sluice.Server.Listening;
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
        var throttle = new FailureThrottle(_time, 10, 10_000);
        for (var i = 0; i < failures; i++)
            throttle.Add(Callers.Prefix("192.0.2.1"));

        Assert.Equal(blocked, throttle.IsBlocked(Callers.Prefix("192.0.2.1")));
        Assert.False(throttle.IsBlocked(Callers.Prefix("192.0.2.2")));
    }

    [Fact]
    public void Key_is_free_again_when_the_oldest_failure_is_a_minute_old()
    {
        var throttle = new FailureThrottle(_time, 10, 10_000);
        throttle.Add(Callers.Prefix("192.0.2.1"));
        _time.Advance(TimeSpan.FromSeconds(30));
        for (var i = 0; i < 9; i++)
            throttle.Add(Callers.Prefix("192.0.2.1"));

        _time.Advance(TimeSpan.FromSeconds(30) - TimeSpan.FromTicks(1));
        Assert.True(throttle.IsBlocked(Callers.Prefix("192.0.2.1")));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.False(throttle.IsBlocked(Callers.Prefix("192.0.2.1")));
        throttle.Add(Callers.Prefix("192.0.2.1"));
        Assert.True(throttle.IsBlocked(Callers.Prefix("192.0.2.1")));
    }

    [Fact]
    public void Many_keys_push_out_the_oldest_only()
    {
        var throttle = new FailureThrottle(_time, 10, 10_000);
        Block(throttle, Callers.Prefix("192.0.2.3"));
        _time.Advance(TimeSpan.FromSeconds(1));
        Block(throttle, Callers.Prefix("192.0.2.4"));
        _time.Advance(TimeSpan.FromSeconds(1));

        for (var i = 0; i < 9_999; i++)
            throttle.Add(AddressPrefix.Of(new IPAddress(i)));

        Assert.False(throttle.IsBlocked(Callers.Prefix("192.0.2.3")));
        Assert.True(throttle.IsBlocked(Callers.Prefix("192.0.2.4")));
    }

    [Theory]
    [InlineData("192.0.2.1", "192.0.2.1", true)]
    [InlineData("192.0.2.1", "::ffff:192.0.2.1", true)]
    [InlineData("192.0.2.1", "192.0.2.2", false)]
    [InlineData("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true)]
    [InlineData("2001:db8::1", "2001:db8:0:1::1", false)]
    [InlineData("fe80::1%1", "fe80::2", true)]
    [InlineData("::1", "0.0.0.1", false)]
    public void Address_of_one_kind_and_network_of_the_other_are_one_sender(string one, string other, bool same) =>
        Assert.Equal(same, Callers.Prefix(one) == Callers.Prefix(other));

    [Theory]
    [InlineData("::ffff:192.0.2.1", "192.0.2.1")]
    [InlineData("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64")]
    public void Sender_is_told_as_it_is_counted(string address, string expected) => Assert.Equal(expected, Callers.Prefix(address).ToString());

    private static void Block(FailureThrottle throttle, AddressPrefix key)
    {
        for (var i = 0; i < 10; i++)
            throttle.Add(key);
    }
}
