namespace Sluice.Server.WebDav;

/// <summary>Refusals that name the rule that was broken (RFC 4918, section 16): <c>&lt;D:error></c> with a condition element.</summary>
internal static class DavError
{
    /// <summary>Answers with a condition, and the resources that it is about.</summary>
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

/// <summary>Answers whose whole XML body is small and known before the headers are sent.</summary>
internal static class DavDocument
{
    /// <summary>Writes the body after an XML declaration, with its length.</summary>
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
