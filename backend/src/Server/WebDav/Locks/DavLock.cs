namespace Sluice.Server.WebDav.Locks;

/// <summary>Which locks may coexist on a resource.</summary>
internal enum LockScope
{
    Exclusive,
    Shared,
}

/// <param name="Href">The resource as spelled by the client, for responses.</param>
/// <param name="IsDeep">Whether the lock covers everything below the resource.</param>
/// <param name="Owner">How the client describes its user: an element, or empty.</param>
internal sealed record LockTerms(LockKey Root, string Href, LockScope Scope, bool IsDeep, string Owner);

/// <summary>A write lock (RFC 4918, section 6). Immutable: a refresh creates a new lock with the same token.</summary>
/// <param name="Token">An absolute URI.</param>
/// <param name="Expires">Monotonic timestamp, so that clock changes do not affect it.</param>
internal sealed record DavLock(string Token, LockTerms Terms, long Expires)
{
    public bool Covers(LockKey key) => Terms.Root == key || (Terms.IsDeep && key.IsBelow(Terms.Root));
}

/// <summary>The canonical path of a resource, by which locks are compared.</summary>
/// <param name="Text">The names, each preceded by <c>/</c>, which no name can contain; empty for the root.</param>
internal readonly record struct LockKey(string Text)
{
    /// <summary>Builds a key from the names, root first.</summary>
    public static LockKey Of(IReadOnlyList<string> names) => new(string.Concat(names.Select(name => "/" + name)));

    /// <summary>Whether this path is below <paramref name="other"/>, at any depth.</summary>
    public bool IsBelow(LockKey other) =>
        Text.Length > other.Text.Length && Text[other.Text.Length] == '/' && Text.StartsWith(other.Text, StringComparison.Ordinal);

    /// <summary>The parent path; the root is its own parent.</summary>
    public LockKey Parent => Text.Length == 0 ? this : new LockKey(Text[..Text.LastIndexOf('/')]);
}
