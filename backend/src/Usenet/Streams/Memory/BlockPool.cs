namespace Sluice.Usenet.Streams.Memory;

/// <summary>Lends the 64 KiB blocks that hold decoded bytes, so that steady streaming allocates none.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the free and the empty blocks and the timer; nothing is called while it is held. Renting never waits, because
/// <see cref="ByteBudget"/> limits use before a load begins. Free blocks return their memory to the system after a while without use. Disposal only stops that;
/// blocks can still be returned afterwards.
/// </remarks>
public sealed class BlockPool : IDisposable
{
    /// <summary>Block size: below the large-object threshold, and eleven blocks hold a typical part with little waste.</summary>
    public const int BlockSize = 64 * 1024;

    // Lent and free blocks together never drop below this: 4 MiB, for the first articles of the next reader.
    private const int AlwaysKept = 64;

    // Blocks that stay free for a whole period are released, so memory use follows lower demand within two periods. Demand changes within seconds as readers
    // seek and stop, and getting memory back costs more than copying its content.
    private static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(5);

    private readonly Lock _gate = new();
    private readonly Stack<byte[]> _free = new();

    // Blocks whose memory was released; renting a block populates it again. Free, empty and lent blocks together never exceed the peak number lent.
    private readonly Stack<byte[]> _empty = new();
    private readonly BlockGuard? _guard;
    private readonly ITimer _timer;
    private readonly Func<bool> _giveWay;
    private readonly int _plenty;
    private int _rented;

    // Minimum number of free blocks since the timer was set.
    private int _leastFree;
    private bool _isTimed;

    /// <param name="plentyBytes">Bytes of lent blocks above which segments without a reader lose their blocks.</param>
    /// <param name="giveWay">Called above that limit: frees the blocks of a segment without a reader; false if there is none. Must not block.</param>
    /// <param name="misused">
    /// Called with a description when a holder uses or returns a block that it has returned before; must not return. If null, misuse is detected only
    /// in Debug builds, which throw <see cref="InvalidOperationException"/>.
    /// </param>
    public BlockPool(long plentyBytes, Func<bool>? giveWay = null, TimeProvider? time = null, Action<string>? misused = null)
    {
#if DEBUG
        misused ??= static found => throw new InvalidOperationException(found);
#endif
        _guard = misused is null ? null : new BlockGuard(misused);
        _timer = (time ?? TimeProvider.System).CreateTimer(
            static state => ((BlockPool)state!).ReleaseIdle(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _plenty = (int)Math.Clamp(plentyBytes / BlockSize, 1, int.MaxValue);
        _giveWay = giveWay ?? (static () => false);
    }

    public int Rented => Volatile.Read(ref _rented);

    /// <summary>Free blocks that still have memory.</summary>
    public int Free
    {
        get
        {
            lock (_gate)
                return _free.Count;
        }
    }

    /// <summary>Lends a block of <see cref="BlockSize"/> bytes with arbitrary content, to be returned by the same holder.</summary>
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

    /// <summary>Takes a block back; its holder must not touch it again.</summary>
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
            ReleaseMemory(Free - AlwaysKept);
    }

    public void Dispose() => _timer.Dispose();

    /// <summary>Called by a holder after it has read a block. With misuse detection, checks that the block is still on loan to the holder.</summary>
    internal void Verify(byte[] block, object holder) => _guard?.Verify(block, holder);

    private void ReleaseIdle()
    {
        int idle;
        lock (_gate)
            idle = Math.Min(_leastFree, _free.Count + Rented - AlwaysKept);

        ReleaseMemory(idle);
        lock (_gate)
        {
            _isTimed = false;
            SetTimer();
        }
    }

    // Requires _gate.
    private void SetTimer()
    {
        if (_isTimed || _free.Count == 0 || _free.Count + Rented <= AlwaysKept)
            return;
        _isTimed = true;
        _leastFree = _free.Count;
        _timer.Change(IdleTime, Timeout.InfiniteTimeSpan);
    }

    // Calls the system outside _gate, so that renting never waits for many calls.
    private void ReleaseMemory(int count)
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
