using System.Buffers;
using System.IO.Pipelines;
using System.Text;

namespace Sluice.Server.WebDav;

/// <summary>
/// Reads the XML body of a request within fixed bounds (DAV-55, S14), whether it is chunked or has a length, whatever its
/// Content-Type says.
/// </summary>
internal static class DavXmlReader
{
    /// <summary>Bytes of a body. A request that names every property it knows has about two thousand.</summary>
    public const int MaxBytes = 64 * 1024;

    /// <summary>Depth of elements. A PROPPATCH of a structured property has about ten.</summary>
    public const int MaxDepth = 32;

    /// <summary>
    /// Reads the body. Null when there is none, not even white space. Throws <see cref="DavXmlException"/> where it is refused.
    /// </summary>
    /// <param name="body">The body; read to its end unless it is refused.</param>
    /// <param name="contentLength">The length that the request declares, or null: too much is refused before it is sent.</param>
    /// <param name="ct">Ends the wait for the client.</param>
    public static async ValueTask<DavXmlElement?> ReadAsync(PipeReader body, long? contentLength, CancellationToken ct)
    {
        if (contentLength > MaxBytes)
            throw TooLarge();

        while (true)
        {
            ReadResult read = await body.ReadAsync(ct);
            ReadOnlySequence<byte> buffer = read.Buffer;
            if (buffer.Length > MaxBytes)
            {
                body.AdvanceTo(buffer.End);
                throw TooLarge();
            }

            if (read.IsCompleted)
            {
                byte[] bytes = buffer.ToArray();
                body.AdvanceTo(buffer.End);
                return bytes.Length == 0 ? null : Parse(bytes);
            }

            body.AdvanceTo(buffer.Start, buffer.End);
        }
    }

    /// <summary>Reads a document of at most <see cref="MaxBytes"/> bytes.</summary>
    public static DavXmlElement Parse(ReadOnlySpan<byte> document)
    {
        Encoding encoding = Detect(document, out int mark);
        try
        {
            return DavXmlParser.Parse(encoding.GetString(document[mark..]), MaxDepth);
        }
        catch (DecoderFallbackException)
        {
            throw new DavXmlException("The XML is not in its encoding.");
        }
    }

    /// <summary>By byte order mark, else by the zero byte beside the first <c>&lt;</c> (XML 1.0, appendix F).</summary>
    private static Encoding Detect(ReadOnlySpan<byte> document, out int mark)
    {
        mark = 0;
        switch (document)
        {
            case [0xEF, 0xBB, 0xBF, ..]:
                mark = 3;
                break;
            case [0xFE, 0xFF, ..]:
                mark = 2;
                return new UnicodeEncoding(bigEndian: true, byteOrderMark: false, throwOnInvalidBytes: true);
            case [0xFF, 0xFE, ..]:
                mark = 2;
                return new UnicodeEncoding(bigEndian: false, byteOrderMark: false, throwOnInvalidBytes: true);
            case [0, (byte)'<', ..]:
                return new UnicodeEncoding(bigEndian: true, byteOrderMark: false, throwOnInvalidBytes: true);
            case [(byte)'<', 0, ..]:
                return new UnicodeEncoding(bigEndian: false, byteOrderMark: false, throwOnInvalidBytes: true);
        }

        return new UTF8Encoding(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);
    }

    private static DavXmlException TooLarge() =>
        new("The body is larger than 64 KiB.", StatusCodes.Status413PayloadTooLarge);
}
