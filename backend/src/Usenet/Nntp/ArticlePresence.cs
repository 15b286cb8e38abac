namespace Sluice.Usenet.Nntp;

/// <summary>What the providers have said about one article. The default says that none was asked.</summary>
/// <param name="Has">Providers that have it; this says nothing about its body.</param>
/// <param name="Misses">Providers that said 430, 423 or 451.</param>
/// <param name="Unanswered">Providers that could not be asked to the end; while there is one, no miss is final.</param>
/// <remarks>Immutable value.</remarks>
public readonly record struct ArticlePresence(ProviderSet Has, ProviderSet Misses, ProviderSet Unanswered)
{
    /// <summary>Whether any provider has the article.</summary>
    public bool IsPresent => Has.Count > 0;

    /// <summary>Whether every provider that was asked misses it, and at least one was.</summary>
    public bool IsMissingEverywhere => Has.Count == 0 && Unanswered.Count == 0 && Misses.Count > 0;
}
