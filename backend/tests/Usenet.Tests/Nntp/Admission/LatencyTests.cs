using Sluice.Testing;
using Sluice.Usenet.Nntp.Admission;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp.Admission;

public sealed class LatencyTests
{
    private readonly ManualTimeProvider _time = new();

    [Fact]
    public void Latency_is_the_median_of_recent_round_trips()
    {
        var provider = new LineEstimate(_time);
        LineEstimate[] connections = [new(_time, provider), new(_time, provider)];
        Assert.Null(provider.Latency);

        foreach (var (milliseconds, index) in ((int[])[40, 900, 50]).Select((milliseconds, index) => (milliseconds, index)))
            Observe(connections[index % 2], milliseconds);
        Assert.Equal(TimeSpan.FromMilliseconds(50), provider.Latency);
        Assert.Equal(provider.Latency, connections[0].Latency);

        // Only the last fifteen measurements count.
        for (var i = 0; i < 15; i++)
            Observe(connections[0], 10);
        Assert.Equal(TimeSpan.FromMilliseconds(10), provider.Latency);
    }

    [Fact]
    public void Round_trip_recording_allocates_nothing()
    {
        var connection = new LineEstimate(_time, new LineEstimate(_time));
        var from = _time.GetTimestamp();
        connection.ObserveRoundTrip(from);

        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 1000; i++)
            connection.ObserveRoundTrip(from);

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }

    private void Observe(LineEstimate connection, int milliseconds)
    {
        var from = _time.GetTimestamp();
        _time.Advance(TimeSpan.FromMilliseconds(milliseconds));
        connection.ObserveRoundTrip(from);
    }
}
