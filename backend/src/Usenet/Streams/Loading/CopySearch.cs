using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// The order in which the copies of one segment are requested until one is good: the primary message-id, then the fallbacks. Each id is requested from one
/// provider after another. If a copy was bad, a second round asks every provider again, because the copy may have been damaged in transit.
/// </summary>
/// <remarks>Does no I/O: names the next request, which the owner sends before reporting the outcome. Single use.</remarks>
internal sealed class CopySearch
{
    private readonly SegmentIds _ids;
    private readonly ProviderSet _beside;
    private readonly int _providers;
    private readonly int _rounds;

    // −1 for the primary id, otherwise the index of a fallback.
    private int _copy = -1;
    private bool _hasBadCopy;
    private bool _isOver;

    /// <summary>Starts at the primary id, which is not empty. Skips the providers in <paramref name="beside"/>, because their copies are known.</summary>
    public CopySearch(SegmentIds ids, int providers, int rounds, ProviderSet beside = default)
    {
        (_ids, _beside, _rounds) = (ids, beside, rounds);
        _providers = Math.Max(providers, 1);
        Excluded = beside;
    }

    public MessageId Id => _copy < 0 ? _ids.Primary : _ids.Fallbacks[_copy];

    public ProviderSet Excluded { get; private set; }

    public int Round { get; private set; }

    /// <summary>Whether this round delivered a copy that another copy must confirm.</summary>
    public bool IsInDoubt { get; private set; }

    public ArticleLoss Loss { get; private set; } = ArticleLoss.Missing;

    public bool HasNext()
    {
        while (!_isOver && Excluded.Count >= _providers)
            EndRound();
        return !_isOver;
    }

    /// <returns>False if the provider was already excluded; requesting from it again in the same round might never end.</returns>
    public bool ReportBad(int provider) => Reject(provider, default);

    /// <summary>Reports a copy that needs confirmation. The first round then asks only stores other than <paramref name="store"/>.</summary>
    public void ReportDoubtful(int provider, ProviderSet store)
    {
        IsInDoubt = true;
        Reject(provider, Round == 0 ? store : default);
    }

    /// <summary>Reports that no remaining provider has the article or can be asked now.</summary>
    public void EndRound()
    {
        if (_hasBadCopy && Round + 1 < _rounds)
            Begin(Round + 1);
        else
            EndId();
    }

    /// <summary>Reports that no provider has a usable copy under this id, and that a retry would not help.</summary>
    public void ReportUseless()
    {
        Loss = ArticleLoss.Corrupt;
        EndId();
    }

    private bool Reject(int provider, ProviderSet store)
    {
        (_hasBadCopy, Loss) = (true, ArticleLoss.Corrupt);
        if (Excluded.Contains(provider))
        {
            EndRound();
            return false;
        }

        Excluded = Excluded.Or(store).With(provider);
        return true;
    }

    private void EndId()
    {
        _isOver = ++_copy >= _ids.Fallbacks.Count;
        Begin(round: 0);
    }

    private void Begin(int round)
    {
        (Round, Excluded) = (round, _beside);
        (_hasBadCopy, IsInDoubt) = (false, false);
    }
}
