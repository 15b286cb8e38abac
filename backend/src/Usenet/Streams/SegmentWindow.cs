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

    // Fetches of slots that were released before they were filled; awaited at the end.
    private readonly List<Task> _orphans = [];
    private SegmentSlot?[] _ring = new SegmentSlot?[SmallestRing];
    private int _next;

    // Written by the reader, read by fetches: whose news is worth waking the reader for.
    private SegmentSlot? _awaited;

    /// <param name="first">Number of the piece that comes first.</param>
    public SegmentWindow(int first) => HeadNumber = _next = first;

    /// <summary>Number of the piece at the head.</summary>
    public int HeadNumber { get; private set; }

    /// <summary>Slots claimed.</summary>
    public int Count => _next - HeadNumber;

    /// <summary>Number of the piece that would be claimed next.</summary>
    public int NextNumber => _next;

    /// <summary>The slot at the head; there is one while <see cref="Count"/> is above 0.</summary>
    public SegmentSlot Head => _ring[HeadNumber & (_ring.Length - 1)]!;

    /// <summary>Adds a slot behind the last.</summary>
    public SegmentSlot Claim(Piece piece, bool isLanding)
    {
        if (Count == _ring.Length)
            Grow();
        var slot = new SegmentSlot(piece, isLanding, this);
        _ring[_next++ & (_ring.Length - 1)] = slot;
        return slot;
    }

    /// <summary>Gives the head back; the next slot is the head now.</summary>
    public void ReleaseHead()
    {
        Release(HeadNumber);
        HeadNumber++;
    }

    /// <summary>Gives back all slots but the first few.</summary>
    public void Trim(int keep)
    {
        while (Count > keep)
            Release(--_next);
    }

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
    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        await using var registration = cancellationToken.UnsafeRegister(static state => ((ReadSignal)state!).Set(), _signal);
        await _signal.WaitAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    /// <summary>Gives everything back and waits for the fetches, which have been cancelled before.</summary>
    public async Task CloseAsync()
    {
        Trim(0);
        await Task.WhenAll(_orphans);
    }

    private void Release(int number)
    {
        ref var place = ref _ring[number & (_ring.Length - 1)];
        var slot = place!;
        place = null;
        slot.Release();
        if (!slot.Fetch.IsCompleted)
            Remember(slot.Fetch);
    }

    private void Remember(Task fetch)
    {
        _orphans.RemoveAll(static task => task.IsCompleted);
        _orphans.Add(fetch);
    }

    private void Grow()
    {
        var larger = new SegmentSlot?[_ring.Length * 2];
        for (var number = HeadNumber; number < _next; number++)
            larger[number & (larger.Length - 1)] = _ring[number & (_ring.Length - 1)];
        _ring = larger;
    }
}
