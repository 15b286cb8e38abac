using System.Runtime.CompilerServices;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// The pieces that one reader holds ahead, in order: a ring of slots sized to what is in it, never to the file. The reader
/// claims and releases; fetches fill their slots without a lock and wake the reader if it waits for just that one.
/// </summary>
/// <remarks>
/// All members but <see cref="Notify"/> belong to the reader. An idle window uses no time: nothing polls.
/// </remarks>
internal sealed class SegmentWindow
{
    private const int SmallestRing = 8;

    private readonly ReadSignal _signal = new();
    private readonly BudgetShare _share;
    private readonly UnwantedFetches _unwanted;
    private Place[] _ring = new Place[SmallestRing];
    private int _next;

    // Slots serve again once their fetch has ended; never more than the ring has held.
    private readonly Stack<SegmentSlot> _spare = new();

    // Written by the reader, read by fetches: whose news is worth waking the reader for.
    private SegmentSlot? _awaited;

    /// <param name="first">Number of the piece that comes first.</param>
    /// <param name="share">What the slots are charged to; not owned.</param>
    public SegmentWindow(int first, BudgetShare share)
    {
        HeadNumber = _next = first;
        _share = share;
        _unwanted = new UnwantedFetches(share);
    }

    /// <summary>Number of the piece at the head.</summary>
    public int HeadNumber { get; private set; }

    /// <summary>Slots claimed.</summary>
    public int Count => _next - HeadNumber;

    /// <summary>Bytes charged for the slots claimed.</summary>
    public long Charged { get; private set; }

    /// <summary>Number of the piece that would be claimed next.</summary>
    public int NextNumber => _next;

    /// <summary>The slot at the head; there is one while <see cref="Count"/> is above 0.</summary>
    public SegmentSlot Head => PlaceOf(HeadNumber).Slot!;

    /// <summary>Whether the head is served from what is kept, so that nothing has to be fetched ahead yet.</summary>
    public bool IsLent => Count > 0 && Head.IsLent;

    /// <summary>Timestamp of when the head was claimed.</summary>
    public long HeadClaimedAt => PlaceOf(HeadNumber).ClaimedAt;

    /// <summary>Whether the article at the head was so late that it was asked for twice.</summary>
    public bool WasHeadLate => Head.Urgency.WasLate;

    /// <summary>Adds a slot behind the last, whose cost has been charged.</summary>
    /// <param name="piece">What it will hold.</param>
    /// <param name="isLanding">Whether an open or a seek landed there.</param>
    /// <param name="urgency">How urgently it is wanted.</param>
    /// <param name="now">Timestamp of now.</param>
    /// <param name="debt">Takes note of the bytes that leave before the part is proved; null where none may.</param>
    /// <param name="cancellationToken">Cancelled when the slot is given back before its fetch has ended, unless bytes are owed that the fetch settles.</param>
    public SegmentSlot Claim(Piece piece, bool isLanding, FetchUrgency urgency, long now, SegmentDebt? debt, out CancellationToken cancellationToken)
    {
        if (Count == _ring.Length)
            Grow();
        ref var place = ref PlaceOf(_next++);
        place.Slot = _spare.TryPop(out var spare) ? spare : new SegmentSlot(this);
        place.Slot.Claim(piece, isLanding, urgency, debt);
        place.ClaimedAt = now;
        Charged += BudgetShare.CostOf(piece.Segment.Length);
        // The source of a fetch that has ended serves the next one of its place, so steady reading creates none.
        if (place.Cancellation?.TryReset() != true)
            place.Cancellation = new CancellationTokenSource();
        cancellationToken = place.Cancellation.Token;
        return place.Slot;
    }

    /// <summary>The reader has come to wait for the head: whatever its fetch waits for, it goes first.</summary>
    public void RaiseHead() => Head.Urgency.Raise();

    /// <summary>Gives the head back; the next slot is the head now.</summary>
    public void ReleaseHead() => Release(HeadNumber++);

    /// <summary>Gives back all slots but the first few, from the far end, whose fetches are the least likely to be on the wire.</summary>
    public void Trim(int keep)
    {
        while (Count > keep)
            Release(--_next);
    }

    /// <summary>Gives back from the far end until no more than this is charged, but never the head.</summary>
    public void TrimTo(long bytes)
    {
        while (Count > 1 && Charged > bytes)
            Release(--_next);
    }

    /// <summary>Has the fetches of slots given back cancelled, without waiting for it.</summary>
    public void CancelReleased() => _unwanted.CancelSoon();

    /// <summary>By fetches: there is news in a slot.</summary>
    public void Notify(SegmentSlot slot)
    {
        // Full fence: the slot's state is written before, the reader's interest read after; the reader does the reverse.
        Interlocked.MemoryBarrier();
        if (ReferenceEquals(Volatile.Read(ref _awaited), slot))
            _signal.Set();
    }

    /// <summary>Names the slot whose news ends the next wait; its state has to be looked at again after this and before the wait.</summary>
    public void Await(SegmentSlot? slot)
    {
        Volatile.Write(ref _awaited, slot);
        Interlocked.MemoryBarrier();
    }

    /// <summary>Waits for news of the awaited slot, or for the token.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        await using var registration = cancellationToken.UnsafeRegister(static state => ((ReadSignal)state!).Set(), _signal);
        await _signal.WaitAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    /// <summary>Waits for the fetches of slots given back, all others having been given back before.</summary>
    public async Task CloseAsync()
    {
        _unwanted.Cancel();
        await _unwanted.WhenEndedAsync();
        foreach (var place in _ring)
            place.Cancellation?.Dispose();
    }

    private ref Place PlaceOf(int number) => ref _ring[number & (_ring.Length - 1)];

    private void Release(int number)
    {
        ref var place = ref PlaceOf(number);
        var slot = place.Slot!;
        place.Slot = null;
        var endsByItself = slot.Release();
        var cost = BudgetShare.CostOf(slot.Piece.Segment.Length);
        Charged -= cost;
        if (slot.HasEnded)
        {
            _share.Return(cost);
            _spare.Push(slot);
            return;
        }

        _unwanted.Add(slot.Ended, endsByItself || slot.KeepsFetch(place.Cancellation!) ? null : place.Cancellation, cost);
        place.Cancellation = null;
    }

    private void Grow()
    {
        var larger = new Place[_ring.Length * 2];
        for (var number = HeadNumber; number < _next; number++)
            larger[number & (larger.Length - 1)] = PlaceOf(number);
        _ring = larger;
    }

    private struct Place
    {
        public SegmentSlot? Slot;
        public long ClaimedAt;
        public CancellationTokenSource? Cancellation;
    }
}
