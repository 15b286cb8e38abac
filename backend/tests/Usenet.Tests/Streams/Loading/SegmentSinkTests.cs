using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class SegmentSinkTests
{
    private const int Length = 50_000;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Reader_gets_no_further_byte_of_an_article_that_is_known_to_be_corrupt(bool isCorrupt)
    {
        using var pool = new BlockPool(1 << 20);
        var data = TestArticle.Noise(Length);
        var body = TestArticle.OnWire(TestArticle.Part(data));
        if (isCorrupt)
            body[^2000] ^= 1;
        var map = SegmentMap.Uniform(1, Length, Length);
        var piece = new Piece(new PostedFile(map, new OneId()), map[0], 0, 0, Length);
        var share = new ByteBudget(new StreamOptions()).Enter(OperationLane.Playback, null, static () => { });
        var slot = new SegmentSlot(new SegmentWindow(0, share));
        slot.Claim(piece, isLanding: true, new FetchUrgency(slot, isHeadOfLine: true), new StreamDebts().TryBegin(0));
        slot.LeaveWith(isTrusted: true, CancellationToken.None);
        var fetch = new SharedFetch(TimeProvider.System);
        fetch.Begin(new SegmentKey(SegmentIds.None, map[0]), slot, OperationLane.Playback, isAgain: false);
        var services = new LoadServices(
            new CopiesSource(1), new StreamOptions(), pool, new TrustLedger(TimeProvider.System),
            new DamageLedger(new ReloadTraffic(TimeProvider.System), TimeProvider.System), TimeProvider.System, NullLogger.Instance);
        var sink = new SegmentSink(services);
        sink.Open(fetch);
        var read = new byte[1000];

        sink.Start(0);
        Assert.False(sink.Write(body.AsSpan(0, 20_000), out _));
        Assert.Equal(1000, slot.Take(0, Length, 4096, read, isFirst: true));
        Assert.True(sink.Write(body.AsSpan(20_000), out _));

        Assert.Equal(isCorrupt ? SegmentProof.Corrupt : SegmentProof.Proved, sink.Judge());
        Assert.Equal(isCorrupt ? 0 : 1000, slot.Take(1000, Length, 4096, read, isFirst: true));
        slot.Release();
        sink.Close();
        slot.EndFetch();
        Assert.Equal(0, pool.Rented);
    }

    private sealed class OneId : ISegmentIds
    {
        public int Count => 1;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => new(SegmentIds.None);
    }
}
