using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

/// <summary>The outcome of a fetch: the whole body went into the sink, or no provider has the article.</summary>
/// <remarks>Immutable value. Everything else that can happen is an <see cref="NntpException"/>.</remarks>
public readonly struct ArticleReply
{
    // The misses, or what stands for the connection: never both.
    private readonly object? _detail;

    private ArticleReply(int provider, object? detail) => (Provider, _detail) = (provider, detail);

    /// <summary>True when the body was delivered up to its terminator.</summary>
    [MemberNotNullWhen(false, nameof(Missing))]
    public bool IsFound => Missing is null;

    /// <summary>Index of the provider that delivered the body; −1 when none did.</summary>
    public int Provider { get; }

    /// <summary>What stands for the connection that delivered the body, for <see cref="ArticleRequest.Avoided"/>; null where there is none to tell.</summary>
    public object? Connection => IsFound ? _detail : null;

    /// <summary>The misses, or null when the article was found.</summary>
    public ArticleMissing? Missing => _detail as ArticleMissing;

    /// <summary>The body came from this provider.</summary>
    public static ArticleReply FoundAt(int provider, object? connection = null) => new(provider, connection);

    /// <summary>No provider has it.</summary>
    public static ArticleReply MissingEverywhere(ArticleMissing missing) => new(-1, missing);
}

/// <summary>
/// The definitive answer that no provider has an article: each one that was asked said 430, 423 or 451. A time-out or a
/// broken connection never counts here.
/// </summary>
/// <param name="Providers">How many providers gave that answer; 0 when every provider was excluded by the request.</param>
/// <param name="LastCode">The last of their codes (RFC 3977 section 6.2.3), or 0.</param>
public sealed record ArticleMissing(int Providers, int LastCode);
