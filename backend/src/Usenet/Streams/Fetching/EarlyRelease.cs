namespace Sluice.Usenet.Streams;

/// <summary>
/// Decides whether bytes may leave before their article is proved. The trust is withdrawn on the first lie: for a day from a file
/// in which an article was corrupt, and from a provider for as long as more than one in a thousand of its articles was.
/// </summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="options">Whether bytes may ever leave early.</param>
/// <param name="trust">Who has lied; outlives this.</param>
/// <param name="identityOf">Which account stands at an index: a change of settings may give it another one.</param>
internal sealed class EarlyRelease(StreamOptions options, TrustMemory trust, Func<int, Guid> identityOf)
{
    /// <summary>Whether a file's bytes may leave early, as far as the file is concerned.</summary>
    public bool IsTrusted(FileOrigin file) => !options.VerifyBeforeServe && trust.IsTrusted(file);

    /// <summary>Whether a provider's bytes may leave early, as far as the provider is concerned.</summary>
    public bool IsTrusted(int provider) => trust.IsTrusted(identityOf(provider));

    /// <summary>An article has been judged.</summary>
    /// <param name="file">For which it was fetched.</param>
    /// <param name="provider">That delivered it.</param>
    /// <param name="isCorrupt">Whether it was another article, of another length, or damaged.</param>
    public void Judged(FileOrigin file, int provider, bool isCorrupt) => trust.Judged(file, identityOf(provider), isCorrupt);
}
