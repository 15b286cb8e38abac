namespace Sluice.Usenet.Nntp;

/// <summary>
/// Holds second tries to one in twenty articles fetched, so that a provider that stalls all the time cannot double the traffic.
/// A few are granted in advance, for the first article of the first stream may be the late one.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class HedgeBudget
{
    private const int ArticlesPerHedge = 20;
    private const int InAdvance = 4;
    private const int MostSavedUp = 16;

    // In articles; a hedge costs what it may add to the traffic, one article out of twenty.
    private int _credit = InAdvance * ArticlesPerHedge;

    /// <summary>An article has arrived.</summary>
    public void Fetched()
    {
        var credit = Volatile.Read(ref _credit);
        if (credit < MostSavedUp * ArticlesPerHedge)
            Interlocked.CompareExchange(ref _credit, credit + 1, credit);
    }

    /// <summary>Takes leave for one second try.</summary>
    public bool TrySpend()
    {
        var credit = Volatile.Read(ref _credit);
        while (credit >= ArticlesPerHedge)
        {
            var seen = Interlocked.CompareExchange(ref _credit, credit - ArticlesPerHedge, credit);
            if (seen == credit)
                return true;
            credit = seen;
        }

        return false;
    }
}
