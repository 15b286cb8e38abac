using System.Buffers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>The beginning of one article, taken while or after it arrived.</summary>
/// <param name="Provider">Index of the provider that delivers it.</param>
/// <param name="Header">Its yEnc header with a name of its own, or null when it has none.</param>
/// <param name="FirstBytes">Its first decoded bytes.</param>
/// <param name="DecodedLength">Decoded bytes of the whole article; null when it was given up before its end.</param>
/// <param name="IsIntact">False when it arrived whole but damaged or cut short, so that its decoded length says nothing.</param>
/// <param name="Checksum">Whether it carries a checksum that covers exactly it; unknown when it was given up before its end.</param>
internal sealed record ArticleHead(
    int Provider, ArticleHeader? Header, ReadOnlyMemory<byte> FirstBytes, long? DecodedLength, bool IsIntact, Carries Checksum = Carries.Unknown)
{
    /// <summary>Its encoding; unknown when it was given up before its end.</summary>
    public ArticleEncoding Encoding { get; init; }

    /// <summary>Its last decoded bytes, fewer than <see cref="HeadSink.TailLength"/> only where it is shorter; empty when it was given up before its end.</summary>
    public ReadOnlyMemory<byte> LastBytes { get; init; }

    /// <summary>Whether the line came that ends its data.</summary>
    public bool HasTrailer { get; init; }

    /// <summary>Which evidence the articles of its file carry, as far as this one shows it.</summary>
    public ArticleHabit Habit => Header is not { } header ? default : new ArticleHabit(
        header.Part is null && !header.HasPartField ? Carries.Never : Carries.Yes,
        header.HasPartLine ? Carries.Yes : Carries.Never,
        Checksum);

    /// <summary>Whether it is the last of its file: the one that is taken to its end, because its trailer shows what the file carries.</summary>
    public bool EndsItsFile => Begin is not null && End == Header?.FileSize;

    /// <summary>Offset of its first byte in the file; null when no header tells.</summary>
    public long? Begin => Header is { HasPartLine: true } header ? header.Begin : null;

    /// <summary>Decoded bytes by the range of its header, else as counted; null when neither is known.</summary>
    public long? Length => Begin is not null ? Header?.PartLength : DecodedLength;

    /// <summary>Offset behind its last byte; null when no header tells.</summary>
    public long? End => Begin is null ? null : Header?.End;
}

/// <summary>Takes the beginning of one article and says when enough has come.</summary>
/// <remarks>
/// Written to by one thread at a time; <see cref="Enough"/> may be awaited by another. It completes with a copy, so that no thread reads
/// the bytes that the connection still writes. Disposed when the fetch has ended.
/// </remarks>
/// <param name="decoders">Lend the decoder.</param>
/// <param name="headBytes">Keeps this many first bytes.</param>
/// <param name="whole">True when the beginning is not enough.</param>
internal sealed class HeadSink(DecoderPool decoders, int headBytes, bool whole) : IArticleSink, IBufferWriter<byte>, IDisposable
{
    /// <summary>Last bytes that are kept of an article that comes to its end: archives have there what says what is in them.</summary>
    public const int TailLength = 4 << 10;

    private const int ScratchLength = 16 << 10;

    private readonly ArticleDecoder _decoder = decoders.Rent();
    private readonly byte[] _scratch = ArrayPool<byte>.Shared.Rent(ScratchLength);
    private readonly byte[] _first = new byte[headBytes];
    private readonly TaskCompletionSource<ArticleHead> _enough = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly byte[] _tail = ArrayPool<byte>.Shared.Rent(TailLength);
    private int _firstLength;
    private int _tailLength;
    private int _provider;
    private bool _ended;

    /// <summary>Completes when the header tells the place in the file and the first bytes are there, before the article has ended.</summary>
    public Task<ArticleHead> Enough => _enough.Task;

    /// <summary>Raw bytes that have arrived, of all tries together.</summary>
    public long RawBytes { get; private set; }

    /// <summary>The article, when it has arrived whole.</summary>
    public ArticleHead? Whole => _ended ? Snapshot() : null;

    public void Start(int provider)
    {
        _decoder.Reset();
        (_firstLength, _tailLength) = (0, 0);
        _provider = provider;
        _ended = false;
    }

    public bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        _ended = _decoder.Decode(raw, this, out consumed);
        RawBytes += consumed;

        // Without a place in the file the length has to be counted, so such an article is taken whole.
        if (!_ended && !whole && !_enough.Task.IsCompleted && _firstLength == _first.Length && _decoder.Header is { HasPartLine: true, Begin: not null })
            _enough.TrySetResult(Snapshot());
        return _ended;
    }

    /// <summary>Gives the decoder back; the article is not delivered any more.</summary>
    public void Dispose()
    {
        decoders.Return(_decoder);
        ArrayPool<byte>.Shared.Return(_scratch);
        ArrayPool<byte>.Shared.Return(_tail);
    }

    void IBufferWriter<byte>.Advance(int count)
    {
        var kept = Math.Min(count, _first.Length - _firstLength);
        _scratch.AsSpan(0, kept).CopyTo(_first.AsSpan(_firstLength));
        _firstLength += kept;
        KeepTail(_scratch.AsSpan(0, count));
    }

    Memory<byte> IBufferWriter<byte>.GetMemory(int sizeHint) => _scratch;

    Span<byte> IBufferWriter<byte>.GetSpan(int sizeHint) => _scratch;

    private void KeepTail(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > TailLength)
            bytes = bytes[^TailLength..];
        var older = Math.Min(_tailLength, TailLength - bytes.Length);
        _tail.AsSpan(_tailLength - older, older).CopyTo(_tail);
        bytes.CopyTo(_tail.AsSpan(older));
        _tailLength = older + bytes.Length;
    }

    private ArticleHead Snapshot()
    {
        var result = _ended ? _decoder.GetResult() : default;
        ArticleHeader? header = null;
        if (_decoder.HasHeader && (result.Defects & ArticleDefects.NoHeader) == 0)
            header = _decoder.Header with { NameBytes = _decoder.Header.NameBytes.ToArray() };
        return new ArticleHead(_provider, header, _first.AsSpan(0, _firstLength).ToArray(), _ended ? _decoder.Decoded : null, IsIntact(result), ChecksumOf(result))
        {
            Encoding = result.Encoding,
            HasTrailer = result.Trailer is not null,
            LastBytes = _ended ? _tail.AsSpan(0, _tailLength).ToArray() : default(ReadOnlyMemory<byte>),
        };
    }

    // An article that lacks more than its trailer may have lost its checksum with the rest.
    private Carries ChecksumOf(DecodedArticle result)
    {
        if (!_ended || (result.Defects & ArticleDefects.NoHeader) != 0)
            return Carries.Unknown;
        if (result.Encoding == ArticleEncoding.Uuencode)
            return Carries.Never;
        if (result.ExpectedCrc is not null || (result.Defects & ArticleDefects.UnreadableCrc) != 0)
            return Carries.Yes;
        return result.DecodedLength == (result.Header.PartLength ?? result.TrailerSize) ? Carries.Never : Carries.Unknown;
    }

    // The size in the header may lie; a checksum that fits outweighs it, and so does the size behind the data. Of an article without its
    // trailer nothing else tells whether all of it is there; uuencode has one in the last article of a file alone.
    private static bool IsIntact(DecodedArticle result) =>
        (result.Defects & (ArticleDefects.CrcMismatch | ArticleDefects.TooLong | ArticleDefects.DamagedLine)) == 0
        && (result.Trailer is not null || result.Encoding == ArticleEncoding.Uuencode || result.DecodedLength == result.Header.PartLength)
        && (result.ExpectedCrc is not null || result.TrailerSize is null || result.TrailerSize == result.DecodedLength);
}
