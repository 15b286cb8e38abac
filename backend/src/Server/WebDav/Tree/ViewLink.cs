using Microsoft.Extensions.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A request for <c>/view/&lt;tree path&gt;</c>, as it was written.</summary>
/// <param name="Path">The place below <c>/view</c>.</param>
/// <param name="Key">The parameter <c>downloadKey</c>; null for none, empty for several.</param>
/// <param name="Expires">The parameter <c>expires</c>, or null.</param>
internal sealed record ViewLink(DavPath Path, string? Key, string? Expires)
{
    /// <summary>The signed text: the decoded path without a slash at its start.</summary>
    public string SignedPath => string.Join('/', Path.Segments);

    /// <summary>Reads a request. Null where the path is none (DAV-15).</summary>
    /// <param name="http">The request.</param>
    /// <param name="target">Its target exactly as it stood in the request line.</param>
    public static ViewLink? Read(HttpContext http, string target) =>
        DavPath.TryParse(target, $"{http.Request.PathBase.Value}/{TreeNames.View}", out var path)
            ? new ViewLink(path, One(http.Request.Query["downloadKey"]), One(http.Request.Query["expires"]))
            : null;

    /// <summary>A parameter that is given twice is ambiguous and counts as empty, which no key equals.</summary>
    private static string? One(StringValues values) => values.Count switch
    {
        0 => null,
        1 => values[0],
        _ => "",
    };
}
