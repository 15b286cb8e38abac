using Sluice.Usenet.Nntp;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Decodes the body of one segment's article into blocks while it arrives, and lets the readers that wait for it as a landing
/// segment have the bytes at once. Serves one fetch with all its tries, and then another one.
/// </summary>
internal sealed class SegmentSink(LoadServices services) : IArticleSink
{
    private readonly ArticleDecoder _decoder = new();
    private SharedFetch _fetch = null!;
    private SegmentBuffer? _buffer;
    private int _provider;
    private bool _mayPublish;
    private bool _isAgain;
    private SegmentEvidence _evidence;

    /// <summary>What the article that was judged last claims against the map.</summary>
    public Segment Claim { get; private set; }

    /// <summary>The checksum of the bytes of the article that was judged last, whatever it carries itself.</summary>
    public uint Checksum { get; private set; }

    /// <summary>Whether the article that was judged last is unconfirmed only because the habit of its file is not known.</summary>
    public bool HingesUponHabit => _evidence.Judge(_fetch.Habit.Known, services.Options.ChecksCrc) == SegmentProof.Unconfirmed
        && _evidence.Judge(_fetch.Habit.Known.And(_evidence.Shows(isConfirmed: true)), services.Options.ChecksCrc) == SegmentProof.Proved;

    private Segment Segment => _fetch.Key.Segment;

    /// <summary>Serves a fetch from now on, until <see cref="Close"/>.</summary>
    public void Open(SharedFetch fetch) => (_fetch, _isAgain) = (fetch, fetch.IsAgain);

    public void Start(int provider)
    {
        _decoder.Reset();
        _provider = provider;
        _mayPublish = services.Trust.IsTrusted(services.Source.ProviderId(provider)) && services.Trust.MayLeaveEarly(_fetch.File, services.Options);
        StartAfresh();
        _buffer ??= new SegmentBuffer(services.Blocks, Segment.Length);
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = _decoder.Decode(raw, _buffer!, out consumed);
        if (!ended && _decoder.HasHeader)
        {
            // Identity comes before the first byte: a header of another article ends early release for this try.
            _mayPublish = _mayPublish && SegmentEvidence.Identifies(_decoder.Header, Segment, _fetch.Habit.Known);
            _fetch.Arrived(_buffer!, Math.Min(_buffer!.Written, Segment.Length), _mayPublish);
        }

        return ended;
    }

    /// <summary>Judges the article that has been delivered. A corrupt one gives no further byte to any reader.</summary>
    public SegmentProof Judge()
    {
        var result = _decoder.GetResult();
        (_evidence, Checksum) = (SegmentEvidence.Of(result, Segment), result.ComputedCrc);
        var proof = _evidence.Judge(_fetch.Habit.Known, services.Options.ChecksCrc);
        if (proof == SegmentProof.Corrupt && SegmentEvidence.ClaimOf(result, Segment) is { } claim && _fetch.Correction?.MayBelieve(claim) == true)
        {
            Claim = claim;
            proof = SegmentProof.Refuting;
        }

        // Where the map may be wrong the provider has not lied.
        if (proof != SegmentProof.Refuting)
            services.Trust.Judged(_fetch.File, services.Source.ProviderId(_provider), proof == SegmentProof.Corrupt);
        if (proof is SegmentProof.Corrupt or SegmentProof.Refuting)
            StartAfresh();
        else if (proof == SegmentProof.Proved)
            _fetch.Habit.Learn(_evidence.Shows(isConfirmed: false));
        return proof;
    }

    /// <summary>Judges the article once more, by what is known now about the habit of its file. Only one that was unconfirmed.</summary>
    public SegmentProof JudgeAgain() => _evidence.Judge(_fetch.Habit.Known, services.Options.ChecksCrc);

    /// <summary>Another copy has had the same bytes as the one that was judged last, which is proved by that.</summary>
    public void Confirm() => _fetch.Habit.Learn(_evidence.Shows(isConfirmed: true));

    /// <summary>A copy that was unconfirmed has turned out to have other bytes than the segment.</summary>
    /// <param name="provider">That delivered it.</param>
    public void Convict(int provider) => services.Trust.Judged(_fetch.File, services.Source.ProviderId(provider), isCorrupt: true);

    /// <summary>Hands the decoded bytes over, with the count on them.</summary>
    public SegmentBuffer Take()
    {
        _fetch.Detach();
        Count();
        var taken = _buffer!;
        _buffer = null;
        return taken;
    }

    /// <summary>Gives back what has not been taken.</summary>
    public void Close()
    {
        // No slot may be given the buffer any more once its last count may be gone.
        _fetch.Detach();
        GiveUpBuffer();
    }

    private void StartAfresh()
    {
        // A reader may be copying from a published buffer; it is never written again.
        if (_fetch.Retract())
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
            services.Damage.LoadedAgain(_fetch.File, buffer.Written);
        _isAgain = true;
    }
}
