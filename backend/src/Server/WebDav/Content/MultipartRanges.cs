using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.WebDav.Content;

/// <summary>Delimiters of a <c>multipart/byteranges</c> response (RFC 9110, section 14.6), built first so that Content-Length is exact. Immutable.</summary>
internal sealed class MultipartRanges
{
    /// <summary>Random bytes in the boundary. The probability that content contains the boundary is 2^-128.</summary>
    private const int BoundaryBytes = 16;

    private readonly byte[][] _heads;

    /// <summary>Creates the delimiters for two or more parts of a file.</summary>
    public MultipartRanges(IReadOnlyList<ByteRange> parts, string contentType)
    {
        var boundary = RandomNumberGenerator.GetHexString(2 * BoundaryBytes, lowercase: true);
        Parts = parts;
        ContentType = "multipart/byteranges; boundary=" + boundary;
        _heads =
        [
            .. parts.Select((part, i) => Encoding.ASCII.GetBytes(
                $"{(i == 0 ? "" : "\r\n")}--{boundary}\r\nContent-Type: {contentType}\r\nContent-Range: {part.ContentRange}\r\n\r\n")),
        ];
        Tail = Encoding.ASCII.GetBytes($"\r\n--{boundary}--\r\n");
        Length = parts.Sum(part => part.Length) + _heads.Sum(head => (long)head.Length) + Tail.Length;
    }

    /// <summary>The parts, in the order in which they are sent.</summary>
    public IReadOnlyList<ByteRange> Parts { get; }

    public string ContentType { get; }

    /// <summary>Length of the whole body in bytes, including delimiters and headers.</summary>
    public long Length { get; }

    /// <summary>The delimiter after the last part.</summary>
    public ReadOnlyMemory<byte> Tail { get; }

    /// <summary>Returns the delimiter and headers before a part.</summary>
    public ReadOnlyMemory<byte> HeadOf(int part) => _heads[part];
}
