using System.IO.Compression;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nzb;

/// <summary>Undoes the compression of an NZB, recognised by content and never by name, within the limits of size and ratio.</summary>
public static class NzbDecompression
{
    // A few bytes of gzip are a header and a dictionary, whose ratio says nothing yet.
    private const long RatioGrace = 1 << 20;

    /// <summary>Opens an NZB that may be plain or gzip.</summary>
    /// <param name="input">Readable; stays open and stays the caller's.</param>
    /// <param name="limits">Null for the defaults.</param>
    /// <param name="cancellationToken">Gives the reading of the first bytes up.</param>
    /// <returns>
    /// The plain bytes, forward only; the caller disposes it. Its reads throw <see cref="NzbFormatException"/> when a limit
    /// is exceeded or the compressed bytes are damaged.
    /// </returns>
    /// <exception cref="NzbFormatException">The input is empty or begins like neither XML nor gzip.</exception>
    public static async ValueTask<Stream> OpenAsync(Stream input, NzbLimits? limits, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(input);
        limits ??= NzbLimits.Default;

        var start = new byte[64];
        var length = await input.ReadAtLeastAsync(start, start.Length, throwOnEndOfStream: false, cancellationToken);
        var prefix = start.AsMemory(0, length);
        if (NzbSniffer.Foreign(prefix.Span) is { } detected)
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

/// <summary>Recognises input that is no NZB by its first bytes, and names it in the words of the refusal.</summary>
internal static class NzbSniffer
{
    /// <summary>gzip, RFC 1952 section 2.3.1.</summary>
    public static bool IsGzip(ReadOnlySpan<byte> start) => start.StartsWith((ReadOnlySpan<byte>)[0x1F, 0x8B, 0x08]);

    /// <summary>What the input is, or null when it may be XML or gzip.</summary>
    public static string? Foreign(ReadOnlySpan<byte> start)
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

        // The first sign of an XML document is an opening bracket, in one of its encodings.
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

/// <summary>
/// The bytes of an NZB, gzip undone or not: begins with bytes read earlier, counts what passes, and refuses to pass more than allowed.
/// </summary>
/// <remarks>Not thread-safe. The inner stream is disposed with this one when it was handed over.</remarks>
internal sealed class BoundedStream(Stream inner, ReadOnlyMemory<byte> prefix, Func<long, string?> refusal, bool ownsInner) : ForwardStream
{
    private ReadOnlyMemory<byte> _prefix = prefix;

    /// <summary>Bytes handed out so far.</summary>
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
            // Damage in the compressed bytes is the fault of the file that was added, and has one exception.
            throw new NzbFormatException(NzbFault.NotAnNzb, "damaged gzip", broken);
        }
    }

    private int Count(int read)
    {
        Passed += read;
        return refusal(Passed) is { } what ? throw new NzbFormatException(NzbFault.TooLarge, what) : read;
    }
}
