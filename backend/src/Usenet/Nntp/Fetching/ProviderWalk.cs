using Sluice.Usenet.Nntp.Connections;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>"No such article", said by a provider on a connection that has not shown yet that it answers in step.</summary>
/// <param name="Provider">The provider.</param>
/// <param name="Proof">Whether the answer belongs to this article.</param>
internal sealed record DoubtedMiss(Provider Provider, StepProof Proof);

/// <summary>
/// What one fetch has learned, on its way through the providers, of those that did not deliver the article. Most fetches end with the first
/// provider and never make one.
/// </summary>
/// <remarks>Pure state of one fetch, guarded by that fetch.</remarks>
internal sealed class ProviderWalk
{
    private ProviderSet _missed;
    private ProviderSet _faulted;
    private ProviderSet _tooLarge;
    private NntpException? _fault;
    private int _lastCode;
    private Stack<DoubtedMiss>? _doubts;

    /// <summary>Backbones that miss the article; null for none.</summary>
    public HashSet<string>? MissedBackbones { get; private set; }

    /// <summary>A provider has said that it does not have the article. The next one is asked at once, proved or not.</summary>
    /// <param name="provider">The provider.</param>
    /// <param name="outcome">What it has said.</param>
    public void Missed(Provider provider, ReplyOutcome outcome)
    {
        // The answer counts, whatever went wrong on another connection of the same provider.
        _missed = _missed.With(provider.Index);
        _faulted = _faulted.Without(provider.Index);
        _tooLarge = _tooLarge.Without(provider.Index);
        _lastCode = outcome.MissCode;
        if (provider.Options.Backbone.Length > 0)
            (MissedBackbones ??= new HashSet<string>(StringComparer.OrdinalIgnoreCase)).Add(provider.Options.Backbone);
        if (outcome.Proof is { } proof)
            Doubt(new DoubtedMiss(provider, proof));
    }

    /// <summary>A miss is not settled.</summary>
    public void Doubt(DoubtedMiss doubt) => (_doubts ??= new Stack<DoubtedMiss>()).Push(doubt);

    /// <summary>A miss that is not proved, the last one first: those before it have had more time to be. Null when there is none left.</summary>
    public DoubtedMiss? TakeDoubt()
    {
        while (_doubts?.TryPop(out var doubt) == true)
        {
            if (!doubt.Proof.IsProved)
                return doubt;
        }

        return null;
    }

    /// <summary>A miss is refuted: it may have been the answer to another command.</summary>
    public void Unmissed(Provider provider)
    {
        _missed = _missed.Without(provider.Index);
        MissedBackbones?.Remove(provider.Options.Backbone);
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
    /// <param name="excluded">Providers that were not to be asked.</param>
    /// <param name="reply">That no provider has the article, if that is proved.</param>
    /// <returns>Why nothing is proved: a provider could not be asked. Else null.</returns>
    public NntpException? Conclude(ProviderSet excluded, out ArticleReply reply)
    {
        reply = default;
        if (_faulted.Count > 0)
            return _faulted == _tooLarge ? new NntpException(NntpFault.ArticleTooLarge, _fault!.Message, _fault) { IsOfEveryProvider = true } : _fault;
        if (TakeDoubt() is not null)
            return new NntpException(NntpFault.GivenUp, "A server said that it does not have the article, and has not shown that it answers in step.");
        if (_missed.Count == 0 && excluded.Count == 0)
            return new NntpException(NntpFault.NoProvider, "No news server is configured.");
        reply = ArticleReply.MissingEverywhere(new ArticleMissing(_missed.Count, _lastCode));
        return null;
    }
}
