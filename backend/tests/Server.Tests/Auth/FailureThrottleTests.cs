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
    public void Sender_is_blocked_from_the_tenth_failure(int failures, bool blocked)
    {
        var throttle = new FailureThrottle(_time, 10, 10_000);
        for (var i = 0; i < failures; i++)
            throttle.Add(Callers.From("192.0.2.1"));

        Assert.Equal(blocked, throttle.IsBlocked(Callers.From("192.0.2.1")));
        Assert.False(throttle.IsBlocked(Callers.From("192.0.2.2")));
    }

    [Fact]
    public void Block_ends_when_the_oldest_failure_is_a_minute_old()
    {
        var throttle = new FailureThrottle(_time, 10, 10_000);
        throttle.Add(Callers.From("192.0.2.1"));
        _time.Advance(TimeSpan.FromSeconds(30));
        for (var i = 0; i < 9; i++)
            throttle.Add(Callers.From("192.0.2.1"));

        _time.Advance(TimeSpan.FromSeconds(30) - TimeSpan.FromTicks(1));
        Assert.True(throttle.IsBlocked(Callers.From("192.0.2.1")));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.False(throttle.IsBlocked(Callers.From("192.0.2.1")));
        throttle.Add(Callers.From("192.0.2.1"));
        Assert.True(throttle.IsBlocked(Callers.From("192.0.2.1")));
    }

    [Fact]
    public void Full_table_evicts_only_the_oldest_sender()
    {
        var throttle = new FailureThrottle(_time, 10, 10_000);
        Block(throttle, Callers.From("192.0.2.3"));
        _time.Advance(TimeSpan.FromSeconds(1));
        Block(throttle, Callers.From("192.0.2.4"));
        _time.Advance(TimeSpan.FromSeconds(1));

        for (var i = 0; i < 9_999; i++)
            throttle.Add(new Sender(AddressPrefix.Of(new IPAddress(i))));

        Assert.False(throttle.IsBlocked(Callers.From("192.0.2.3")));
        Assert.True(throttle.IsBlocked(Callers.From("192.0.2.4")));
    }

    [Fact]
    public void Failure_rank_is_reset_an_hour_after_the_last_failure()
    {
        var (throttle, sender) = (new FailureThrottle(_time, 10, 10_000), Callers.From("192.0.2.1"));
        for (var i = 0; i < 12; i++)
            throttle.Add(sender);
        _time.Advance(TimeSpan.FromMinutes(59));
        Assert.Equal((12, 0, 0), (throttle.Rank(sender), throttle.Count(sender), throttle.Rank(Callers.From("192.0.2.2"))));

        throttle.Add(sender);
        _time.Advance(TimeSpan.FromMinutes(60) - TimeSpan.FromTicks(1));
        Assert.Equal(13, throttle.Rank(sender));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Equal(0, throttle.Rank(sender));
        throttle.Add(sender);
        Assert.Equal(1, throttle.Rank(sender));
    }

    [Fact]
    public void Latest_eight_wrong_credentials_of_a_sender_are_remembered()
    {
        var (throttle, sender) = (new FailureThrottle(_time, 10, 10_000), Callers.From("192.0.2.1"));
        for (var mark = 0; mark < 9; mark++)
            throttle.Add(sender, (UInt128)mark);
        throttle.Add(sender, 8);

        Assert.Equal(Enumerable.Range(1, 8), Enumerable.Range(0, 10).Where(mark => throttle.Remembers(sender, (UInt128)mark)));
        Assert.False(throttle.Remembers(Callers.From("192.0.2.2"), 8));
    }

    [Theory]
    [InlineData("192.0.2.1", "192.0.2.1", true)]
    [InlineData("192.0.2.1", "::ffff:192.0.2.1", true)]
    [InlineData("192.0.2.1", "192.0.2.2", false)]
    [InlineData("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true)]
    [InlineData("2001:db8::1", "2001:db8:0:1::1", false)]
    [InlineData("fe80::1%1", "fe80::2", true)]
    [InlineData("::1", "0.0.0.1", false)]
    public void Sender_is_identified_by_IPv4_address_or_IPv6_prefix(string one, string other, bool same) =>
        Assert.Equal(same, Callers.Prefix(one) == Callers.Prefix(other));

    [Theory]
    [InlineData("::ffff:192.0.2.1", "192.0.2.1")]
    [InlineData("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64")]
    public void Sender_prefix_formats_and_parses_back(string address, string expected)
    {
        Assert.Equal(expected, Callers.Prefix(address).ToString());
        Assert.Equal(Callers.Prefix(address), AddressPrefix.Parse(expected));
    }

    private static void Block(FailureThrottle throttle, Sender key)
    {
        for (var i = 0; i < 10; i++)
            throttle.Add(key);
    }
}
