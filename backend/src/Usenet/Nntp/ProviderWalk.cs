namespace Sluice.Usenet.Nntp;

/// <summary>What one fetch has learned on its way through the providers. A mutable value, local to that fetch.</summary>
internal struct ProviderWalk(ProviderSet excluded)
{
    private int _misses;
    private int _lastCode;

    /// <summary>Providers that will not be asked (again).</summary>
    public ProviderSet Asked { get; set; } = excluded;

    /// <summary>Backbones that miss the article; null for none.</summary>
    public HashSet<string>? MissedBackbones { get; private set; }

    /// <summary>The fault of a provider that could not be asked to the end; with one left, no walk proves anything.</summary>
    public NntpException? Fault { get; set; }

    public void Missed(ProviderOptions provider, int code)
    {
        _misses++;
        _lastCode = code;
        if (provider.Backbone.Length > 0)
            (MissedBackbones ??= new HashSet<string>(StringComparer.OrdinalIgnoreCase)).Add(provider.Backbone);
    }

    /// <summary>The walk has ended without a body.</summary>
    /// <exception cref="NntpException">A provider could not be asked, so that nothing is proved.</exception>
    public readonly ArticleReply Conclude(ProviderSet excluded)
    {
        if (Fault is not null)
            throw Fault;
        if (_misses == 0 && excluded.Count == 0)
            throw new NntpException(NntpFault.NoProvider, "No news server is configured.");
        return ArticleReply.MissingEverywhere(new ArticleMissing(_misses, _lastCode));
    }
}
