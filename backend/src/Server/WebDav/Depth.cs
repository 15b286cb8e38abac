namespace Sluice.Server.WebDav;

/// <summary>The header <c>Depth</c> (RFC 4918, section 10.2): <c>"0" | "1" | "infinity"</c>.</summary>
internal enum Depth
{
    Zero,
    One,
    Infinity,
}

internal static class DepthHeader
{
    /// <summary>Parses the header; <paramref name="absent"/> if the request has no such header, null if the value is invalid (DAV-23).</summary>
    public static Depth? Read(IHeaderDictionary headers, Depth absent) => headers["Depth"].ToString() switch
    {
        "" => absent,
        "0" => Depth.Zero,
        "1" => Depth.One,
        var text when text.Equals("infinity", StringComparison.OrdinalIgnoreCase) => Depth.Infinity,
        _ => null,
    };
}
