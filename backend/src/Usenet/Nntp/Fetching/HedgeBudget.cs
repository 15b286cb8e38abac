namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// Holds second tries, and the articles that move away from behind a late one, to one in twenty articles fetched, so that a provider that
/// stalls all the time cannot double the traffic. A few are granted in advance, for the first article of the first stream may be the late
/// one.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class HedgeBudget
{
    private const int ArticlesPerHedge = 20;
    private const int InAdvance = 4;
    private const int MostSavedUp = 16;

    // What one connection of a usual depth has behind its first late reply.
    private const int MovesInAdvance = MostSavedUp - InAdvance;

    // In articles; a hedge costs what it may add to the traffic, one article out of twenty.
    private int _credit = InAdvance * ArticlesPerHedge;
    private int _movesInAdvance = MovesInAdvance;

    /// <summary>An article has arrived.</summary>
    public void Fetched()
    {
        var credit = Volatile.Read(ref _credit);
        if (credit < MostSavedUp * ArticlesPerHedge)
            Interlocked.CompareExchange(ref _credit, credit + 1, credit);
    }

    /// <summary>Takes leave for one second try.</summary>
    public bool TrySpend() => TrySpend(keeps: 0);

    /// <summary>
    /// Takes leave for asking elsewhere for an article that waits behind a late one: what it was asked for here may come all the same.
    /// A few are granted in advance here, too. What is granted to the late ones stays for them, because readers wait for those.
    /// </summary>
    public bool TryMove() =>
        (Volatile.Read(ref _movesInAdvance) > 0 && Interlocked.Decrement(ref _movesInAdvance) >= 0) || TrySpend(keeps: InAdvance * ArticlesPerHedge);

    private bool TrySpend(int keeps)
    {
        var credit = Volatile.Read(ref _credit);
        while (credit >= ArticlesPerHedge + keeps)
        {
            var seen = Interlocked.CompareExchange(ref _credit, credit - ArticlesPerHedge, credit);
            if (seen == credit)
                return true;
            credit = seen;
        }

        return false;
    }
}
