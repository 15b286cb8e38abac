using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// The order in which the copies of one segment are asked for until one is good: by its own message-id, then by those of duplicates. For
/// each id one provider follows the other. A bad copy may have been damaged on its way, so where one came, another round asks every
/// provider again.
/// </summary>
/// <remarks>
/// Pure: it says which question comes next; its owner asks that question and reports the answer. For one search.
/// </remarks>
internal sealed class CopySearch
{
    private readonly SegmentIds _ids;
    private readonly ProviderSet _beside;
    private readonly int _providers;
    private readonly int _rounds;

    // −1 is the primary id, every other number the fallback of that index.
    private int _copy = -1;
    private bool _hasBadCopy;
    private bool _isOver;

    /// <summary>Begins at the primary id.</summary>
    /// <param name="ids">Of the segment; the primary one is not empty.</param>
    /// <param name="providers">How many the source has. A source without any is asked all the same, and says so.</param>
    /// <param name="rounds">Questions to one provider for one id.</param>
    /// <param name="beside">Providers whose copies are known already and not wanted.</param>
    public CopySearch(SegmentIds ids, int providers, int rounds, ProviderSet beside = default)
    {
        (_ids, _beside, _rounds) = (ids, beside, rounds);
        _providers = Math.Max(providers, 1);
        Excluded = beside;
    }

    /// <summary>The message-id to ask for.</summary>
    public MessageId Id => _copy < 0 ? _ids.Primary : _ids.Fallbacks[_copy];

    /// <summary>The providers that are not asked.</summary>
    public ProviderSet Excluded { get; private set; }

    /// <summary>The round of this id, from 0.</summary>
    public int Round { get; private set; }

    /// <summary>Whether this round has brought a copy that may be good and has to be confirmed by another one.</summary>
    public bool IsInDoubt { get; private set; }

    /// <summary>Why there is no good copy, by the answers so far.</summary>
    public ArticleLoss Loss { get; private set; } = ArticleLoss.Missing;

    /// <summary>Whether there is one more question.</summary>
    public bool HasNext()
    {
        while (!_isOver && Excluded.Count >= _providers)
            EndRound();
        return !_isOver;
    }

    /// <summary>A provider has delivered a bad copy.</summary>
    /// <returns>False where that provider was excluded: to ask it again in this round could go on without end.</returns>
    public bool Bad(int provider) => Reject(provider, default);

    /// <summary>A provider has delivered a copy that has to be confirmed. The first round looks for copies of other stores only.</summary>
    /// <param name="provider">Which one.</param>
    /// <param name="store">The providers that read their articles from the same store.</param>
    public void Doubtful(int provider, ProviderSet store)
    {
        IsInDoubt = true;
        Reject(provider, Round == 0 ? store : default);
    }

    /// <summary>None of the providers that are left has the article, or none can be asked for it now.</summary>
    public void EndRound()
    {
        if (_hasBadCopy && Round + 1 < _rounds)
            Begin(Round + 1);
        else
            EndId();
    }

    /// <summary>Every provider answers this id with something that cannot be a copy, and would do so again.</summary>
    public void Useless()
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
