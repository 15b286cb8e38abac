namespace Sluice.Server.WebDav;

/// <summary>Which other locks a resource may have at the same time.</summary>
internal enum LockScope
{
    /// <summary>None.</summary>
    Exclusive,

    /// <summary>Shared ones.</summary>
    Shared,
}

/// <summary>The lock that a client asks for.</summary>
/// <param name="Root">The canonical names of the resource.</param>
/// <param name="Href">The resource as the client wrote it, for answers.</param>
/// <param name="Scope">Exclusive or shared.</param>
/// <param name="IsDeep">Whether all below the resource is locked with it.</param>
/// <param name="Owner">The client's description of its user: an element, or empty.</param>
internal sealed record LockWish(LockKey Root, string Href, LockScope Scope, bool IsDeep, string Owner);

/// <summary>A write lock (RFC 4918, section 6). Immutable: a refresh makes a new one with the same token.</summary>
/// <param name="Token">Its token, an absolute URI.</param>
/// <param name="Wish">The request that it was granted to.</param>
/// <param name="Expires">Timestamp of when it ends by itself, whatever the clock on the wall is set to.</param>
internal sealed record DavLock(string Token, LockWish Wish, long Expires)
{
    /// <summary>Whether it locks the resource itself.</summary>
    public bool Covers(LockKey key) => Wish.Root == key || (Wish.IsDeep && key.IsBelow(Wish.Root));
}

/// <summary>The canonical place of a resource, by which locks are compared.</summary>
/// <param name="Text">Its names, each after a <c>/</c>, which no name holds; empty for the root.</param>
internal readonly record struct LockKey(string Text)
{
    /// <summary>The key of a list of names from the root down.</summary>
    public static LockKey Of(IReadOnlyList<string> names) => new(string.Concat(names.Select(name => "/" + name)));

    /// <summary>Whether it lies below another place, at any depth.</summary>
    public bool IsBelow(LockKey other) =>
        Text.Length > other.Text.Length && Text[other.Text.Length] == '/' && Text.StartsWith(other.Text, StringComparison.Ordinal);

    /// <summary>The place that holds this one; the root holds itself.</summary>
    public LockKey Parent => Text.Length == 0 ? this : new LockKey(Text[..Text.LastIndexOf('/')]);
}
