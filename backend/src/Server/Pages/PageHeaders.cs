using Microsoft.Net.Http.Headers;

namespace Sluice.Server.Pages;

/// <summary>Headers that the page and its files have in common.</summary>
internal static class PageHeaders
{
    /// <summary>Writes what each answer has: types are not guessed, and no address leaves in a Referer (S4, S17).</summary>
    public static void Write(IHeaderDictionary headers)
    {
        headers.XContentTypeOptions = "nosniff";
        headers["Referrer-Policy"] = "no-referrer";
    }

    /// <summary>Whether the client takes an encoding.</summary>
    public static bool Accepts(HttpRequest request, string encoding) =>
        StringWithQualityHeaderValue.TryParseList(request.Headers.AcceptEncoding, out var accepted)
        && accepted.Any(value => value.Quality != 0 && value.Value.Equals(encoding, StringComparison.OrdinalIgnoreCase));

    /// <summary>Writes the tag, and 304 where the client has these bytes already.</summary>
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
