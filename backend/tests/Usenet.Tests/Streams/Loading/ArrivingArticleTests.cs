using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class ArrivingArticleTests
{
    private const int Length = 50_000;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Reader_gets_no_more_bytes_of_a_known_corrupt_article(bool isCorrupt)
    {
        using var pool = new BlockPool(1 << 20);
        var data = TestArticle.Noise(Length);
        var body = TestArticle.OnWire(TestArticle.Part(data));
        if (isCorrupt)
            body[^2000] ^= 1;
        var (slot, load) = Land(pool, new CopiesSource(1), new TrustLedger(TimeProvider.System));
        var read = new byte[1000];

        load.Start(0);
        Assert.False(load.Write(body.AsSpan(0, 20_000), out _));
        Assert.Equal(1000, slot.Take(0, Length, 4096, new ReadTarget(read), isFirst: true));
        Assert.True(load.Write(body.AsSpan(20_000), out _));

        Assert.Equal(isCorrupt ? SegmentProof.Corrupt : SegmentProof.Proved, load.Judge());
        Assert.Equal(isCorrupt ? 0 : 1000, slot.Take(1000, Length, 4096, new ReadTarget(read), isFirst: true));
        slot.Release();
        load.Close();
        slot.End();
        Assert.Equal(0, pool.Rented);
    }

    [Fact]
    public void F18_Trust_is_lost_per_account_not_per_provider_index()
    {
        using var pool = new BlockPool(1 << 20);
        var (liar, honest) = (Guid.NewGuid(), Guid.NewGuid());
        var trust = new TrustLedger(TimeProvider.System);
        var body = TestArticle.OnWire(TestArticle.Part(TestArticle.Noise(Length)));
        var corrupt = body.ToArray();
        corrupt[^2000] ^= 1;

        Assert.Equal((SegmentProof.Corrupt, 1000), Deliver(new CopiesSource(2) { Accounts = [liar, honest] }, 0, corrupt));
        Assert.Equal((SegmentProof.Proved, 1000), Deliver(new CopiesSource(2) { Accounts = [honest, liar] }, 0, body));
        Assert.Equal((SegmentProof.Proved, 0), Deliver(new CopiesSource(2) { Accounts = [honest, liar] }, 1, body));

        (SegmentProof Proof, int Early) Deliver(CopiesSource source, int provider, byte[] wire)
        {
            var (slot, load) = Land(pool, source, trust);
            load.Start(provider);
            load.Write(wire.AsSpan(0, 20_000), out _);
            var early = slot.Take(0, Length, 4096, new ReadTarget(new byte[1000]), isFirst: true);
            load.Write(wire.AsSpan(20_000), out _);
            var proof = load.Judge();
            slot.Release();
            load.Close();
            slot.End();
            Assert.Equal(0, pool.Rented);
            return (proof, early);
        }
    }

    /// <summary>Returns the slot of a landing segment, which may get bytes early, and its load. Each has a file of its own.</summary>
    private static (SegmentSlot Slot, SegmentLoad Load) Land(BlockPool pool, IArticleSource source, TrustLedger trust)
    {
        var map = SegmentMap.Uniform(1, Length, Length);
        var piece = new Piece(new PostedFile(map, FixedIds.None(1)), map[0], 0, 0, Length);
        var options = new StreamOptions();
        var share = new BudgetShare(new ByteBudget(options), OperationLane.Playback, static () => { });
        var urgency = new FetchUrgency(new object(), isHeadOfLine: true);
        var slot = new SegmentWindow(0, share).Claim(piece, isLanding: true, urgency, 0, new StreamDebts().TryBegin(0));
        var fetcher = new SegmentFetcher(TestLoadServices.Of(source, pool, options, trust), new SegmentCache(options, TimeProvider.System), null);
        var load = new SegmentLoad(fetcher, new SegmentKey(SegmentIds.None, map[0]), piece.File, OperationLane.Playback, urgency, known: null);
        Assert.True(load.TryJoin(slot));
        return (slot, load);
    }
}
