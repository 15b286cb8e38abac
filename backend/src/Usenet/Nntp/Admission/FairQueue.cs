using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// A queue of waiting fetches that gives each party the same bytes over time, whatever their number or size: deficit round robin
/// (Shreedhar and Varghese, SIGCOMM 1995). A single party is served in order of arrival. Used under the lock of one pool.
/// </summary>
internal sealed class FairQueue
{
    // Larger than a usual article, so that most turns serve at least one.
    private const long Quantum = 1 << 20;

    private readonly Dictionary<object, Party> _parties = [];
    private readonly LinkedList<Party> _round = new();

    // In a short queue each fetch adds and removes a party, so the last removed party is reused.
    private Party? _spare;

    public bool IsEmpty => _round.Count == 0;

    public void Add(LeaseWaiter waiter, object party)
    {
        if (!_parties.TryGetValue(party, out var entry))
        {
            entry = _spare ?? new Party();
            (_spare, entry.Deficit) = (null, Quantum);
            _parties.Add(party, entry);
            _round.AddLast(entry.Place);
        }

        entry.Add(waiter);
    }

    /// <summary>The waiter whose turn it is.</summary>
    public bool TryPeek([MaybeNullWhen(false)] out LeaseWaiter waiter)
    {
        while (_round.First is { } first)
        {
            waiter = first.Value.First!;
            if (first.Value.Deficit >= waiter.Cost)
                return true;
            first.Value.Deficit += Quantum;
            _round.RemoveFirst();
            _round.AddLast(first);
        }

        waiter = null;
        return false;
    }

    /// <summary>The first waiter of one party, regardless of turns.</summary>
    public bool TryPeek(object party, [MaybeNullWhen(false)] out LeaseWaiter waiter)
    {
        waiter = _parties.GetValueOrDefault(party)?.First;
        return waiter is not null;
    }

    public void Remove(LeaseWaiter waiter, object party)
    {
        var entry = _parties[party];
        entry.Remove(waiter);
        if (entry.First is not null)
            return;

        // A party without waiters loses its deficit, so it cannot save up turns.
        _parties.Remove(party);
        _round.Remove(entry.Place);
        _spare = entry;
    }

    /// <summary>Charges the waiter whose turn it was, before it is removed.</summary>
    public void Charge(LeaseWaiter waiter, object party) => _parties[party].Deficit -= waiter.Cost;

    /// <summary>All waiters, in no order.</summary>
    public IEnumerable<LeaseWaiter> All() => _round.SelectMany(static party => party.All());

    /// <summary>A party and its linked waiters. The links are fields of the leases, so that waiting allocates nothing.</summary>
    private sealed class Party
    {
        private LeaseWaiter? _last;

        public Party() => Place = new LinkedListNode<Party>(this);

        public LinkedListNode<Party> Place { get; }

        public long Deficit { get; set; }

        public LeaseWaiter? First { get; private set; }

        public void Add(LeaseWaiter waiter)
        {
            (waiter.Before, waiter.Next) = (_last, null);
            if (_last is null)
                First = waiter;
            else
                _last.Next = waiter;
            _last = waiter;
        }

        public void Remove(LeaseWaiter waiter)
        {
            if (waiter.Before is null)
                First = waiter.Next;
            else
                waiter.Before.Next = waiter.Next;
            if (waiter.Next is null)
                _last = waiter.Before;
            else
                waiter.Next.Before = waiter.Before;
            (waiter.Before, waiter.Next) = (null, null);
        }

        public IEnumerable<LeaseWaiter> All()
        {
            for (var waiter = First; waiter is not null; waiter = waiter.Next)
                yield return waiter;
        }
    }
}
