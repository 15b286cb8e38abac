using System.Security.Cryptography;
using System.Text;

namespace Sluice.Server.WebDav;

/// <summary>
/// The frame around the parts of a <c>multipart/byteranges</c> answer (RFC 9110, section 14.6), made before the first byte is
/// sent, so that the length of the answer is exact. Immutable.
/// </summary>
internal sealed class MultipartRanges
{
    /// <summary>Random bytes of the boundary: no content can hold it but by a chance of 2^-128.</summary>
    private const int BoundaryBytes = 16;

    private readonly byte[][] _heads;

    /// <summary>Frames the parts of a file.</summary>
    /// <param name="parts">Two or more parts.</param>
    /// <param name="contentType">Type of the file.</param>
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

    /// <summary>The type of the whole answer.</summary>
    public string ContentType { get; }

    /// <summary>Bytes of the whole answer.</summary>
    public long Length { get; }

    /// <summary>The delimiter behind the last part.</summary>
    public ReadOnlyMemory<byte> Tail { get; }

    /// <summary>Delimiter and headers before a part.</summary>
    public ReadOnlyMemory<byte> HeadOf(int part) => _heads[part];
}
