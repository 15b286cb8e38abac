using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>Refuses cross-site requests by their Origin and Sec-Fetch-Site headers (S5, S18).</summary>
internal static class RequestOrigin
{
    /// <summary>Returns why a cross-site request is refused, or null. Origin must match Host or <c>general.base-url</c>.</summary>
    public static string? Refuse(HttpContext http, GeneralOptions general, bool isNeeded)
    {
        if (http.Request.Headers["Sec-Fetch-Site"] == "cross-site")
            return "A page of another site sent this request.";
        var origin = http.Request.Headers.Origin.ToString();
        if (origin.Length == 0)
            return isNeeded ? "The header Origin is missing." : null;
        // RFC 6454 section 6.2: an origin is scheme, host and port. Refuse user info, because it could disguise the host.
        if (!origin.Contains('@', StringComparison.Ordinal)
            && Uri.TryCreate(origin, UriKind.Absolute, out var from)
            && (IsOf(from, http.Request.Host) || (Uri.TryCreate(general.BaseUrl, UriKind.Absolute, out var known) && IsOf(from, new HostString(known.Authority)))))
        {
            return null;
        }

        return $"The page comes from {Shown(origin)}, and the request was sent to {Shown(http.Request.Host.Value ?? "")}. Set general.base-url to the address in the browser.";
    }

    /// <summary>Strips control characters and truncates text from the client, so that it is safe in responses and logs.</summary>
    public static string Shown(string text) => new([.. text.Take(100).Where(c => !char.IsControl(c))]);

    private static bool IsOf(Uri origin, HostString host)
    {
        var isPlain = host.Port is null or 80 or 443;
        return origin.Host.Equals(host.Host, StringComparison.OrdinalIgnoreCase)
            && (origin.Port == host.Port || (isPlain && (origin.IsDefaultPort || origin.Port is 80 or 443)));
    }
}
