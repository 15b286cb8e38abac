namespace Sluice.Server.WebDav;

/// <summary>The header <c>Depth</c> (RFC 4918, section 10.2): <c>"0" | "1" | "infinity"</c>.</summary>
internal enum Depth
{
    /// <summary>The resource alone.</summary>
    Zero,

    /// <summary>The resource and its direct children.</summary>
    One,

    /// <summary>The resource and all below it.</summary>
    Infinity,
}

/// <summary>Reads <see cref="Depth"/>.</summary>
internal static class DepthHeader
{
    /// <summary>Reads the header. Null where its value is none of these (DAV-23).</summary>
    /// <param name="headers">The headers of a request.</param>
    /// <param name="absent">The value of a request without it.</param>
    public static Depth? Read(IHeaderDictionary headers, Depth absent) => headers["Depth"].ToString() switch
    {
        "" => absent,
        "0" => Depth.Zero,
        "1" => Depth.One,
        var text when text.Equals("infinity", StringComparison.OrdinalIgnoreCase) => Depth.Infinity,
        _ => null,
    };
}
