using System.Globalization;

namespace Sluice.Server.WebDav.Locks;

internal enum ReferenceKind
{
    /// <summary>A path of the tree.</summary>
    Here,

    /// <summary>Another server, or a path of this server outside the tree (DAV-22).</summary>
    Elsewhere,

    Malformed,
}

/// <summary>
/// A resource reference in <c>Destination</c> or in the tags of <c>If</c> (RFC 4918, section 8.3): <c>Simple-ref = absolute-URI | ( path-absolute [
/// "?" query ] )</c>.
/// </summary>
/// <param name="Path">The path in the tree; null for other kinds.</param>
internal readonly record struct ResourceReference(ReferenceKind Kind, DavPath? Path)
{
    /// <summary>Parses a reference. The scheme, host and base path of <paramref name="request"/> must already reflect trusted proxy headers.</summary>
    public static ResourceReference Parse(string text, HttpRequest request)
    {
        text = text.Trim();
        if (text.Length == 0 || text.Contains('#', StringComparison.Ordinal))
            return new ResourceReference(ReferenceKind.Malformed, null);

        if (text[0] != '/')
        {
            var scheme = text.IndexOf("://", StringComparison.Ordinal);
            if (scheme <= 0)
                return new ResourceReference(ReferenceKind.Malformed, null);
            var slash = text.IndexOf('/', scheme + 3);
            var authority = slash < 0 ? text[(scheme + 3)..] : text[(scheme + 3)..slash];
            if (authority.Length == 0)
                return new ResourceReference(ReferenceKind.Malformed, null);
            if (!IsOrigin(text[..scheme], authority, request))
                return new ResourceReference(ReferenceKind.Elsewhere, null);
            text = slash < 0 ? "/" : text[slash..];
        }

        return Within(text, request.PathBase.Value ?? "");
    }

    private static ResourceReference Within(string target, string urlBase)
    {
        if (!DavPath.TryParse(target, "", out var whole))
            return new ResourceReference(ReferenceKind.Malformed, null);
        var names = urlBase.Split('/', StringSplitOptions.RemoveEmptyEntries);
        if (!whole.Segments.Take(names.Length).SequenceEqual(names))
            return new ResourceReference(ReferenceKind.Elsewhere, null);
        return DavPath.TryParse(target, urlBase, out var path)
            ? new ResourceReference(ReferenceKind.Here, path)
            : new ResourceReference(ReferenceKind.Malformed, null);
    }

    private static bool IsOrigin(string scheme, string authority, HttpRequest request)
    {
        if (!scheme.Equals(request.Scheme, StringComparison.OrdinalIgnoreCase))
            return false;
        var asked = new HostString(authority);
        return asked.Host.Equals(request.Host.Host, StringComparison.OrdinalIgnoreCase)
            && Port(authority, scheme) == Port(request.Host.Value ?? "", scheme);
    }

    /// <summary>Returns the port as text, so that an invalid port equals only itself.</summary>
    private static string Port(string authority, string scheme)
    {
        var colon = authority.LastIndexOf(':');
        var text = colon < 0 || authority.EndsWith(']') ? "" : authority[(colon + 1)..];
        if (text.Length == 0)
            return scheme.Equals("https", StringComparison.OrdinalIgnoreCase) ? "443" : "80";
        return ushort.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var port)
            ? port.ToString(CultureInfo.InvariantCulture)
            : text;
    }
}
