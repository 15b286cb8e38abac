using Microsoft.Net.Http.Headers;

namespace Sluice.Server.Pages;

/// <summary>Headers shared by the page and its files.</summary>
internal static class PageHeaders
{
    /// <summary>Disables content sniffing and Referer headers (S4, S17).</summary>
    public static void Write(IHeaderDictionary headers)
    {
        headers.XContentTypeOptions = "nosniff";
        headers["Referrer-Policy"] = "no-referrer";
    }

    public static bool Accepts(HttpRequest request, string encoding) =>
        StringWithQualityHeaderValue.TryParseList(request.Headers.AcceptEncoding, out var accepted)
        && accepted.Any(value => value.Quality != 0 && value.Value.Equals(encoding, StringComparison.OrdinalIgnoreCase));

    /// <summary>Writes the ETag. Sets status 304 and returns true if the client's copy is current.</summary>
    public static bool IsKnown(HttpContext http, string tag)
    {
        http.Response.Headers.ETag = tag;
        var isKnown = EntityTagHeaderValue.TryParseList(http.Request.Headers.IfNoneMatch, out var known)
            && known.Any(value => value.Tag == "*" || value.Tag.Equals(tag, StringComparison.Ordinal));
        if (isKnown)
            http.Response.StatusCode = StatusCodes.Status304NotModified;
        return isKnown;
    }
}
