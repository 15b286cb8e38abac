namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// Limits hedges, and moves away from late replies, to one in twenty articles, so that a stalling provider cannot double the traffic. A few are allowed in
/// advance, because the first article of the first stream may already be late.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class HedgeBudget
{
    private const int ArticlesPerHedge = 20;
    private const int InAdvance = 4;
    private const int MostSavedUp = 16;

    // Number of replies behind a late one, at a typical pipeline depth.
    private const int MovesInAdvance = MostSavedUp - InAdvance;

    // In articles: a hedge may add one article of traffic, and each fetched article earns one twentieth.
    private int _credit = InAdvance * ArticlesPerHedge;
    private int _movesInAdvance = MovesInAdvance;

    /// <summary>Earns credit for a fetched article.</summary>
    public void Fetched()
    {
        var credit = Volatile.Read(ref _credit);
        if (credit < MostSavedUp * ArticlesPerHedge)
            Interlocked.CompareExchange(ref _credit, credit + 1, credit);
    }

    /// <summary>Spends credit on one hedge; false if there is too little.</summary>
    public bool TrySpend() => TrySpend(keeps: 0);

    /// <summary>Charges a move away from a late reply, because the original article may still arrive.</summary>
    /// <remarks>A few moves are granted in advance. The advance for hedges stays reserved, because readers wait for hedges.</remarks>
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
