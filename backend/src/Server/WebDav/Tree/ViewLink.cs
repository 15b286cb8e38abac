using Microsoft.Extensions.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A parsed request for <c>/view/&lt;tree path&gt;</c>.</summary>
/// <param name="Key">The parameter <c>downloadKey</c>; null if absent, empty if repeated.</param>
/// <param name="Expires">The parameter <c>expires</c>; null if absent, empty if repeated.</param>
internal sealed record ViewLink(DavPath Path, string? Key, string? Expires)
{
    /// <summary>The signed text: the decoded path without a leading slash.</summary>
    public string SignedPath => string.Join('/', Path.Segments);

    /// <summary>Parses a request; null if the path is invalid (DAV-15). <paramref name="target"/> is the undecoded target in the request line.</summary>
    public static ViewLink? Read(HttpContext http, string target) =>
        DavPath.TryParse(target, $"{http.Request.PathBase.Value}/{TreeNames.View}", out var path)
            ? new ViewLink(path, One(http.Request.Query["downloadKey"]), One(http.Request.Query["expires"]))
            : null;

    /// <summary>A repeated parameter is ambiguous, so it counts as empty, which matches no key.</summary>
    private static string? One(StringValues values) => values.Count switch
    {
        0 => null,
        1 => values[0],
        _ => "",
    };
}
