using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Loading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>When a load that met nothing but faults is tried again.</summary>
public sealed class RetryPolicyTests
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);
    private static readonly NntpException Closed = new(NntpFault.ConnectionClosed, "closed");

    [Fact]
    public void Pauses_double_up_to_two_seconds() => Assert.Equal(
        [100, 200, 400, 800, 1600, 2000, 2000, 2000],
        Enumerable.Range(1, 7).Append(1_000_000).Select(tries => Delay(Closed, tries: tries)!.Value.TotalMilliseconds));

    [Fact]
    public void Readers_are_served_until_their_patience_is_over()
    {
        Assert.NotNull(Delay(Closed, elapsed: Longest - TimeSpan.FromTicks(1)));
        Assert.Null(Delay(Closed, elapsed: Longest));
    }

    [Theory]
    [InlineData(OperationLane.Import)]
    [InlineData(OperationLane.HealthCheck)]
    public void What_no_reader_waits_for_is_not_tried_again(OperationLane lane) => Assert.Null(Delay(Closed, lane));

    [Fact]
    public void Third_reply_of_no_use_is_the_last()
    {
        Assert.NotNull(Delay(Closed, useless: 2));
        Assert.Null(Delay(Closed, useless: 3));
    }

    [Fact]
    public void Faults_that_time_does_not_heal_are_not_tried_again() => Assert.Null(Delay(new NntpException(NntpFault.LoginRefused, "wrong password")));

    private static TimeSpan? Delay(NntpException fault, OperationLane lane = OperationLane.Playback, int tries = 1, int useless = 0, TimeSpan elapsed = default) =>
        RetryPolicy.DelayBeforeNext(fault, lane, tries, useless, elapsed, Longest);
}
