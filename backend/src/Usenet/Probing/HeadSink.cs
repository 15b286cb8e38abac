using System.Buffers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>Takes the beginning of an article and says when enough has come.</summary>
/// <remarks>
/// Written to by one thread at a time; <see cref="Enough"/> may be awaited by another. What it completes with is a copy, so
/// nobody reads what the connection still writes. Reusable by <see cref="Reset"/> once the fetch has ended.
/// </remarks>
internal sealed class HeadSink : IArticleSink, IBufferWriter<byte>
{
    private const int ScratchLength = 16 << 10;

    private readonly ArticleDecoder _decoder = new();
    private readonly byte[] _scratch = new byte[ScratchLength];
    private readonly byte[] _first;
    private TaskCompletionSource<ArticleHead> _enough = NewSource();
    private int _firstLength;
    private int _provider;
    private bool _ended;
    private bool _whole;

    /// <summary>Keeps this many first bytes.</summary>
    public HeadSink(int headBytes) => _first = new byte[headBytes];

    /// <summary>Completes when the header tells the place in the file and the first bytes are there, before the article has ended.</summary>
    public Task<ArticleHead> Enough => _enough.Task;

    /// <summary>Raw bytes that arrived since <see cref="Reset"/>, of all tries together.</summary>
    public long RawBytes { get; private set; }

    /// <summary>The article, when it has arrived whole.</summary>
    public ArticleHead? Whole => _ended ? Snapshot() : null;

    /// <summary>Makes ready for the next fetch.</summary>
    /// <param name="whole">True when the beginning is not enough.</param>
    public void Reset(bool whole)
    {
        _whole = whole;
        _enough = NewSource();
        RawBytes = 0;
        Start(-1);
    }

    public void Start(int provider)
    {
        _decoder.Reset();
        _firstLength = 0;
        _provider = provider;
        _ended = false;
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        _ended = _decoder.Decode(raw, this, out consumed);
        RawBytes += consumed;

        // Without a place in the file the length has to be counted, so such an article is taken whole.
        if (!_ended && !_whole && !_enough.Task.IsCompleted && _firstLength == _first.Length && _decoder.Header is { HasPartLine: true, Begin: not null })
            _enough.TrySetResult(Snapshot());
        return _ended;
    }

    void IBufferWriter<byte>.Advance(int count)
    {
        var kept = Math.Min(count, _first.Length - _firstLength);
        _scratch.AsSpan(0, kept).CopyTo(_first.AsSpan(_firstLength));
        _firstLength += kept;
    }

    Memory<byte> IBufferWriter<byte>.GetMemory(int sizeHint) => _scratch;

    Span<byte> IBufferWriter<byte>.GetSpan(int sizeHint) => _scratch;

    private static TaskCompletionSource<ArticleHead> NewSource() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private ArticleHead Snapshot()
    {
        var result = _ended ? _decoder.GetResult() : default;
        ArticleHeader? header = null;
        if (_decoder.HasHeader && (result.Defects & ArticleDefects.NoHeader) == 0)
            header = _decoder.Header with { NameBytes = _decoder.Header.NameBytes.ToArray() };
        return new ArticleHead(_provider, header, _first.AsSpan(0, _firstLength).ToArray(), _ended ? _decoder.Decoded : null, IsIntact(result), ChecksumOf(result));
    }

    // An article that lacks more than its trailer may have lost its checksum with the rest.
    private Carries ChecksumOf(DecodedArticle result)
    {
        if (!_ended || (result.Defects & ArticleDefects.NoHeader) != 0)
            return Carries.Unknown;
        if (result.ExpectedCrc is not null || (result.Defects & ArticleDefects.UnreadableCrc) != 0)
            return Carries.Yes;
        return result.DecodedLength == (result.Header.PartLength ?? result.TrailerSize) ? Carries.Never : Carries.Unknown;
    }

    // The size in the header may lie; a checksum that fits outweighs it, and so does the size behind the data. Of an article without its
    // trailer nothing else tells whether all of it is there.
    private static bool IsIntact(DecodedArticle result) =>
        (result.Defects & (ArticleDefects.CrcMismatch | ArticleDefects.TooLong)) == 0
        && (result.Trailer is not null || result.DecodedLength == result.Header.PartLength)
        && (result.ExpectedCrc is not null || result.TrailerSize is null || result.TrailerSize == result.DecodedLength);
}
