using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav;

/// <summary>A request path, decoded once. Immutable. Lookups use names in NFC. Hrefs repeat the client's spelling, because clients compare hrefs.</summary>
internal sealed class DavPath
{
    private readonly string[] _segments;
    private readonly string[] _encoded;
    private readonly string _base;

    private DavPath(string[] segments, string[] encoded, string urlBase, bool hasTrailingSlash)
    {
        _segments = segments;
        _encoded = encoded;
        _base = urlBase;
        HasTrailingSlash = hasTrailingSlash;
    }

    /// <summary>The names, top level first, in NFC and without the URL base; empty for the root.</summary>
    public IReadOnlyList<string> Segments => _segments;

    /// <summary>Whether the request path ends in <c>/</c>; always true for the root.</summary>
    public bool HasTrailingSlash { get; }

    public bool IsRoot => _segments.Length == 0;

    /// <summary>The last name; empty for the root.</summary>
    public string Name => IsRoot ? "" : _segments[^1];

    /// <summary>The parent collection. Throws for the root.</summary>
    public DavPath Parent => IsRoot
        ? throw new InvalidOperationException("The root has no parent.")
        : new DavPath(_segments[..^1], _encoded[..^1], _base, hasTrailingSlash: true);

    public DavPath Child(string name) => new([.. _segments, name], [.. _encoded, PercentEncoding.Encode(name)], _base, hasTrailingSlash: false);

    /// <summary>Returns the encoded absolute path with the URL base. Only collections end in <c>/</c> (DAV-52).</summary>
    public string Href(bool isCollection)
    {
        if (IsRoot)
            return _base + "/";
        var path = _base + "/" + string.Join('/', _encoded);
        return isCollection ? path + "/" : path;
    }

    /// <summary>
    /// Parses a request target in origin or absolute form (RFC 9112, section 3.2). Returns false if DAV-15 forbids it: broken escapes, invalid UTF-8, NUL,
    /// <c>%2F</c> or <c>%5C</c> in a segment, <c>.</c> and <c>..</c>, and names without an NFC form.
    /// </summary>
    /// <param name="target">The target exactly as written in the request line.</param>
    /// <param name="urlBase">The decoded prefix of the tree, either empty or like <c>/x</c>. It is removed from the path.</param>
    public static bool TryParse(string target, string urlBase, [NotNullWhen(true)] out DavPath? path)
    {
        path = null;
        if (!TryFindPath(target, out var raw))
            return false;

        var segments = new List<string>();
        var encoded = new List<string>();
        foreach (var part in raw.Split('/'))
        {
            var segment = raw[part];
            if (segment.IsEmpty)
                continue;
            if (!PercentEncoding.TryDecode(segment, out var name) || name is "." or ".." || !NfcName.TryOf(name, out var composed))
                return false;
            segments.Add(composed);
            encoded.Add(PercentEncoding.Encode(name));
        }

        var skipped = urlBase.AsSpan().Count('/');
        if (skipped > segments.Count)
            return false;
        var encodedBase = skipped == 0 ? "" : "/" + string.Join('/', encoded.Take(skipped));
        var slash = raw.EndsWith('/') || segments.Count == skipped;
        path = new DavPath([.. segments.Skip(skipped)], [.. encoded.Skip(skipped)], encodedBase, slash);
        return true;
    }

    /// <summary>Returns the decoded path, for logs only.</summary>
    public override string ToString() => "/" + string.Join('/', _segments);

    private static bool TryFindPath(string target, out ReadOnlySpan<char> path)
    {
        path = target;
        if (!path.StartsWith('/'))
        {
            var scheme = path.IndexOf("://");
            if (scheme <= 0)
                return false;
            var rest = path[(scheme + 3)..];
            var slash = rest.IndexOfAny('/', '?');
            path = slash >= 0 && rest[slash] == '/' ? rest[slash..] : "/";
        }

        var query = path.IndexOf('?');
        if (query >= 0)
            path = path[..query];
        return true;
    }
}
