using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using System.Xml;

namespace Sluice.Server.WebDav.Xml;

/// <summary>Reads the XML body of a request within fixed limits (DAV-55, S14). Accepts chunked bodies and any Content-Type.</summary>
internal static class DavXmlReader
{
    /// <summary>Maximum bytes. A request that names every property is about 2,000 bytes long.</summary>
    public const int MaxBytes = 64 * 1024;

    /// <summary>Maximum nesting depth, because the parser recurses. A PROPPATCH of a structured property uses about ten levels.</summary>
    public const int MaxDepth = 32;

    // Maximum total length of the namespaces, counted once per name, because stored properties and responses repeat the namespace for each name.
    private const int MaxNamespaces = 4 * MaxBytes;

    private const string XmlnsNamespace = "http://www.w3.org/2000/xmlns/";

    /// <summary>Reads the body; null if it is empty. Throws <see cref="DavXmlException"/> if the body is refused.</summary>
    /// <param name="body">The body; read to its end unless refused.</param>
    /// <param name="contentLength">The declared length, or null. An excessive length is refused before the client sends the body.</param>
    public static async ValueTask<DavXmlElement?> ReadAsync(PipeReader body, long? contentLength, CancellationToken cancellationToken)
    {
        if (contentLength > MaxBytes)
            throw TooLarge();

        while (true)
        {
            var read = await body.ReadAsync(cancellationToken);
            var buffer = read.Buffer;
            if (buffer.Length > MaxBytes)
            {
                body.AdvanceTo(buffer.End);
                throw TooLarge();
            }

            if (read.IsCompleted)
            {
                var bytes = buffer.ToArray();
                body.AdvanceTo(buffer.End);
                return bytes.Length == 0 ? null : Parse(bytes);
            }

            body.AdvanceTo(buffer.Start, buffer.End);
        }
    }

    /// <summary>Parses at most <see cref="MaxBytes"/> bytes. Refuses every DTD, so that no entity can be declared, resolved or expanded.</summary>
    public static DavXmlElement Parse(byte[] document)
    {
        var settings = new XmlReaderSettings
        {
            DtdProcessing = DtdProcessing.Prohibit,
            XmlResolver = null,
            IgnoreComments = true,
            IgnoreProcessingInstructions = true,
        };
        try
        {
            using var xml = XmlReader.Create(new MemoryStream(document), settings);
            while (xml.Read() && xml.NodeType != XmlNodeType.Element)
                CheckEncoding(xml.GetAttribute("encoding"), document);

            var namespaces = 0;
            var root = ReadElement(xml, ref namespaces);
            while (xml.Read())
            {
                // Skip comments and white space after the root. The reader throws on anything else.
            }

            return root;
        }
        catch (XmlException)
        {
            throw new DavXmlException("The XML is malformed.");
        }
    }

    // XML requires UTF-8 and UTF-16 support. Refuse other encodings, because the reader silently replaces bytes that it cannot decode.
    private static void CheckEncoding(string? declared, ReadOnlySpan<byte> document)
    {
        var isKnown = declared?.ToUpperInvariant() switch
        {
            null or "UTF-8" or "UTF-16" or "UTF-16LE" or "UTF-16BE" => true,
            "US-ASCII" or "ASCII" => Ascii.IsValid(document),
            _ => false,
        };
        if (!isKnown)
            throw new DavXmlException("The XML is neither in UTF-8 nor in UTF-16.");
    }

    private static DavXmlElement ReadElement(XmlReader xml, ref int namespaces)
    {
        if (xml.Depth == MaxDepth)
            throw new DavXmlException("The XML nests too deeply.");
        if (xml.NamespaceURI is XmlnsNamespace or DavXmlAttribute.XmlNamespace)
            throw new DavXmlException("An element is in a reserved namespace, which no answer could declare.");

        var name = ReadName(xml, ref namespaces);
        var attributes = new List<DavXmlAttribute>();
        while (xml.MoveToNextAttribute())
        {
            if (xml.NamespaceURI != XmlnsNamespace)
                attributes.Add(new DavXmlAttribute(ReadName(xml, ref namespaces), xml.Value));
        }

        xml.MoveToElement();
        var content = new List<DavXmlNode>();
        if (!xml.IsEmptyElement)
        {
            while (xml.Read() && xml.NodeType != XmlNodeType.EndElement)
            {
                content.Add(xml.NodeType == XmlNodeType.Element
                    ? new DavXmlNode("", ReadElement(xml, ref namespaces))
                    : new DavXmlNode(xml.Value, null));
            }
        }

        return new DavXmlElement(name, attributes, content);
    }

    private static DavName ReadName(XmlReader xml, ref int namespaces)
    {
        if (xml.NamespaceURI != DavName.DavNamespace)
            namespaces += xml.NamespaceURI.Length;
        if (namespaces > MaxNamespaces)
            throw new DavXmlException("The namespaces of the XML are too long.", StatusCodes.Status413PayloadTooLarge);
        return new DavName(xml.NamespaceURI, xml.LocalName);
    }

    private static DavXmlException TooLarge() =>
        new("The body is larger than 64 KiB.", StatusCodes.Status413PayloadTooLarge);
}

/// <summary>A refused request body. The status is 400 for invalid content and 413 for excessive size (DAV-55).</summary>
internal sealed class DavXmlException : Exception
{
    /// <summary>Creates the exception. <paramref name="message"/> must not quote the body; <paramref name="status"/> is 400 or 413.</summary>
    public DavXmlException(string message, int status = StatusCodes.Status400BadRequest)
        : base(message) => Status = status;

    public int Status { get; }
}
