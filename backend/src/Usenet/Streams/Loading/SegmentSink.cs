using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// Decodes the articles of one load into blocks while they arrive, passes the bytes on that may leave before their article is proved,
/// and judges the article when it is whole.
/// </summary>
/// <remarks>
/// A mutable value inside its load, which is the sink that connections know and hands their calls on. Used by one thread at a time: by the
/// connection that delivers an article, then by the load. <see cref="Close"/> ends it.
/// </remarks>
internal struct SegmentSink(SegmentLoad load)
{
    // Rented when an article begins to arrive: many more loads wait for their turn on a connection than are decoded.
    private ArticleDecoder? _decoder;
    private SegmentBuffer? _buffer;
    private int _provider;
    private bool _mayPublish;
    private bool _isAgain = load.IsAgain;
    private SegmentEvidence _evidence;

    /// <summary>What the article that has just been judged claims against the map; null where it agrees with the map, or has nothing to say.</summary>
    public readonly Segment? Claim => SegmentEvidence.ClaimOf(_decoder!.GetResult(), Segment);

    /// <summary>What the article that was judged last is worth.</summary>
    public SegmentProof Proof { get; private set; }

    /// <summary>The checksum of the bytes of the article that was judged last, whatever it carries itself.</summary>
    public uint Checksum { get; private set; }

    /// <summary>Whether the article that was judged last is unconfirmed only because the habit of its file is not known.</summary>
    public readonly bool HingesUponHabit => JudgeBy(load.Habit.Known) == SegmentProof.Unconfirmed
        && JudgeBy(load.Habit.Known.And(_evidence.Shows(isConfirmed: true))) == SegmentProof.Proved;

    private readonly Segment Segment => load.Key.Segment;

    /// <inheritdoc cref="IArticleSink.Start"/>
    public void Start(int provider)
    {
        (_decoder ??= load.Services.Decoders.Rent()).Reset();
        _provider = provider;
        _mayPublish = load.Services.Trust.IsTrusted(load.Services.Source.ProviderId(provider)) && load.Services.Trust.MayLeaveEarly(load.File, load.Services.Options);
        StartAfresh();
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

    /// <summary>Judges the article that has been delivered. A corrupt one gives no further byte to any reader.</summary>
    public SegmentProof Judge()
    {
        var result = _decoder!.GetResult();
        (_evidence, Checksum) = (SegmentEvidence.Of(result, Segment), result.ComputedCrc);
        var proof = JudgeBy(load.Habit.Known);
        if (proof == SegmentProof.Corrupt && Claim is { } claim && load.Correction?.MayBelieve(claim) == true)
            proof = SegmentProof.Refuting;
        Proof = proof;

        // Where the map may be wrong the provider has not lied.
        if (proof != SegmentProof.Refuting)
            load.Services.Trust.Judged(load.File, load.Services.Source.ProviderId(_provider), proof == SegmentProof.Corrupt);
        if (proof is SegmentProof.Corrupt or SegmentProof.Refuting)
            StartAfresh();
        else if (proof == SegmentProof.Proved)
            load.Habit.Learn(_evidence.Shows(isConfirmed: false));
        return proof;
    }

    /// <summary>Judges the article once more, by what is known now about the habit of its file. Only one that was unconfirmed.</summary>
    public readonly SegmentProof JudgeAgain() => JudgeBy(load.Habit.Known);

    /// <summary>Another copy has had the same bytes as the one that was judged last, which is proved by that.</summary>
    public readonly void Confirm() => load.Habit.Learn(_evidence.Shows(isConfirmed: true));

    /// <summary>Hands the decoded bytes over, with the count on them.</summary>
    public SegmentBuffer Take()
    {
        load.Detach();
        Count();
        var taken = _buffer!;
        taken.ClaimedLength = _decoder!.HasHeader ? _decoder.Header.FileSize : null;
        _buffer = null;
        return taken;
    }

    /// <summary>Gives back what has not been taken. No article is delivered any more.</summary>
    public void Close()
    {
        // No waiter may be given the buffer any more once its last count may be gone.
        load.Detach();
        GiveUpBuffer();
        if (_decoder is not null)
            load.Services.Decoders.Return(_decoder);
        _decoder = null;
    }

    private readonly SegmentProof JudgeBy(ArticleHabit habit) => _evidence.Judge(habit, load.Services.Options.ChecksCrc);

    private void StartAfresh()
    {
        // A reader may be copying from a published buffer; it is never written again.
        if (load.Retract())
        {
            GiveUpBuffer();
            return;
        }

        Count();
        _buffer?.Rewind();
    }

    private void GiveUpBuffer()
    {
        Count();
        _buffer?.Release();
        _buffer = null;
    }

    private void Count()
    {
        if (_buffer is not { Written: > 0 } buffer)
            return;
        if (_isAgain)
            load.Services.Damage.LoadedAgain(load.File, buffer.Written);
        _isAgain = true;
    }
}
