using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// Shares the memory for decoded bytes among the streams: each is guaranteed a minimum, the rest is split evenly, and a stream loses again
/// what it has beyond its share when other streams are opened. No caller waits in here: a segment that cannot be charged is not loaded yet.
/// </summary>
/// <remarks>
/// Thread-safe. Counts what slots may come to hold, from their claim until their load has ended and they are given back.
/// Part of the budget is kept free by all streams that read ahead, so that the next stream need not wait until they have given back.
/// One budget serves every engine of the process: streams of an engine that was replaced count until they end.
/// </remarks>
internal sealed class ByteBudget
{
    private const int ReservedParts = 8;
    private const int BackgroundParts = 4;

    private readonly Lock _gate = new();
    private readonly List<BudgetShare> _shares = [];
    private long _held;
    private long _background;

    // Both are written under the lock and read without it. A value from before the last stream was opened is corrected when the opening has
    // all others give back.
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
        List<BudgetShare> rich;
        lock (_gate)
        {
            _options = options;
            rich = Divide();
        }

        foreach (var other in rich)
            other.GiveBack();
    }

    /// <summary>Streams admitted now that were opened by this engine, compared by reference.</summary>
    public int StreamsOf(object engine)
    {
        lock (_gate)
            return _shares.Count(share => ReferenceEquals(share.Engine, engine));
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

    /// <summary>Admits one more stream, and has those give back that hold more than their share from now on.</summary>
    /// <param name="lane">Why it reads: all streams of the background together have a quarter of the budget.</param>
    /// <param name="engine">The engine that opens it; null where <see cref="StreamsOf"/> is not asked for.</param>
    /// <param name="giveBack">Called when the share has shrunk below what is held, on any thread; must not block or throw.</param>
    /// <returns>The stream's share; disposing it ends the stream.</returns>
    /// <exception cref="StreamLimitException">There are as many as the budget can guarantee memory to.</exception>
    public BudgetShare Enter(OperationLane lane, object? engine, Action giveBack)
    {
        var share = new BudgetShare(this, lane, engine, giveBack);
        List<BudgetShare> rich;
        lock (_gate)
        {
            if (_shares.Count >= _options.MaxStreams)
                throw new StreamLimitException(_options.MaxStreams);
            _shares.Add(share);
            rich = Divide();
        }

        foreach (var other in rich)
            other.GiveBack();
        return share;
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

    internal void Leave(BudgetShare share)
    {
        lock (_gate)
        {
            _shares.Remove(share);
            _limit = LimitAmong(_options, _shares.Count);
        }
    }

    // Under the lock. Returns the streams that hold more than their share now.
    private List<BudgetShare> Divide()
    {
        _limit = LimitAmong(_options, _shares.Count);
        return _shares.FindAll(share => share.Held > Limit(share));
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
/// <remarks>Thread-safe. Disposed when nothing is charged any more.</remarks>
internal sealed class BudgetShare(ByteBudget budget, OperationLane lane, object? engine, Action giveBack) : IDisposable
{
    /// <summary>Bytes charged. Guarded by the budget.</summary>
    public long Held { get; set; }

    /// <summary>The engine that opened the stream.</summary>
    public object? Engine => engine;

    /// <summary>Whether no viewer waits for the bytes.</summary>
    public bool IsBackground => lane != OperationLane.Playback;

    /// <summary>Bytes that the stream may hold now.</summary>
    public long Limit => budget.Limit(this);

    /// <summary>Streams that share the memory, this one included.</summary>
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

    /// <summary>By the budget: there is more charged than the limit is now.</summary>
    public void GiveBack() => giveBack();

    /// <inheritdoc/>
    public void Dispose() => budget.Leave(this);
}
