using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// Divides the memory for decoded bytes among the streams with a place. Each stream is guaranteed a minimum and the rest is split evenly, so a stream must
/// release any excess over its share when others enter. Nothing waits here: a segment that cannot be charged is not loaded yet.
/// </summary>
/// <remarks>
/// Thread-safe. Counts the bytes that slots may hold, from their claim until their load has ended and they are released. Read-ahead leaves part of the budget
/// free, so that the next stream need not wait for others to release memory. <see cref="StreamPlaces"/> decides how many streams enter, and acquires this lock
/// while holding its own.
/// </remarks>
internal sealed class ByteBudget
{
    private const int ReservedParts = 8;
    private const int BackgroundParts = 4;

    private readonly Lock _gate = new();
    private readonly HashSet<BudgetShare> _shares = [];
    private long _held;
    private long _background;

    // Both are written under the lock and read without it. A stale value is corrected when the last stream that entered makes all others release
    // memory.
    private volatile StreamOptions _options;
    private long _limit;

    public ByteBudget(StreamOptions options) => (_options, _limit) = (options, LimitAmong(options, 1));

    /// <summary>Bytes that all streams together hold now, or are about to hold.</summary>
    public long Held
    {
        get
        {
            lock (_gate)
                return _held;
        }
    }

    /// <summary>Applies new limits, and makes streams release memory that exceeds their new share. No stream is closed.</summary>
    public void Configure(StreamOptions options)
    {
        IReadOnlyList<Action> rich;
        lock (_gate)
        {
            _options = options;
            rich = Divide();
        }

        foreach (var giveBack in rich)
            giveBack();
    }

    public int Streams
    {
        get
        {
            lock (_gate)
                return _shares.Count;
        }
    }

    /// <summary>Adds a stream, or replaces another stream without changing any other share.</summary>
    /// <returns>Callbacks that make streams release memory above their new share. Invoke them outside all locks.</returns>
    public IReadOnlyList<Action> Enter(BudgetShare share, BudgetShare? instead = null)
    {
        lock (_gate)
        {
            if (instead is not null)
                _shares.Remove(instead);
            _shares.Add(share);
            return _limit > LimitAmong(_options, _shares.Count) ? Divide() : [];
        }
    }

    /// <summary>Removes a stream. Its charged bytes count until they are returned.</summary>
    public void Leave(BudgetShare share)
    {
        lock (_gate)
        {
            _shares.Remove(share);
            _limit = LimitAmong(_options, _shares.Count);
        }
    }

    internal long Limit(BudgetShare share)
    {
        var limit = Volatile.Read(ref _limit);
        return share.IsBackground ? Math.Min(limit, _options.ByteBudget / BackgroundParts) : limit;
    }

    /// <summary>Bytes that a playback stream could hold if it were the only one.</summary>
    internal long LimitAlone => LimitAmong(_options, 1);

    /// <summary>Charges bytes for a prefetch if the share and the budget allow it.</summary>
    internal bool TryCharge(BudgetShare share, long bytes)
    {
        lock (_gate)
        {
            var within = share.Held + bytes;
            // The guaranteed bytes may come from the reserve, which exists for them.
            var room = within <= _options.GuaranteedBytes ? _options.ByteBudget : ReadAheadOfAll(_options);
            if (within > Limit(share) || _held + bytes > room || (share.IsBackground && _background + bytes > _options.ByteBudget / BackgroundParts))
                return false;
            Add(share, bytes);
            return true;
        }
    }

    /// <summary>Charges bytes that a reader waits for. Never refused, because the reader cannot continue without them.</summary>
    internal void Charge(BudgetShare share, long bytes)
    {
        lock (_gate)
            Add(share, bytes);
    }

    internal void Return(BudgetShare share, long bytes)
    {
        lock (_gate)
            Add(share, -bytes);
    }

    // Requires _gate. Returns callbacks that make streams release memory above their share.
    private Action[] Divide()
    {
        _limit = LimitAmong(_options, _shares.Count);
        return [.. _shares.Where(share => share.Held > Limit(share)).Select(static share => share.GiveBack)];
    }

    private static long ReadAheadOfAll(StreamOptions options) => options.ByteBudget - (options.ByteBudget / ReservedParts);

    private static long LimitAmong(StreamOptions options, int streams) =>
        Math.Clamp(ReadAheadOfAll(options) / Math.Max(1, streams), options.GuaranteedBytes, Math.Max(options.ReadAhead, options.GuaranteedBytes));

    private void Add(BudgetShare share, long bytes)
    {
        _held += bytes;
        share.Held += bytes;
        if (share.IsBackground)
            _background += bytes;
    }
}

/// <summary>One stream's share of the byte budget; all background streams together get a quarter. Thread-safe.</summary>
/// <remarks>If the charge exceeds a new limit, the budget calls <paramref name="giveBack"/> on any thread. The callback must not block or throw.</remarks>
internal sealed class BudgetShare(ByteBudget budget, OperationLane lane, Action giveBack)
{
    /// <summary>Charged bytes. Guarded by the budget.</summary>
    public long Held { get; set; }

    public bool IsBackground => lane != OperationLane.Playback;

    public long Limit => budget.Limit(this);

    public int Streams => budget.Streams;

    /// <summary>Whether the limit would be higher without other streams.</summary>
    public bool IsCrowded => !IsBackground && Limit < budget.LimitAlone;

    /// <summary>Returns the cost of a segment: the total size of the blocks that hold it.</summary>
    public static long CostOf(int segmentBytes) => Math.Max(1, (segmentBytes + BlockPool.BlockSize - 1L) / BlockPool.BlockSize) * BlockPool.BlockSize;

    /// <summary>Charges a segment before a prefetch; false if the segment must not be loaded now.</summary>
    public bool TryCharge(long bytes) => budget.TryCharge(this, bytes);

    public void Charge(long bytes) => budget.Charge(this, bytes);

    public void Return(long bytes) => budget.Return(this, bytes);

    public Action GiveBack => giveBack;
}
