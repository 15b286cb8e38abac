namespace Sluice.Usenet.Nntp;

/// <summary>What one fetch has learned on its way through the providers. A mutable value, local to that fetch.</summary>
internal struct ProviderWalk(ProviderSet excluded)
{
    private ProviderSet _missed;
    private ProviderSet _faulted;
    private ProviderSet _tooLarge;
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
        _tooLarge = _tooLarge.Without(provider.Index);
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
        _tooLarge = fault.Fault == NntpFault.ArticleTooLarge ? _tooLarge.With(provider.Index) : _tooLarge.Without(provider.Index);

        // How often it is worth asking again is told by what came, not by what did not.
        if (_fault is not { IsOfReply: true } || fault.IsOfReply)
            _fault = fault;
    }

    /// <summary>The walk has ended without a body.</summary>
    /// <param name="excluded">Who was not to be asked.</param>
    /// <param name="reply">That nobody has the article, if that is proved.</param>
    /// <returns>Why nothing is proved: a provider could not be asked. Else null.</returns>
    public readonly NntpException? Conclude(ProviderSet excluded, out ArticleReply reply)
    {
        reply = default;
        if (_faulted.Count > 0)
            return _faulted == _tooLarge ? new NntpException(NntpFault.ArticleTooLarge, _fault!.Message, _fault) { IsOfEveryProvider = true } : _fault;
        if (_missed.Count == 0 && excluded.Count == 0)
            return new NntpException(NntpFault.NoProvider, "No news server is configured.");
        reply = ArticleReply.MissingEverywhere(new ArticleMissing(_missed.Count, _lastCode));
        return null;
    }
}
