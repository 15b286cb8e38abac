using System.IO.Compression;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nzb;

/// <summary>Decompresses an NZB within size and ratio limits. Detects compression by content, never by name.</summary>
public static class NzbDecompression
{
    // The first bytes of gzip are header and dictionary, so their ratio is meaningless.
    private const long RatioGrace = 1 << 20;

    /// <summary>Opens an NZB, plain or gzip.</summary>
    /// <param name="input">A readable stream; stays open.</param>
    /// <param name="limits">Null for the defaults.</param>
    /// <returns>A forward-only stream, owned by the caller. Reads throw <see cref="NzbFormatException"/> on damage or an exceeded limit.</returns>
    /// <exception cref="NzbFormatException">The input is empty or starts like neither XML nor gzip.</exception>
    public static async ValueTask<Stream> OpenAsync(Stream input, NzbLimits? limits, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(input);
        limits ??= NzbLimits.Default;

        var start = new byte[64];
        var length = await input.ReadAtLeastAsync(start, start.Length, throwOnEndOfStream: false, cancellationToken);
        var prefix = start.AsMemory(0, length);
        if (NzbSniffer.DetectOtherType(prefix.Span) is { } detected)
            throw new NzbFormatException(NzbFault.NotAnNzb, detected);
        if (!NzbSniffer.IsGzip(prefix.Span))
            return new BoundedStream(input, prefix, size => TooLong(size, limits), ownsInner: false);

        var packed = new BoundedStream(input, prefix, size => TooLong(size, limits), ownsInner: false);
        var plain = new GZipStream(packed, CompressionMode.Decompress, leaveOpen: false);
        return new BoundedStream(plain, default, size => TooLong(size, limits) ?? TooDense(size, packed.Passed, limits), ownsInner: true);
    }

    private static string? TooLong(long size, NzbLimits limits) =>
        size > limits.MaxBytes ? $"more than {limits.MaxBytes >> 20} MiB" : null;

    private static string? TooDense(long size, long packed, NzbLimits limits) =>
        size > RatioGrace && size > packed * limits.MaxRatio ? $"it unpacks to more than {limits.MaxRatio} times its size" : null;
}

/// <summary>Detects other file types by their first bytes, and names them for the error message.</summary>
internal static class NzbSniffer
{
    /// <summary>Whether the bytes are gzip, RFC 1952 section 2.3.1.</summary>
    public static bool IsGzip(ReadOnlySpan<byte> start) => start.StartsWith((ReadOnlySpan<byte>)[0x1F, 0x8B, 0x08]);

    /// <summary>Returns the type of the input, or null if it may be XML or gzip.</summary>
    public static string? DetectOtherType(ReadOnlySpan<byte> start)
    {
        if (IsGzip(start))
            return null;
        if (start.IsEmpty)
            return "empty file";
        if (start.StartsWith("PK\u0003\u0004"u8))
            return "zip archive";
        if (start.StartsWith("Rar!"u8))
            return "RAR archive";
        if (start.StartsWith("7z"u8))
            return "7z archive";
        if (start.StartsWith("BZh"u8))
            return "bzip2";
        if (start.StartsWith("d8:announce"u8))
            return "torrent";

        // Decode first, because an XML document begins with '<' in one of several encodings.
        var (encoding, mark) = NzbEncoding.Recognise(start);
        var text = encoding.GetString(start[mark..]).AsSpan().TrimStart();
        if (text.IsEmpty)
            return "blank file";
        if (text[0] == '<')
            return IsHtml(text) ? "HTML page" : null;
        if (text[0] is '{' or '[')
            return "JSON";
        return text.ContainsAnyInRange('\0', '\u0008') || text.Contains('\uFFFD') ? "binary data" : "text";
    }

    private static bool IsHtml(ReadOnlySpan<char> text) =>
        text.StartsWith("<!doctype html", StringComparison.OrdinalIgnoreCase) || text.StartsWith("<html", StringComparison.OrdinalIgnoreCase);
}

/// <summary>Replays the bytes read for detection, then reads the inner stream. Counts all bytes and throws above the limit. Not thread-safe.</summary>
internal sealed class BoundedStream(Stream inner, ReadOnlyMemory<byte> prefix, Func<long, string?> refusal, bool ownsInner) : ForwardStream
{
    private ReadOnlyMemory<byte> _prefix = prefix;

    public long Passed { get; private set; }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        Count(TakePrefix(buffer.Span) is var taken and > 0 ? taken : await ReadInnerAsync(buffer, cancellationToken));

    protected override void Dispose(bool disposing)
    {
        if (disposing && ownsInner)
            inner.Dispose();
        base.Dispose(disposing);
    }

    private int TakePrefix(Span<byte> buffer)
    {
        var count = Math.Min(buffer.Length, _prefix.Length);
        _prefix.Span[..count].CopyTo(buffer);
        _prefix = _prefix[count..];
        return count;
    }

    private async ValueTask<int> ReadInnerAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        try
        {
            return await inner.ReadAsync(buffer, cancellationToken);
        }
        catch (InvalidDataException broken)
        {
            // Damaged compressed data is reported like any other unusable NZB.
            throw new NzbFormatException(NzbFault.NotAnNzb, "damaged gzip", broken);
        }
    }

    private int Count(int read)
    {
        Passed += read;
        return refusal(Passed) is { } what ? throw new NzbFormatException(NzbFault.TooLarge, what) : read;
    }
}
