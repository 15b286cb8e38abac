using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

/// <summary>The outcome of a fetch: the whole body went into the sink, or no provider has the article.</summary>
/// <remarks>Immutable value. Everything else that can happen is an <see cref="NntpException"/>.</remarks>
public readonly struct ArticleReply
{
    private ArticleReply(int provider, ArticleMissing? missing, object? connection)
    {
        Provider = provider;
        Missing = missing;
        Connection = connection;
    }

    /// <summary>True when the body was delivered up to its terminator.</summary>
    [MemberNotNullWhen(false, nameof(Missing))]
    public bool IsFound => Missing is null;

    /// <summary>Index of the provider that delivered the body; −1 when none did.</summary>
    public int Provider { get; }

    /// <summary>What stands for the connection that delivered the body, for <see cref="ArticleRequest.Avoided"/>; null where there is none to tell.</summary>
    public object? Connection { get; }

    /// <summary>The misses, or null when the article was found.</summary>
    public ArticleMissing? Missing { get; }

    /// <summary>The body came from this provider.</summary>
    public static ArticleReply FoundAt(int provider, object? connection = null) => new(provider, null, connection);

    /// <summary>No provider has it.</summary>
    public static ArticleReply MissingEverywhere(ArticleMissing missing) => new(-1, missing, null);
}
