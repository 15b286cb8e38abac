namespace Sluice.Usenet.Nntp;

/// <summary>What one fetch has learned on its way through the providers. A mutable value, local to that fetch.</summary>
internal struct ProviderWalk(ProviderSet excluded)
{
    private ProviderSet _missed;
    private ProviderSet _faulted;
    private NntpException? _fault;
    private int _lastCode;

    /// <summary>Providers that will not be asked (again).</summary>
    public ProviderSet Asked { get; set; } = excluded;

    /// <summary>Backbones that miss the article; null for none.</summary>
    public HashSet<string>? MissedBackbones { get; private set; }

    public void Missed(Provider provider, int code)
    {
        // The answer counts, whatever went wrong on another connection of the same provider.
        _missed = _missed.With(provider.Index);
        _faulted = _faulted.Without(provider.Index);
        _lastCode = code;
        if (provider.Options.Backbone.Length > 0)
            (MissedBackbones ??= new HashSet<string>(StringComparer.OrdinalIgnoreCase)).Add(provider.Options.Backbone);
    }

    /// <summary>A provider could not be asked to the end; with one such left, no walk proves anything.</summary>
    public void Faulted(Provider provider, NntpException fault)
    {
        if (_missed.Contains(provider.Index))
            return;
        _faulted = _faulted.With(provider.Index);
        _fault = fault;
    }

    /// <summary>The walk has ended without a body.</summary>
    /// <exception cref="NntpException">A provider could not be asked, so that nothing is proved.</exception>
    public readonly ArticleReply Conclude(ProviderSet excluded)
    {
        if (_faulted.Count > 0)
            throw _fault!;
        if (_missed.Count == 0 && excluded.Count == 0)
            throw new NntpException(NntpFault.NoProvider, "No news server is configured.");
        return ArticleReply.MissingEverywhere(new ArticleMissing(_missed.Count, _lastCode));
    }
}
