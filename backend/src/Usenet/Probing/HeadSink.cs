using System.Buffers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>The beginning of one article. Values that need the article's end are null, unknown or empty if the fetch was canceled earlier.</summary>
/// <remarks>Not intact means whole but damaged or truncated, so that the decoded length is meaningless. The header's name is a copy.</remarks>
internal sealed record ArticleHead(
    int Provider, ArticleHeader? Header, ReadOnlyMemory<byte> FirstBytes, long? DecodedLength, bool IsIntact, Carries Checksum = Carries.Unknown)
{
    public ArticleEncoding Encoding { get; init; }

    /// <summary>The last decoded bytes, <see cref="HeadSink.TailLength"/> unless the article is shorter.</summary>
    public ReadOnlyMemory<byte> LastBytes { get; init; }

    /// <summary>Whether the line that ends the data arrived.</summary>
    public bool HasTrailer { get; init; }

    /// <summary>Which evidence the file's articles carry, judged by this article.</summary>
    public ArticleHabit Habit => Header is not { } header ? default : new ArticleHabit(
        header.Part is null && !header.HasPartField ? Carries.Never : Carries.Yes,
        header.HasPartLine ? Carries.Yes : Carries.Never,
        Checksum);

    /// <summary>Whether this is the last article of its file, which is read whole because its trailer shows the file's evidence.</summary>
    public bool EndsItsFile => Begin is not null && End == Header?.FileSize;

    /// <summary>Offset of the first byte in the file; null if unknown.</summary>
    public long? Begin => Header is { HasPartLine: true } header ? header.Begin : null;

    /// <summary>Decoded length: from the header's range, or else counted; null if unknown.</summary>
    public long? Length => Begin is not null ? Header?.PartLength : DecodedLength;

    /// <summary>Offset after the last byte in the file; null if unknown.</summary>
    public long? End => Begin is null ? null : Header?.End;
}

/// <summary>Receives the beginning of one article and signals when it suffices.</summary>
/// <remarks>
/// Written by one thread at a time. Another thread may await <see cref="Enough"/>, which completes with a copy, so that no thread reads bytes that the
/// connection is still writing. Dispose the sink after the fetch has ended.
/// </remarks>
internal sealed class HeadSink(DecoderPool decoders, int headBytes, bool whole) : IArticleSink, IBufferWriter<byte>, IDisposable
{
    /// <summary>Number of bytes kept from the end, because archives store their directory there.</summary>
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

    /// <summary>Completes once the header gives a range and the first bytes are complete, unless the article ends first.</summary>
    public Task<ArticleHead> Enough => _enough.Task;

    /// <summary>Raw bytes received, over all attempts.</summary>
    public long RawBytes { get; private set; }

    /// <summary>The whole article; null until it has arrived completely.</summary>
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

        // Without a range the length must be counted, so such an article is read whole.
        if (!_ended && !whole && !_enough.Task.IsCompleted && _firstLength == _first.Length && _decoder.Header is { HasPartLine: true, Begin: not null })
            _enough.TrySetResult(Snapshot());
        return _ended;
    }

    /// <summary>Returns the decoder; no further bytes may arrive.</summary>
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

    // An article that lacks more than its trailer may have lost its checksum too.
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

    // The header size may be wrong, so a matching checksum or the trailer size outweighs it. Without a trailer, only the header size shows whether the article
    // is complete. In uuencode, only the last article of a file has a trailer.
    private static bool IsIntact(DecodedArticle result) =>
        (result.Defects & (ArticleDefects.CrcMismatch | ArticleDefects.TooLong | ArticleDefects.DamagedLine)) == 0
        && (result.Trailer is not null || result.Encoding == ArticleEncoding.Uuencode || result.DecodedLength == result.Header.PartLength)
        && (result.ExpectedCrc is not null || result.TrailerSize is null || result.TrailerSize == result.DecodedLength);
}
