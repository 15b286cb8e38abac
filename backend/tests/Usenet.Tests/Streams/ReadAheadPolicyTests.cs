using Sluice.Testing;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class ReadAheadPolicyTests
{
    private const int SegmentBytes = 700_000;
    private const long Plenty = 1L << 30;

    private readonly ManualTimeProvider _time = new();

    [Fact]
    public void A_probe_holds_one_segment()
    {
        var policy = NewPolicy();
        policy.Delivered(1024, 0, endsPiece: false);
        policy.Waited(0);
        Assert.Equal(1, policy.Target(SegmentBytes, Plenty));
    }

    [Fact]
    public void A_reader_that_reads_on_gets_two_and_each_fruitless_wait_doubles()
    {
        var policy = NewPolicy();
        policy.Delivered(64 * 1024, 0, endsPiece: false);
        Assert.Equal(2, policy.Target(SegmentBytes, Plenty));

        var targets = new List<int>();
        for (var head = 1; head < 70; head++)
        {
            policy.Waited(head);
            targets.Add(policy.Target(SegmentBytes, Plenty));
        }

        // Every head is waited for, but only what the last doubling asked for says that it was not enough.
        Assert.Equal([4, 8, 16, 32, 64, 128], targets.Distinct());
        Assert.Equal(2, targets.Count(target => target == 4));
        Assert.Equal(8, targets.Count(target => target == 16));
    }

    [Fact]
    public void The_share_of_memory_is_never_exceeded_but_two_segments_are_always_allowed()
    {
        var policy = NewPolicy();
        policy.Delivered(SegmentBytes, 0, endsPiece: true);
        for (var head = 1; head < 2000; head++)
            policy.Waited(head);
        Assert.Equal(14, policy.Target(SegmentBytes, 10_000_000));
        Assert.Equal(2, policy.Target(SegmentBytes, 1));
    }

    [Fact]
    public void A_paced_reader_holds_four_seconds_of_its_rate()
    {
        var policy = NewPolicy();
        policy.Delivered(SegmentBytes, 0, endsPiece: true);
        for (var head = 1; head < 2000; head++)
            policy.Waited(head);
        for (var second = 0; second < 10; second++)
        {
            policy.Delivered(1_000_000, 3000, endsPiece: false);
            _time.Advance(TimeSpan.FromSeconds(1));
        }

        Assert.InRange(policy.Target(SegmentBytes, Plenty), 5, 6);
    }

    private ReadAheadPolicy NewPolicy() => new(new StreamOptions(), _time);
}
