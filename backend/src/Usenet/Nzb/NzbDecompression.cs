using System.IO.Compression;

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
