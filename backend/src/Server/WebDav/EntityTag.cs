namespace Sluice.Server.WebDav;

/// <summary>A validator of file content (RFC 9110, section 8.8.3): <c>entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE</c>.</summary>
/// <param name="Value">The text between the quotes.</param>
/// <param name="IsWeak">Whether the tag has the prefix <c>W/</c>. The tree sends only strong tags, but clients may send weak ones.</param>
internal readonly record struct EntityTag(string Value, bool IsWeak = false)
{
    /// <summary>Compares strongly, as If-Match and If-Range require.</summary>
    public bool StrongEquals(EntityTag other) => !IsWeak && !other.IsWeak && Value == other.Value;

    /// <summary>Compares weakly, as If-None-Match requires.</summary>
    public bool WeakEquals(EntityTag other) => Value == other.Value;

    public override string ToString() => IsWeak ? $"W/\"{Value}\"" : $"\"{Value}\"";

    /// <summary>Reads a tag at the start of <paramref name="text"/> and removes it. If there is none, returns false and leaves the text unchanged.</summary>
    public static bool TryRead(ref ReadOnlySpan<char> text, out EntityTag tag)
    {
        tag = default;
        var weak = text.StartsWith("W/");
        var rest = weak ? text[2..] : text;
        if (rest.IsEmpty || rest[0] != '"')
            return false;
        rest = rest[1..];
        var end = rest.IndexOf('"');
        if (end < 0 || rest[..end].ContainsAnyInRange('\0', ' ') || rest[..end].Contains('\x7F'))
            return false;
        tag = new EntityTag(rest[..end].ToString(), weak);
        text = rest[(end + 1)..];
        return true;
    }
}
