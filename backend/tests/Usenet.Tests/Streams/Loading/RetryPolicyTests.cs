using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Loading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>When a load that met only faults is retried.</summary>
public sealed class RetryPolicyTests
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);
    private static readonly NntpException Closed = new(NntpFault.ConnectionClosed, "closed");

    [Fact]
    public void Pauses_double_up_to_two_seconds() => Assert.Equal(
        [100, 200, 400, 800, 1600, 2000, 2000, 2000],
        Enumerable.Range(1, 7).Append(1_000_000).Select(tries => Delay(Closed, tries: tries)!.Value.TotalMilliseconds));

    [Fact]
    public void Playback_is_retried_until_the_time_limit()
    {
        Assert.NotNull(Delay(Closed, elapsed: Longest - TimeSpan.FromTicks(1)));
        Assert.Null(Delay(Closed, elapsed: Longest));
    }

    [Theory]
    [InlineData(OperationLane.Import)]
    [InlineData(OperationLane.HealthCheck)]
    public void Background_lanes_are_not_retried(OperationLane lane) => Assert.Null(Delay(Closed, lane));

    [Fact]
    public void Third_useless_reply_ends_the_retries()
    {
        Assert.NotNull(Delay(Closed, useless: 2));
        Assert.Null(Delay(Closed, useless: 3));
    }

    [Fact]
    public void Permanent_faults_are_not_retried() => Assert.Null(Delay(new NntpException(NntpFault.LoginRefused, "wrong password")));

    private static TimeSpan? Delay(NntpException fault, OperationLane lane = OperationLane.Playback, int tries = 1, int useless = 0, TimeSpan elapsed = default) =>
        RetryPolicy.DelayBeforeNext(fault, lane, tries, useless, elapsed, Longest);
}
