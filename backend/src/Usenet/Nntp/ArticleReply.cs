using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

/// <summary>The outcome of a fetch: either the whole body was written to the sink, or no provider has the article.</summary>
/// <remarks>Immutable value. Every other outcome throws an <see cref="NntpException"/>.</remarks>
public readonly struct ArticleReply
{
    // Either the misses or the identity of the connection.
    private readonly object? _detail;

    private ArticleReply(int provider, object? detail) => (Provider, _detail) = (provider, detail);

    /// <summary>Whether the body was delivered up to its terminator.</summary>
    [MemberNotNullWhen(false, nameof(Missing))]
    public bool IsFound => Missing is null;

    /// <summary>Index of the provider that delivered the body; −1 if none did.</summary>
    public int Provider { get; }

    /// <summary>Identity of the connection that delivered the body, for <see cref="ArticleRequest.Avoided"/>; null if unknown.</summary>
    public object? Connection => IsFound ? _detail : null;

    public ArticleMissing? Missing => _detail as ArticleMissing;

    public static ArticleReply FoundAt(int provider, object? connection = null) => new(provider, connection);

    public static ArticleReply MissingEverywhere(ArticleMissing missing) => new(-1, missing);
}

/// <summary>A definitive miss: every provider that was asked answered 430, 423 or 451. A timeout or a broken connection never counts as a miss.</summary>
/// <param name="Providers">Number of providers that reported the miss; 0 if the request excluded every provider.</param>
/// <param name="LastCode">The last reply code (RFC 3977 section 6.2.3), or 0.</param>
public sealed record ArticleMissing(int Providers, int LastCode);
