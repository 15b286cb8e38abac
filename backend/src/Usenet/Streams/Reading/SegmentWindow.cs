using System.Runtime.CompilerServices;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// The pieces that one reader holds ahead, in order. The ring grows with the number of slots, never with the file. The reader claims and releases slots. Loads
/// fill them without a lock, and wake the reader only if it waits for that slot.
/// </summary>
/// <remarks>
/// All members except <see cref="Notify"/> and <see cref="OnSlotDrained"/> belong to the reader, whose stream serializes them with its lock. An idle window
/// uses no CPU, because nothing polls. A slot is charged and keeps the window open until the reader has released it and its load has finished.
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

    // Released slots that were waiting for a load and still have to leave it.
    private List<SegmentSlot> _released = [];
    private Task _leaving = Task.CompletedTask;

    // Slots that are not drained, plus one until the window is closed. Counted down by readers and loads.
    private int _open = 1;

    // Written by the reader, read by loads: a change of this slot wakes the reader.
    private SegmentSlot? _awaited;

    /// <summary>
    /// Creates a window at piece <paramref name="first"/>. The share is not owned. <paramref name="refusable"/> holds the debts of a reader that can still get
    /// an error before its first byte. Such a reader does not have to wait for a doubtful article.
    /// </summary>
    public SegmentWindow(int first, BudgetShare share, StreamDebts? refusable = null)
    {
        HeadNumber = _next = first;
        (_share, _refusable) = (share, refusable);
    }

    /// <summary>Whether the reader can still get an error response, because it has received nothing yet.</summary>
    public bool IsRefusable => _refusable is { HasBegun: false };

    public int HeadNumber { get; private set; }

    public int Count => _next - HeadNumber;

    public long Charged { get; private set; }

    public int NextNumber => _next;

    /// <summary>The first slot; valid only while <see cref="Count"/> is above 0.</summary>
    public SegmentSlot Head => PlaceOf(HeadNumber)!;

    /// <summary>Whether the head is served from disk, so that no prefetch is needed yet.</summary>
    public bool IsLent => Count > 0 && Head.IsLent;

    /// <summary>Number of released slots whose segments were requested more than once for this reader.</summary>
    public int Repeated { get; private set; }

    public SegmentSlot[] Slots => [.. Enumerable.Range(HeadNumber, Count).Select(number => PlaceOf(number)!)];

    public CancellationToken Closing => _closing.Token;

    /// <summary>Adds a slot at the end; the caller has charged its cost. Without <paramref name="debt"/>, only verified bytes are served.</summary>
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

    /// <summary>Raises the priority of the head's load, because the reader now waits for it.</summary>
    public void RaiseHead() => Head.Urgency.Raise();

    public void ReleaseHead() => Release(HeadNumber++);

    /// <summary>Releases all but the first slots, farthest first, because the farthest articles are the least likely to be on the wire.</summary>
    public void Trim(int keep)
    {
        while (Count > keep)
            Release(--_next);
    }

    /// <summary>Releases slots, farthest first but never the head, until at most this many bytes are charged.</summary>
    public void TrimTo(long bytes)
    {
        while (Count > 1 && Charged > bytes)
            Release(--_next);
    }

    /// <summary>Makes released slots leave their loads, so that requests still queued never reach the wire.</summary>
    /// <remarks>Runs on another thread, because ending a load calls into the connections and a reader that moves on must not wait for that.</remarks>
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

    /// <summary>Called by loads when the state of a slot has changed.</summary>
    public void Notify(SegmentSlot slot)
    {
        // Full fence between the write of the slot's state and the read of _awaited. The reader does both in reverse order, so no wake-up is lost.
        Interlocked.MemoryBarrier();
        if (ReferenceEquals(Volatile.Read(ref _awaited), slot))
            _signal.Set();
    }

    /// <summary>Names the slot whose changes end the next wait. Check its state again after this call and before the wait.</summary>
    public void Await(SegmentSlot? slot)
    {
        Volatile.Write(ref _awaited, slot);
        Interlocked.MemoryBarrier();
    }

    /// <summary>Waits for a change of the awaited slot, or for cancellation.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        await using var registration = cancellationToken.UnsafeRegister(static state => ((AsyncSignal)state!).Set(), _signal);
        await _signal.WaitAsync();
        cancellationToken.ThrowIfCancellationRequested();
    }

    /// <summary>Called by the last holder of a slot: the reader has released it and nothing is in progress for it.</summary>
    public void OnSlotDrained(SegmentSlot slot)
    {
        _share.Return(slot.Cost);
        ReleaseHold();
    }

    /// <summary>Makes all slots leave their loads and waits until they are drained. All slots must have been released before.</summary>
    public async ValueTask DisposeAsync()
    {
        LeaveAll(_released);
        await _closing.CancelAsync();
        await _leaving;
        ReleaseHold();
        await _allOver.Task;
        _closing.Dispose();
    }

    private static void LeaveAll(List<SegmentSlot> released)
    {
        foreach (var slot in released)
            slot.Leave();
    }

    private ref SegmentSlot? PlaceOf(int number) => ref _ring[number & (_ring.Length - 1)];

    private void ReleaseHold()
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
        slot.ReleaseHold();
    }

    private void Grow()
    {
        var larger = new SegmentSlot?[_ring.Length * 2];
        for (var number = HeadNumber; number < _next; number++)
            larger[number & (larger.Length - 1)] = PlaceOf(number);
        _ring = larger;
    }
}

/// <summary>One slot of a window: hands a segment from its load to the reader.</summary>
/// <remarks>
/// States and their writers, each step one atomic operation:
/// <list type="bullet">
/// <item>Claimed → Lent: the load, if the disk has blocks verified earlier, so that the rest can wait until needed;</item>
/// <item>Claimed or Lent → Filling: the load, when the first bytes may be read while the rest arrives;</item>
/// <item>Claimed, Lent or Filling → Ready or Failed: the load, once;</item>
/// <item>any → Released: the reader, once.</item>
/// </list>
/// Buffers are stored before the state that announces them, so a reader that sees the state sees the buffer. The side that loses the race
/// against Released releases the buffer itself.
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

    // The load writes _early before the Filling state, and _available then and later. The reader reads both. The slot has one reference to the buffer.
    private SegmentBuffer? _early;
    private int _available;

    // Written by the load before Lent. The slot has one reference to the buffer.
    private LentBlocks? _lent;

    // Written by the load before Ready or Failed. The slot has one reference to the buffer.
    private SegmentBuffer? _proved;
    private Exception? _failure;

    // One hold by the reader until it releases the slot, and one by the load until nothing is in progress for the slot.
    private int _holders = 2;

    /// <summary>Whether an open or a seek started here.</summary>
    public bool IsLanding => isLanding;

    public long ClaimedAt => claimedAt;

    public long Cost => BudgetShare.CostOf(Piece.Segment.Length);

    /// <summary>Whether the load that began for this slot requested its article more than once.</summary>
    public bool IsRepeated => Urgency.WasAskedAgain;

    public override bool MustWait => !(isLanding && window.IsRefusable);

    /// <summary>Whether the slot serves blocks from disk, and the reader has not needed the rest of the segment yet.</summary>
    public bool IsLent => Volatile.Read(ref _state) == Lent && !_lent!.Completion.Task.IsCompleted;

    /// <summary>Returns the state of the slot for progress displays. Callable on any thread, without a lock.</summary>
    public SlotSnapshot Snapshot()
    {
        var isReady = Volatile.Read(ref _state) is Ready or Lent;
        return new SlotSnapshot(Piece.Begin, Piece.Length, isReady, isReady ? Piece.Segment.Length : ArrivedBytes, IsRepeated, isReady ? null : Urgency.Look());
    }

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
            lent.Completion.SetCanceled();
        }

        return lent.Completion.Task;
    }

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

    public override void Withdraw() => debt?.Withdraw();

    public override void Complete(SegmentBuffer proved)
    {
        debt?.Settle(proved);
        _proved = proved;
        if (!TrySettle(Ready))
        {
            // The reader has released the slot but may have read early bytes, so offer the segment to the disk cache.
            Reads?.Offer(proved);
            _proved = null;
            proved.Release();
        }
    }

    public override void Fail(Exception failure)
    {
        debt?.FailIfOwed(failure);
        _failure = failure;
        TrySettle(Failed);
    }

    /// <summary>Called by the reader to read the bytes available now.</summary>
    /// <param name="offset">First byte in the segment.</param>
    /// <param name="stop">Offset in the segment where the response ends; the last bytes before it are withheld until verified.</param>
    /// <param name="withheld">Number of withheld bytes.</param>
    /// <param name="isFirst">Whether this read has no bytes yet. If false, the next read reports a failure, so that this one ends at the missing bytes.</param>
    /// <returns>Number of bytes read; 0 if the reader has to wait.</returns>
    /// <exception cref="IOException">The segment is unavailable, or bytes read before verification were wrong.</exception>
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
                _lent!.Completion.TrySetResult();
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

    /// <summary>Called by the reader when it no longer needs the slot, in any state. The reader then calls <see cref="ReleaseHold"/>.</summary>
    /// <returns>True if the slot may stay in its load: the load has finished, waited only for the reader, or must still verify early bytes.</returns>
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
            hasDoneWithout = _lent.Completion.TrySetCanceled() && before == Lent;
        }

        // In Claimed there is no early buffer, or the load is about to release it itself.
        if (before is Filling or Ready or Failed)
            _early?.Release();
        return before is Ready or Failed || hasDoneWithout || debt?.TryKeep(Leave) == true;
    }

    /// <summary>Ends the reader's hold or the load's; the second call notifies the window.</summary>
    public void ReleaseHold()
    {
        if (Interlocked.Decrement(ref _holders) == 0)
            window.OnSlotDrained(this);
    }

    protected override void Ended()
    {
        debt?.FailIfOwed(_failure);
        ReleaseHold();
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

    /// <summary>Blocks from disk, verified earlier, with gaps between them. The creator passes one reference.</summary>
    private sealed class LentBlocks(SegmentBuffer blocks)
    {
        public SegmentBuffer Blocks => blocks;

        /// <summary>Completes when the reader needs the missing blocks; canceled if the reader never does.</summary>
        public TaskCompletionSource Completion { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
