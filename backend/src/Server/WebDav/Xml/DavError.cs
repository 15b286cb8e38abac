namespace Sluice.Server.WebDav.Xml;

/// <summary>Refusals that name the violated rule (RFC 4918, section 16): <c>&lt;D:error></c> with a condition element.</summary>
internal static class DavError
{
    public static Task WriteAsync(HttpResponse response, int status, string condition, IEnumerable<string> hrefs, CancellationToken cancellationToken) =>
        DavDocument.WriteAsync(
            response,
            status,
            xml =>
            {
                xml.Markup($"<D:error xmlns:D=\"DAV:\"><D:{condition}>");
                foreach (var href in hrefs)
                {
                    xml.Markup("<D:href>"u8);
                    xml.Text(href);
                    xml.Markup("</D:href>"u8);
                }

                xml.Markup($"</D:{condition}></D:error>");
            },
            cancellationToken);
}

/// <summary>Small XML responses, buffered so that their length is known before the headers are sent.</summary>
internal static class DavDocument
{
    /// <summary>Writes an XML declaration and the body, with Content-Length.</summary>
    public static async Task WriteAsync(HttpResponse response, int status, Action<DavXmlWriter> write, CancellationToken cancellationToken)
    {
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        var xml = new DavXmlWriter(buffer);
        xml.Markup("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"u8);
        write(xml);
        response.StatusCode = status;
        response.ContentType = "application/xml; charset=utf-8";
        response.ContentLength = buffer.WrittenCount;
        await response.BodyWriter.WriteAsync(buffer.WrittenMemory, cancellationToken);
    }
}
