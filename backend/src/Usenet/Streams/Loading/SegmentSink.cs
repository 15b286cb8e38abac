using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// Decodes the articles of one load into blocks while they arrive, publishes bytes that may be served early, and judges each complete article.
/// </summary>
/// <remarks>
/// A mutable value inside its load, because the load is the sink that connections call. Used by one thread at a time: by the connection that delivers
/// an article, then by the load. <see cref="Close"/> ends it.
/// </remarks>
internal struct SegmentSink(SegmentLoad load)
{
    // Rented when an article begins to arrive, because many more loads wait for a connection than decode.
    private ArticleDecoder? _decoder;
    private SegmentBuffer? _buffer;
    private int _provider;
    private bool _mayPublish;
    private bool _isAgain = load.IsAgain;
    private SegmentEvidence _evidence;

    /// <summary>The range that the last judged article claims against the map; null if it agrees or claims nothing.</summary>
    public readonly Segment? Claim => SegmentEvidence.ClaimOf(_decoder!.GetResult(), Segment);

    public SegmentProof Proof { get; private set; }

    public uint Checksum { get; private set; }

    /// <summary>Whether the last judged article is unconfirmed only because the habit of its file is unknown.</summary>
    public readonly bool HingesUponHabit => JudgeBy(load.Habit.Known) == SegmentProof.Unconfirmed
        && JudgeBy(load.Habit.Known.And(_evidence.Shows(isConfirmed: true))) == SegmentProof.Proved;

    private readonly Segment Segment => load.Key.Segment;

    /// <inheritdoc cref="IArticleSink.Start"/>
    public void Start(int provider)
    {
        (_decoder ??= load.Services.Decoders.Rent()).Reset();
        _provider = provider;
        _mayPublish = load.Services.Trust.IsTrusted(load.Services.Source.ProviderId(provider)) && load.Services.Trust.MayLeaveEarly(load.File, load.Services.Options);
        DiscardBytes();
        _buffer ??= new SegmentBuffer(load.Services.Blocks, Segment.Length);
    }

    /// <inheritdoc cref="IArticleSink.Write"/>
    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = _decoder!.Decode(raw, _buffer!, out consumed);
        if (!ended && _decoder.HasHeader)
        {
            // Identity comes before the first byte: a header of another article ends early release for this try.
            _mayPublish = _mayPublish && SegmentEvidence.Identifies(_decoder.Header, Segment, load.Habit.Known);
            load.Arrived(_buffer!, Math.Min(_buffer!.Written, Segment.Length), _mayPublish);
        }

        return ended;
    }

    /// <summary>Judges the delivered article. Readers get no further byte of a corrupt one.</summary>
    public SegmentProof Judge()
    {
        var result = _decoder!.GetResult();
        (_evidence, Checksum) = (SegmentEvidence.Of(result, Segment), result.ComputedCrc);
        var proof = JudgeBy(load.Habit.Known);
        if (proof == SegmentProof.Corrupt && Claim is { } claim && load.Correction?.MayBelieve(claim) == true)
            proof = SegmentProof.Refuting;
        Proof = proof;

        // If the map may be wrong, the provider is not to blame.
        if (proof != SegmentProof.Refuting)
            load.Services.Trust.Judged(load.File, load.Services.Source.ProviderId(_provider), proof == SegmentProof.Corrupt);
        if (proof is SegmentProof.Corrupt or SegmentProof.Refuting)
            DiscardBytes();
        else if (proof == SegmentProof.Proved)
            load.Habit.Learn(_evidence.Shows(isConfirmed: false));
        return proof;
    }

    /// <summary>Judges an unconfirmed article again, by the present habit of its file.</summary>
    public readonly SegmentProof JudgeAgain() => JudgeBy(load.Habit.Known);

    /// <summary>Proves the last judged article, because another copy had the same bytes.</summary>
    public readonly void Confirm() => load.Habit.Learn(_evidence.Shows(isConfirmed: true));

    /// <summary>Hands over the decoded bytes together with the sink's reference.</summary>
    public SegmentBuffer Take()
    {
        load.Detach();
        CountReload();
        var taken = _buffer!;
        taken.ClaimedLength = _decoder!.HasHeader ? _decoder.Header.FileSize : null;
        _buffer = null;
        return taken;
    }

    /// <summary>Releases the buffer and the decoder. No article is delivered after this call.</summary>
    public void Close()
    {
        // Detach first, because the last reference may go below and no waiter may then be given the buffer.
        load.Detach();
        GiveUpBuffer();
        if (_decoder is not null)
            load.Services.Decoders.Return(_decoder);
        _decoder = null;
    }

    private readonly SegmentProof JudgeBy(ArticleHabit habit) => _evidence.Judge(habit, load.Services.Options.ChecksCrc);

    private void DiscardBytes()
    {
        // A published buffer is never written again, because a reader may be copying from it.
        if (load.Retract())
        {
            GiveUpBuffer();
            return;
        }

        CountReload();
        _buffer?.Rewind();
    }

    private void GiveUpBuffer()
    {
        CountReload();
        _buffer?.Release();
        _buffer = null;
    }

    private void CountReload()
    {
        if (_buffer is not { Written: > 0 } buffer)
            return;
        if (_isAgain)
            load.Services.Damage.LoadedAgain(load.File, buffer.Written);
        _isAgain = true;
    }
}
