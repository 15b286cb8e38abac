using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Memory that a window keeps for segments that have left it. The test runs alone while it measures.</summary>
[Collection(nameof(AllocationTests))]
public sealed class SegmentWindowTests
{
    private const int Segments = 100_000;
    private const int Size = 1000;

    private readonly BudgetShare _share = new(new ByteBudget(new StreamOptions()), OperationLane.Playback, static () => { });

    [Fact]
    public async Task Segment_released_before_its_load_ends_leaks_nothing()
    {
        using var pool = new BlockPool(1 << 20);
        var proved = new SegmentBuffer(pool, Size);
        var map = SegmentMap.Uniform(1, Size, Size);
        var piece = new Piece(new PostedFile(map, FixedIds.None(1)), map[0], 0, 0, Size);
        var urgency = new FetchUrgency(this, isHeadOfLine: true);
        var window = new SegmentWindow(0, _share);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        for (var i = 0; i < Segments; i++)
        {
            var slot = window.Claim(piece, isLanding: false, urgency, 0, null);
            _share.Charge(BudgetShare.CostOf(Size));
            proved.Retain();
            slot.Complete(proved);

            // The reader releases the segment before the load has ended.
            window.ReleaseHead();
            slot.End();
        }

        Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - before, long.MinValue, Segments * 20);
        Assert.Equal(0, _share.Held);
        await window.DisposeAsync();
        proved.Release();
        Assert.Equal(0, pool.Rented);
    }
}
