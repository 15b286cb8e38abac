using Sluice.Usenet.Nntp;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Decodes the body of one segment's article into blocks while it arrives, and lets the readers that wait for it as a landing
/// segment have the bytes at once. Serves one fetch with all its tries, and then another one.
/// </summary>
internal sealed class SegmentSink(BlockPool blocks, bool verifyBeforeServe) : IArticleSink
{
    private readonly YencDecoder _decoder = new();
    private SharedFetch _fetch = null!;
    private SegmentBuffer _buffer = null!;
    private bool _mayPublish;

    private Segment Segment => _fetch.Key.Segment;

    /// <summary>Serves a fetch from now on, until <see cref="Close"/>.</summary>
    public void Open(SharedFetch fetch)
    {
        _fetch = fetch;
        _buffer = new SegmentBuffer(blocks, Segment.Length);
    }

    public void Start(int provider)
    {
        _decoder.Reset();
        _mayPublish = !verifyBeforeServe;
        StartAfresh();
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = _decoder.Decode(raw, _buffer, out consumed);
        if (!ended && _decoder.HasHeader)
        {
            // Identity comes before the first byte: a header of another article ends early release for this try.
            _mayPublish = _mayPublish && SegmentProofs.Identifies(_decoder.Header, Segment);
            _fetch.Arrived(_buffer, Math.Min(_buffer.Written, Segment.Length), _mayPublish);
        }

        return ended;
    }

    /// <summary>Judges the article that has been delivered. A corrupt one gives no further byte to any reader.</summary>
    public SegmentProof Judge()
    {
        var proof = SegmentProofs.Judge(_decoder.GetResult(), Segment);
        if (proof == SegmentProof.Corrupt)
            StartAfresh();
        return proof;
    }

    /// <summary>Hands the decoded bytes over, with the count on them; the sink goes on with an empty buffer.</summary>
    public SegmentBuffer Take()
    {
        _fetch.Detach();
        var taken = _buffer;
        _buffer = new SegmentBuffer(blocks, Segment.Length);
        return taken;
    }

    /// <summary>Gives back what has not been taken.</summary>
    public void Close()
    {
        // No slot may be given the buffer any more once its last count may be gone.
        _fetch.Detach();
        _buffer.Release();
    }

    private void StartAfresh()
    {
        if (!_fetch.Retract())
        {
            _buffer.Rewind();
            return;
        }

        // A reader may be copying from the published buffer; it is never written again.
        _buffer.Release();
        _buffer = new SegmentBuffer(blocks, Segment.Length);
    }
}
