using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// Waiting fetches of several parties, served so that each party gets the same bytes over time, whatever their number or size:
/// deficit round robin (Shreedhar and Varghese, SIGCOMM 1995). Guarded by the lock of the pool.
/// </summary>
internal sealed class FairQueue
{
    // Larger than a usual article, so that most turns serve at least one.
    private const long Quantum = 1 << 20;

    private readonly Dictionary<object, Party> _parties = [];
    private readonly LinkedList<Party> _round = new();

    public bool IsEmpty => _round.Count == 0;

    public void Add(LeaseWaiter waiter, object party)
    {
        if (!_parties.TryGetValue(party, out var entry))
        {
            _parties.Add(party, entry = new Party(party));
            _round.AddLast(entry.Place);
        }

        entry.Waiters.AddLast(waiter.Place);
    }

    /// <summary>The one whose turn it is.</summary>
    public bool TryPeek([MaybeNullWhen(false)] out LeaseWaiter waiter)
    {
        while (_round.First is { } first)
        {
            waiter = first.Value.Waiters.First!.Value;
            if (first.Value.Deficit >= waiter.Cost)
                return true;
            first.Value.Deficit += Quantum;
            _round.RemoveFirst();
            _round.AddLast(first);
        }

        waiter = null;
        return false;
    }

    /// <summary>Takes a waiter out that will not be served any more.</summary>
    public void Remove(LeaseWaiter waiter, object party)
    {
        var entry = _parties[party];
        entry.Waiters.Remove(waiter.Place);
        if (entry.Waiters.Count > 0)
            return;

        // A party without waiters saves nothing up.
        _parties.Remove(party);
        _round.Remove(entry.Place);
    }

    /// <summary>Takes out the one whose turn it was, which has been served.</summary>
    public void Served(LeaseWaiter waiter, object party)
    {
        _parties[party].Deficit -= waiter.Cost;
        Remove(waiter, party);
    }

    /// <summary>Takes everybody out.</summary>
    public IEnumerable<LeaseWaiter> TakeAll()
    {
        while (_round.First is { } first)
        {
            var waiter = first.Value.Waiters.First!.Value;
            Remove(waiter, first.Value.Key);
            yield return waiter;
        }
    }

    private sealed class Party
    {
        public Party(object key)
        {
            Key = key;
            Place = new LinkedListNode<Party>(this);
        }

        public object Key { get; }

        public LinkedListNode<Party> Place { get; }

        public LinkedList<LeaseWaiter> Waiters { get; } = new();

        public long Deficit { get; set; } = Quantum;
    }
}
