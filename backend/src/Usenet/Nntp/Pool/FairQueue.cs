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

    // A party comes and goes with each of its fetches when few wait.
    private const int SpareKept = 16;

    private readonly Dictionary<object, Party> _parties = [];
    private readonly LinkedList<Party> _round = new();
    private readonly Stack<Party> _spare = new();

    public bool IsEmpty => _round.Count == 0;

    public void Add(ConnectionLease waiter, object party)
    {
        if (!_parties.TryGetValue(party, out var entry))
        {
            entry = _spare.TryPop(out var spare) ? spare : new Party();
            (entry.Key, entry.Deficit) = (party, Quantum);
            _parties.Add(party, entry);
            _round.AddLast(entry.Place);
        }

        entry.Waiters.AddLast(waiter.Place);
    }

    /// <summary>Whether a waiter waits here; it may wait in the queue of another pool by now.</summary>
    public bool Holds(ConnectionLease waiter, object party) => _parties.TryGetValue(party, out var entry) && entry.Waiters == waiter.Place.List;

    /// <summary>The one whose turn it is.</summary>
    public bool TryPeek([MaybeNullWhen(false)] out ConnectionLease waiter)
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
    public void Remove(ConnectionLease waiter, object party)
    {
        var entry = _parties[party];
        entry.Waiters.Remove(waiter.Place);
        if (entry.Waiters.Count > 0)
            return;

        // A party without waiters saves nothing up.
        _parties.Remove(party);
        _round.Remove(entry.Place);
        entry.Key = null;
        if (_spare.Count < SpareKept)
            _spare.Push(entry);
    }

    /// <summary>The one whose turn it was has been served, and is about to be taken out.</summary>
    public void Charge(ConnectionLease waiter, object party) => _parties[party].Deficit -= waiter.Cost;

    /// <summary>All that wait, in no order.</summary>
    public IEnumerable<ConnectionLease> All() => _round.SelectMany(static party => party.Waiters);

    private sealed class Party
    {
        public Party() => Place = new LinkedListNode<Party>(this);

        /// <summary>Null while it is spare.</summary>
        public object? Key { get; set; }

        public LinkedListNode<Party> Place { get; }

        public LinkedList<ConnectionLease> Waiters { get; } = new();

        public long Deficit { get; set; }
    }
}
