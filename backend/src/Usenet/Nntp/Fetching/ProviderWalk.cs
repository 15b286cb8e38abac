using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>A miss that may still be the reply to another command, because its connection has not confirmed it yet.</summary>
internal sealed record DoubtedMiss(Provider Provider, StepProof Proof);

/// <summary>Collects the misses and faults of one fetch at all providers. Most fetches succeed at the first provider and never create a walk.</summary>
/// <remarks>State of one fetch, which guards it with its own lock.</remarks>
internal sealed class ProviderWalk
{
    private ProviderSet _missed;
    private ProviderSet _faulted;
    private ProviderSet _tooLarge;
    private NntpException? _fault;
    private int _lastCode;
    private Stack<DoubtedMiss>? _doubts;

    public HashSet<string>? MissedBackbones { get; private set; }

    /// <summary>Whether a provider, or another one on its backbone, misses the article.</summary>
    public bool HasMissed(Provider provider) => _missed.Contains(provider.Index) || MissedBackbones?.Contains(provider.Options.Backbone) == true;

    /// <summary>Adds a miss. The next provider is asked at once, whether or not the miss is confirmed.</summary>
    public void Missed(Provider provider, ReplyOutcome outcome)
    {
        // The reply outweighs any fault on another connection of the same provider.
        _missed = _missed.With(provider.Index);
        _faulted = _faulted.Without(provider.Index);
        _tooLarge = _tooLarge.Without(provider.Index);
        _lastCode = outcome.MissCode;
        if (provider.Options.Backbone.Length > 0)
            (MissedBackbones ??= new HashSet<string>(StringComparer.OrdinalIgnoreCase)).Add(provider.Options.Backbone);
        if (outcome.Proof is { } proof)
            Doubt(new DoubtedMiss(provider, proof));
    }

    /// <summary>Adds an unconfirmed miss.</summary>
    public void Doubt(DoubtedMiss doubt) => (_doubts ??= new Stack<DoubtedMiss>()).Push(doubt);

    /// <summary>Takes the latest unconfirmed miss, so that earlier ones get more time to be confirmed; null if there is none.</summary>
    public DoubtedMiss? TakeDoubt()
    {
        while (_doubts?.TryPop(out var doubt) == true)
        {
            if (!doubt.Proof.IsProved)
                return doubt;
        }

        return null;
    }

    /// <summary>Removes a refuted miss, which may have answered another command.</summary>
    public void Unmissed(Provider provider)
    {
        _missed = _missed.Without(provider.Index);
        MissedBackbones?.Remove(provider.Options.Backbone);
    }

    /// <summary>Adds a fault. While any fault remains, the walk cannot conclude that the article is missing.</summary>
    public void Faulted(Provider provider, NntpException fault)
    {
        if (_missed.Contains(provider.Index))
            return;
        _faulted = _faulted.With(provider.Index);
        _tooLarge = fault.Fault == NntpFault.ArticleTooLarge ? _tooLarge.With(provider.Index) : _tooLarge.Without(provider.Index);

        // A fault of a received reply takes precedence, because it decides how often a retry is worthwhile.
        // A used-up data cap yields to any other fault, because only it makes retries pointless.
        if (_fault is null or { Fault: NntpFault.QuotaReached } || (fault.Fault != NntpFault.QuotaReached && (!_fault.IsOfReply || fault.IsOfReply)))
            _fault = fault;
    }

    /// <summary>Ends the walk without a body.</summary>
    /// <param name="excluded">Providers excluded by the request.</param>
    /// <param name="leavesAny">Whether a provider that may have the article was not asked because of its data cap.</param>
    /// <param name="reply">The definitive miss; valid only if null is returned.</param>
    /// <returns>The failure if a provider could not answer, so that the article may still exist; otherwise null.</returns>
    public NntpException? Conclude(ProviderSet excluded, bool leavesAny, out ArticleReply reply)
    {
        reply = default;
        if (_faulted.Count > 0)
            return _faulted == _tooLarge ? new NntpException(NntpFault.ArticleTooLarge, _fault!.Message, _fault) { IsOfEveryProvider = true } : _fault;
        if (TakeDoubt() is not null)
            return new NntpException(NntpFault.GivenUp, "A server reported the article missing but did not prove that it answers in order.");
        if (leavesAny)
            return QuotaGate.Reached();
        if (_missed.Count == 0 && excluded.Count == 0)
            return new NntpException(NntpFault.NoProvider, "No news server is configured.");
        reply = ArticleReply.MissingEverywhere(new ArticleMissing(_missed.Count, _lastCode));
        return null;
    }
}
