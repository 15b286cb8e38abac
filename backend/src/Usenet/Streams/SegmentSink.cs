using Sluice.Usenet.Nntp;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Decodes the body of one segment's article into blocks while it arrives, and lets the waiting reader have the bytes of a
/// landing segment at once. Lives for one fetch with all its tries.
/// </summary>
internal sealed class SegmentSink : IArticleSink
{
    private readonly SegmentSlot _slot;
    private readonly BlockPool _blocks;
    private readonly YencDecoder _decoder;
    private readonly bool _mayPublish;
    private SegmentBuffer _buffer;
    private bool _published;
    private bool _isOtherArticle;

    /// <param name="slot">Where the segment is waited for.</param>
    /// <param name="blocks">Lends memory.</param>
    /// <param name="decoder">Lent for the time of the fetch.</param>
    /// <param name="mayPublish">Whether bytes may leave before the part is proved.</param>
    public SegmentSink(SegmentSlot slot, BlockPool blocks, YencDecoder decoder, bool mayPublish)
    {
        _slot = slot;
        _blocks = blocks;
        _decoder = decoder;
        _mayPublish = mayPublish;
        _buffer = new SegmentBuffer(blocks, slot.Piece.Segment.Length);
    }

    public void Start(int provider)
    {
        _decoder.Reset();
        _isOtherArticle = false;
        if (_published)
            StartAfresh();
        else
            _buffer.Rewind();
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = _decoder.Decode(raw, _buffer, out consumed);
        if (_mayPublish && !ended && !_isOtherArticle && _decoder.HasHeader)
            Publish();
        return ended;
    }

    /// <summary>Judges the article that has been delivered. A corrupt one gives no further byte to the reader.</summary>
    public SegmentProof Judge()
    {
        var proof = SegmentProofs.Judge(_decoder.GetResult(), _slot.Piece.Segment);
        if (proof == SegmentProof.Corrupt && _published)
            StartAfresh();
        return proof;
    }

    /// <summary>Hands the decoded bytes over, with the count on them; the sink goes on with an empty buffer.</summary>
    public SegmentBuffer Take()
    {
        var taken = _buffer;
        _buffer = new SegmentBuffer(_blocks, _slot.Piece.Segment.Length);
        _published = false;
        return taken;
    }

    /// <summary>Gives back what has not been taken. Called once, when the sink is not used any more.</summary>
    public void Close() => _buffer.Release();

    private void Publish()
    {
        // Identity comes before the first byte: a header of another article ends early release for this try.
        if (!SegmentProofs.Identifies(_decoder.Header, _slot.Piece.Segment))
        {
            _isOtherArticle = true;
            return;
        }

        var available = Math.Min(_buffer.Written, _slot.Piece.Segment.Length);
        if (available == 0)
            return;
        _published = true;
        _slot.Publish(_buffer, available);
    }

    private void StartAfresh()
    {
        // A reader may be copying from the published buffer; it is never written again.
        _slot.Withdraw();
        _buffer.Release();
        _buffer = new SegmentBuffer(_blocks, _slot.Piece.Segment.Length);
        _published = false;
    }
}
