using System.Runtime.CompilerServices;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// The pieces that one reader holds ahead, in order: a ring of slots sized to the slots in it, never to the file. The reader claims and
/// releases slots; loads fill them without a lock and wake the reader if it waits for just that one.
/// </summary>
/// <remarks>
/// All members but <see cref="Notify"/> and <see cref="IsOver"/> belong to the reader, whose stream orders them by its lock. An idle window
/// uses no time: nothing polls. A slot is over when the reader has released it and nothing is under way for it any more; until then it is
/// charged, and the window cannot be closed.
/// </remarks>
internal sealed class SegmentWindow : IAsyncDisposable
{
    private const int SmallestRing = 8;

    private readonly AsyncSignal _signal = new();
    private readonly BudgetShare _share;
    private readonly StreamDebts? _refusable;
    private readonly CancellationTokenSource _closing = new();
    private readonly TaskCompletionSource _allOver = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private SegmentSlot?[] _ring = new SegmentSlot?[SmallestRing];
    private int _next;

    // Slots that were released while they waited for a load, and have not left it yet.
    private List<SegmentSlot> _released = [];
    private Task _leaving = Task.CompletedTask;

    // Slots that are not over, and one more until the window is closed. Counted down by readers and loads.
    private int _open = 1;

    // Written by the reader, read by loads: the slot whose news wakes the reader.
    private SegmentSlot? _awaited;

    /// <param name="first">Number of the piece that comes first.</param>
    /// <param name="share">What the slots are charged to; not owned.</param>
    /// <param name="refusable">
    /// The debts of a stream whose reader can be refused before its first byte has left, so that it need not wait for an article in doubt; null
    /// for one that waits anyway.
    /// </param>
    public SegmentWindow(int first, BudgetShare share, StreamDebts? refusable = null)
    {
        HeadNumber = _next = first;
        (_share, _refusable) = (share, refusable);
    }

    /// <summary>Whether its reader can still be refused.</summary>
    public bool IsRefusable => _refusable is { HasBegun: false };

    /// <summary>Number of the piece at the head.</summary>
    public int HeadNumber { get; private set; }

    /// <summary>Slots claimed.</summary>
    public int Count => _next - HeadNumber;

    /// <summary>Bytes charged for the slots claimed.</summary>
    public long Charged { get; private set; }

    /// <summary>Number of the piece that would be claimed next.</summary>
    public int NextNumber => _next;

    /// <summary>The slot at the head; there is one while <see cref="Count"/> is above 0.</summary>
    public SegmentSlot Head => PlaceOf(HeadNumber)!;

    /// <summary>Whether the head is served from the disk, so that nothing has to be loaded ahead yet.</summary>
    public bool IsLent => Count > 0 && Head.IsLent;

    /// <summary>Segments that this reader had to be asked for more than once, of those whose slots were released.</summary>
    public int Repeated { get; private set; }

    /// <summary>The slots in their order.</summary>
    public SegmentSlot[] Slots => [.. Enumerable.Range(HeadNumber, Count).Select(number => PlaceOf(number)!)];

    /// <summary>Cancelled when the window is closed.</summary>
    public CancellationToken Closing => _closing.Token;

    /// <summary>Adds a slot behind the last, whose cost has been charged.</summary>
    /// <param name="piece">The segment that it is for, and the slice that is read.</param>
    /// <param name="isLanding">Whether an open or a seek landed there.</param>
    /// <param name="urgency">How urgently it is wanted.</param>
    /// <param name="now">Timestamp of now.</param>
    /// <param name="debt">Takes note of the bytes that leave before the part is proved; null where none may.</param>
    public SegmentSlot Claim(Piece piece, bool isLanding, FetchUrgency urgency, long now, SegmentDebt? debt)
    {
        if (Count == _ring.Length)
            Grow();
        var slot = new SegmentSlot(this, piece, isLanding, urgency, now, debt);
        PlaceOf(_next++) = slot;
        Interlocked.Increment(ref _open);
        Charged += slot.Cost;
        return slot;
    }

    /// <summary>The reader has come to wait for the head: its load goes first.</summary>
    public void RaiseHead() => Head.Urgency.Raise();

    /// <summary>Gives the head back; the next slot is the head now.</summary>
    public void ReleaseHead() => Release(HeadNumber++);

    /// <summary>Gives back all slots but the first few, from the far end, whose articles are the least likely to be on the wire.</summary>
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

    /// <summary>
    /// Has the slots that were released leave their loads, so that a question which is still queued never reaches the wire. On another
    /// thread: giving a load up runs into the connections, and a reader that moves on does not wait for that.
    /// </summary>
    public void LeaveReleased()
    {
        if (_released.Count == 0)
            return;
        _leaving = LeaveAsync(_leaving, _released);
        _released = [];

        static async Task LeaveAsync(Task before, List<SegmentSlot> released)
        {
            await Task.Run(() => LeaveAll(released));
            await before;
        }
    }

    /// <summary>By loads: there is news in a slot.</summary>
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
        await using var registration = cancellationToken.UnsafeRegister(static state => ((AsyncSignal)state!).Set(), _signal);
        await _signal.WaitAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    /// <summary>By the last holder of a slot: the reader has released it, and nothing is under way for it.</summary>
    public void IsOver(SegmentSlot slot)
    {
        _share.Return(slot.Cost);
        Part();
    }

    /// <summary>Has all slots leave their loads and waits until they are over, all of them having been released before.</summary>
    public async ValueTask DisposeAsync()
    {
        LeaveAll(_released);
        await _closing.CancelAsync();
        await _leaving;
        Part();
        await _allOver.Task;
        _closing.Dispose();
    }

    private static void LeaveAll(List<SegmentSlot> released)
    {
        foreach (var slot in released)
            slot.Leave();
    }

    private ref SegmentSlot? PlaceOf(int number) => ref _ring[number & (_ring.Length - 1)];

    private void Part()
    {
        if (Interlocked.Decrement(ref _open) == 0)
            _allOver.TrySetResult();
    }

    private void Release(int number)
    {
        ref var place = ref PlaceOf(number);
        var slot = place!;
        place = null;
        Charged -= slot.Cost;
        if (slot.IsRepeated)
            Repeated++;
        if (!slot.Release())
            _released.Add(slot);
        slot.Part();
    }

    private void Grow()
    {
        var larger = new SegmentSlot?[_ring.Length * 2];
        for (var number = HeadNumber; number < _next; number++)
            larger[number & (larger.Length - 1)] = PlaceOf(number);
        _ring = larger;
    }
}

/// <summary>
/// One ordered place of a window: a segment on its way from the load that fills it to the reader that takes it.
/// </summary>
/// <remarks>
/// States and their writers, each step one compare-and-swap:
/// <list type="bullet">
/// <item>Claimed → Lent: the load, when some blocks are there that were proved long ago, and the rest is left until it is wanted;</item>
/// <item>Claimed or Lent → Filling: the load, when the first bytes may be read while the rest arrives;</item>
/// <item>Claimed, Lent or Filling → Ready or Failed: the load, once;</item>
/// <item>any → Released: the reader, once.</item>
/// </list>
/// Buffers are handed over before the state that announces them, so a reader that sees the state sees the buffer. The side that loses the
/// race against Released gives the buffer back itself.
/// </remarks>
internal sealed class SegmentSlot(SegmentWindow window, Piece piece, bool isLanding, FetchUrgency urgency, long claimedAt, SegmentDebt? debt)
    : SegmentWaiter(piece, urgency, isEarly: debt is not null)
{
    private const int Claimed = 0;
    private const int Filling = 1;
    private const int Ready = 2;
    private const int Failed = 3;
    private const int Released = 4;
    private const int Lent = 5;

    private int _state;

    // Written by the load before Filling, and _available after it; read by the reader. One count is the slot's.
    private SegmentBuffer? _early;
    private int _available;

    // Written by the load before Lent. One count of the buffer is the slot's.
    private LentBlocks? _lent;

    // Written by the load before Ready or Failed. One count of the buffer is the slot's.
    private SegmentBuffer? _proved;
    private Exception? _failure;

    // The reader until it has released the slot, and the loading until nothing is under way for it.
    private int _holders = 2;

    /// <summary>Whether an open or a seek landed here.</summary>
    public bool IsLanding => isLanding;

    /// <summary>Timestamp of when the slot was claimed.</summary>
    public long ClaimedAt => claimedAt;

    /// <summary>Bytes that are charged for the slot.</summary>
    public long Cost => BudgetShare.CostOf(Piece.Segment.Length);

    /// <summary>Whether the load that began for this slot has asked for its article more than once.</summary>
    public bool IsRepeated => Urgency.WasAskedAgain;

    /// <inheritdoc/>
    public override bool MustWait => !(isLanding && window.IsRefusable);

    /// <summary>Whether the reader can go on without the rest of the segment, for all that is known.</summary>
    public bool IsLent => Volatile.Read(ref _state) == Lent && !_lent!.IsOver.Task.IsCompleted;

    /// <summary>How the slot stands, for those who look on: on any thread, under no lock.</summary>
    public SlotSnapshot Look()
    {
        var isReady = Volatile.Read(ref _state) is Ready or Lent;
        return new SlotSnapshot(Piece.Begin, Piece.Length, isReady, isReady ? Piece.Segment.Length : ArrivedBytes, IsRepeated, isReady ? null : Urgency.Look());
    }

    /// <inheritdoc/>
    public override Task Lend(SegmentBuffer blocks)
    {
        var lent = _lent = new LentBlocks(blocks);
        if (Interlocked.CompareExchange(ref _state, Lent, Claimed) == Claimed)
        {
            window.Notify(this);
        }
        else
        {
            blocks.Release();
            lent.IsOver.SetCanceled();
        }

        return lent.IsOver.Task;
    }

    /// <inheritdoc/>
    public override void Publish(SegmentBuffer buffer, int available)
    {
        if (_early is null)
        {
            buffer.Retain();
            _early = buffer;
            Volatile.Write(ref _available, available);
            var before = Volatile.Read(ref _state);
            if (before is not (Claimed or Lent) || Interlocked.CompareExchange(ref _state, Filling, before) != before)
            {
                _early = null;
                buffer.Release();
                return;
            }
        }
        else if (ReferenceEquals(_early, buffer))
        {
            Volatile.Write(ref _available, available);
        }

        window.Notify(this);
    }

    /// <inheritdoc/>
    public override void Withdraw() => debt?.Withdraw();

    /// <inheritdoc/>
    public override void Complete(SegmentBuffer proved)
    {
        debt?.Settle(proved);
        _proved = proved;
        if (!TrySettle(Ready))
        {
            // A reader that has gone on elsewhere has read early bytes, perhaps.
            Reads?.Offer(proved);
            _proved = null;
            proved.Release();
        }
    }

    /// <inheritdoc/>
    public override void Fail(Exception failure)
    {
        debt?.EndUnpaid(failure);
        _failure = failure;
        TrySettle(Failed);
    }

    /// <summary>By the reader: takes what may be read now.</summary>
    /// <param name="offset">First byte in the segment.</param>
    /// <param name="stop">Where the response stops taking from this segment; before it the last bytes are withheld until proved.</param>
    /// <param name="withheld">How many.</param>
    /// <param name="target">Filled as far as possible.</param>
    /// <param name="isFirst">
    /// Whether the read has nothing yet. Good bytes that it has are delivered first, so that a read ends exactly at its hole;
    /// the next one says why.
    /// </param>
    /// <returns>Bytes taken; 0 while the reader has to wait.</returns>
    /// <exception cref="IOException">The segment cannot be had, or bytes taken before it was proved were wrong.</exception>
    public int Take(int offset, int stop, int withheld, ReadTarget target, bool isFirst)
    {
        var state = Volatile.Read(ref _state);
        var taken = 0;
        switch (state)
        {
            case Ready:
                debt?.ThrowIfBad();
                taken = Put(_proved!, offset, stop, target);
                break;
            case Lent or Filling or Failed when _lent is not null && _lent.Blocks.HeldEnd(offset) is var held && held > offset:
                taken = Put(_lent.Blocks, offset, Math.Min(held, stop), target);
                break;
            case Lent:
                _lent!.IsOver.TrySetResult();
                break;
            case Failed:
                return isFirst ? throw _failure! : 0;
            case Filling:
                var end = Math.Min(Volatile.Read(ref _available), stop - withheld);
                if (end > offset && target.Takes(_early!) && debt!.TryOwe(_early!, offset, Math.Min(end, offset + target.Length)))
                    taken = Put(_early!, offset, end, target);
                break;
        }

        Reads?.Note(offset, taken);
        return taken;
    }

    /// <summary>By the reader, followed by <see cref="Part"/>: the slot is not needed any more, in whichever state it is.</summary>
    /// <returns>
    /// Whether its load goes on or ends without the slot leaving it: the load has settled the slot, or has waited for nothing but the
    /// reader, or settles the bytes that are owed.
    /// </returns>
    public bool Release()
    {
        var before = Interlocked.Exchange(ref _state, Released);
        if (before == Ready)
        {
            Reads?.Offer(_proved!);
            _proved!.Release();
        }

        var hasDoneWithout = false;
        if (before != Claimed && _lent is not null)
        {
            _lent.Blocks.Release();
            hasDoneWithout = _lent.IsOver.TrySetCanceled() && before == Lent;
        }

        // In Claimed there is no early buffer, or one that its load is about to give back itself.
        if (before is Filling or Ready or Failed)
            _early?.Release();
        return before is Ready or Failed || hasDoneWithout || debt?.TryKeep(this) == true;
    }

    /// <summary>One of the two holders of the slot has done with it; the second one tells the window.</summary>
    public void Part()
    {
        if (Interlocked.Decrement(ref _holders) == 0)
            window.IsOver(this);
    }

    /// <inheritdoc/>
    protected override void Ended()
    {
        debt?.EndUnpaid(_failure);
        Part();
    }

    private static int Put(SegmentBuffer source, int offset, int end, ReadTarget target)
    {
        var count = Math.Min(end - offset, target.Length);
        if (count <= 0 || !target.Takes(source))
            return 0;
        target.Put(source, offset, count);
        return count;
    }

    private bool TrySettle(int settled)
    {
        var before = Volatile.Read(ref _state);
        while (before is Claimed or Lent or Filling)
        {
            var seen = Interlocked.CompareExchange(ref _state, settled, before);
            if (seen == before)
            {
                window.Notify(this);
                return true;
            }

            before = seen;
        }

        return false;
    }

    /// <summary>Blocks that were proved long ago, with gaps between them.</summary>
    /// <param name="blocks">One count is the holder's.</param>
    private sealed class LentBlocks(SegmentBuffer blocks)
    {
        public SegmentBuffer Blocks => blocks;

        /// <summary>Ends when the reader wants what they lack, and is cancelled when it has done without.</summary>
        public TaskCompletionSource IsOver { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
