namespace Sluice.Usenet.Streams.Memory;

/// <summary>Lends the 64 KiB blocks that hold decoded bytes, so that steady streaming allocates none.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the free and the empty blocks and the timer; nothing is called under it. Renting never waits: how much may be in use is decided by <see cref="ByteBudget"/>, before a load begins.
/// The memory of free blocks that were not needed for a while goes back to the system. Blocks can be given back after the
/// pool was disposed, which only ends that.
/// </remarks>
public sealed class BlockPool : IDisposable
{
    /// <summary>Bytes of a block: below the large-object threshold, and eleven hold a usual part almost without waste.</summary>
    public const int BlockSize = 64 * 1024;

    // Lent and free ones together are not let go below this: 4 MiB, for the next reader's first articles.
    private const int AlwaysKept = 64;

    // What no reader has needed for so long is let go by halves. Readers that seek and stop make the need go up and down within
    // seconds, and memory that comes and goes costs more than copying what it holds.
    private static readonly TimeSpan Idleness = TimeSpan.FromSeconds(15);

    private readonly Lock _gate = new();
    private readonly Stack<byte[]> _free = new();

    // Blocks without memory, which get it again when they are written; with the others never more than were once lent at a time.
    private readonly Stack<byte[]> _empty = new();
    private readonly BlockGuard? _guard;
    private readonly ITimer _timer;
    private readonly Func<bool> _giveWay;
    private readonly int _plenty;
    private int _rented;

    // The fewest blocks that were free at a time since the timer was set.
    private int _leastFree;
    private bool _isTimed;

    /// <summary>Creates a pool.</summary>
    /// <param name="plentyBytes">Bytes of blocks beyond which none stays lent for segments that no reader holds.</param>
    /// <param name="giveWay">
    /// Called when more than that is lent: gives blocks of segments back that no reader holds, and says whether there were any. Must not block.
    /// </param>
    /// <param name="time">Clock; null for the system's.</param>
    /// <param name="misused">
    /// Called with a sentence when a block is read, written or given back by a holder that has given it back; does not return.
    /// Null: misuse is not looked for, but in Debug builds, where it is an <see cref="InvalidOperationException"/>.
    /// </param>
    public BlockPool(long plentyBytes, Func<bool>? giveWay = null, TimeProvider? time = null, Action<string>? misused = null)
    {
#if DEBUG
        misused ??= static found => throw new InvalidOperationException(found);
#endif
        _guard = misused is null ? null : new BlockGuard(misused);
        _timer = (time ?? TimeProvider.System).CreateTimer(
            static state => ((BlockPool)state!).LetIdleGo(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _plenty = (int)Math.Clamp(plentyBytes / BlockSize, 1, int.MaxValue);
        _giveWay = giveWay ?? (static () => false);
    }

    /// <summary>Blocks that are lent now.</summary>
    public int Rented => Volatile.Read(ref _rented);

    /// <summary>Blocks that wait with their memory for the next to rent one.</summary>
    public int Free
    {
        get
        {
            lock (_gate)
                return _free.Count;
        }
    }

    /// <summary>Lends a block of <see cref="BlockSize"/> bytes with arbitrary content.</summary>
    /// <param name="holder">Who gives it back; where misuse is looked for, no other holder may use it until then.</param>
    internal byte[] Rent(object holder)
    {
        Interlocked.Increment(ref _rented);
        while (Rented > _plenty && _giveWay())
        {
        }

        byte[]? block;
        bool hasMemory;
        lock (_gate)
        {
            hasMemory = _free.TryPop(out block);
            if (!hasMemory)
                _empty.TryPop(out block);
            _leastFree = Math.Min(_leastFree, _free.Count);
        }

        block ??= BlockPages.Allocate(BlockSize);
        if (!hasMemory)
            BlockPages.Populate(block);
        _guard?.Lend(block, holder);
        return block;
    }

    /// <summary>Takes a block back; its holder does not touch it again.</summary>
    internal void Return(byte[] block, object holder)
    {
        _guard?.TakeBack(block, holder);
        var left = Interlocked.Decrement(ref _rented);
        lock (_gate)
        {
            _free.Push(block);
            SetTimer();
        }

        if (left == 0)
            LetGo(Free - AlwaysKept);
    }

    /// <summary>Ends the looking for memory that is not needed.</summary>
    public void Dispose() => _timer.Dispose();

    /// <summary>By a holder that has just read from a block: where misuse is looked for, the block must be on loan to it still.</summary>
    internal void Verify(byte[] block, object holder) => _guard?.Verify(block, holder);

    private void LetIdleGo()
    {
        int idle;
        lock (_gate)
            idle = Math.Min((_leastFree + 1) / 2, _free.Count + Rented - AlwaysKept);

        LetGo(idle);
        lock (_gate)
        {
            _isTimed = false;
            SetTimer();
        }
    }

    // Under the gate.
    private void SetTimer()
    {
        if (_isTimed || _free.Count == 0 || _free.Count + Rented <= AlwaysKept)
            return;
        _isTimed = true;
        _leastFree = _free.Count;
        _timer.Change(Idleness, Timeout.InfiniteTimeSpan);
    }

    // Each call into the system is made outside the gate, so that a caller that rents never waits for many of them.
    private void LetGo(int count)
    {
        for (; count > 0; count--)
        {
            byte[]? block;
            lock (_gate)
            {
                if (!_free.TryPop(out block))
                    return;
                _leastFree = Math.Min(_leastFree, _free.Count);
            }

            _guard?.Forget(block);
            if (!BlockPages.TryGiveBack(block))
                continue;
            lock (_gate)
                _empty.Push(block);
        }
    }
}
