using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// Shares the memory for decoded bytes among the streams that have a place: each is guaranteed a minimum, the rest is split evenly, and a
/// stream loses again what it has beyond its share when others enter. No caller waits in here: a segment that cannot be charged is not loaded yet.
/// </summary>
/// <remarks>
/// Thread-safe. Counts what slots may come to hold, from their claim until their load has ended and they are given back.
/// Part of the budget is kept free by all streams that read ahead, so that the next stream need not wait until they have given back.
/// <see cref="StreamPlaces"/> decides how many streams enter, and takes this lock below its own.
/// </remarks>
internal sealed class ByteBudget
{
    private const int ReservedParts = 8;
    private const int BackgroundParts = 4;

    private readonly Lock _gate = new();
    private readonly HashSet<BudgetShare> _shares = [];
    private long _held;
    private long _background;

    // Both are written under the lock and read without it. A value from before the last stream entered is corrected when that has all
    // others give back.
    private volatile StreamOptions _options;
    private long _limit;

    public ByteBudget(StreamOptions options) => (_options, _limit) = (options, LimitAmong(options, 1));

    /// <summary>Bytes that all streams together hold now, or are about to.</summary>
    public long Held
    {
        get
        {
            lock (_gate)
                return _held;
        }
    }

    /// <summary>Shares other amounts from now on, and has those streams give back that hold more than their share then. No stream is closed.</summary>
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

    /// <summary>Streams that share the memory now.</summary>
    public int Streams
    {
        get
        {
            lock (_gate)
                return _shares.Count;
        }
    }

    /// <summary>One more stream shares the memory, or one instead of another, which leaves the shares of all others as they are.</summary>
    /// <returns>Has those streams give back that hold more than their share from now on; to be called outside of all locks.</returns>
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

    /// <summary>A stream has none of it any more; what it still has charged counts until it is given back.</summary>
    public void Leave(BudgetShare share)
    {
        lock (_gate)
        {
            _shares.Remove(share);
            _limit = LimitAmong(_options, _shares.Count);
        }
    }

    /// <summary>Bytes that a stream may hold now.</summary>
    internal long Limit(BudgetShare share)
    {
        var limit = Volatile.Read(ref _limit);
        return share.IsBackground ? Math.Min(limit, _options.ByteBudget / BackgroundParts) : limit;
    }

    /// <summary>Bytes that a stream of playback could hold if there were no other.</summary>
    internal long LimitAlone => LimitAmong(_options, 1);

    /// <summary>Counts bytes that are about to be loaded ahead, if they are within the share and there is room for them.</summary>
    internal bool TryCharge(BudgetShare share, long bytes)
    {
        lock (_gate)
        {
            var within = share.Held + bytes;
            // The guaranteed bytes may come out of the reserve, which is there for them.
            var room = within <= _options.GuaranteedBytes ? _options.ByteBudget : ReadAheadOfAll(_options);
            if (within > Limit(share) || _held + bytes > room || (share.IsBackground && _background + bytes > _options.ByteBudget / BackgroundParts))
                return false;
            Add(share, bytes);
            return true;
        }
    }

    /// <summary>Counts bytes that a reader waits for: these are loaded however much is held.</summary>
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

    // Under the lock. Has those streams give back that hold more than their share now.
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

/// <summary>One stream's part of the byte budget.</summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="budget">The budget.</param>
/// <param name="lane">Why the stream reads: all streams of the background together have a quarter of the budget.</param>
/// <param name="giveBack">Called when there is more charged than the limit is now, on any thread; must not block or throw.</param>
internal sealed class BudgetShare(ByteBudget budget, OperationLane lane, Action giveBack)
{
    /// <summary>Bytes charged. Guarded by the budget.</summary>
    public long Held { get; set; }

    /// <summary>Whether no viewer waits for the bytes.</summary>
    public bool IsBackground => lane != OperationLane.Playback;

    /// <summary>Bytes that the stream may hold now.</summary>
    public long Limit => budget.Limit(this);

    /// <summary>Streams that share the memory.</summary>
    public int Streams => budget.Streams;

    /// <summary>Whether it would be more if there were no other stream.</summary>
    public bool IsCrowded => !IsBackground && Limit < budget.LimitAlone;

    /// <summary>What a segment costs: the blocks that hold it.</summary>
    public static long CostOf(int segmentBytes) => Math.Max(1, (segmentBytes + BlockPool.BlockSize - 1L) / BlockPool.BlockSize) * BlockPool.BlockSize;

    /// <summary>Charges a segment that is to be loaded ahead.</summary>
    /// <returns>False when it must not be loaded now.</returns>
    public bool TryCharge(long bytes) => budget.TryCharge(this, bytes);

    /// <summary>Charges a segment that the reader waits for.</summary>
    public void Charge(long bytes) => budget.Charge(this, bytes);

    /// <summary>Gives back what was charged.</summary>
    public void Return(long bytes) => budget.Return(this, bytes);

    /// <summary>For the budget: there is more charged than the limit is now.</summary>
    public Action GiveBack => giveBack;
}
