using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Shares the memory for decoded bytes among the streams: each is guaranteed a minimum, what is left is split evenly, and what a
/// stream has beyond its share it loses again when others come. Nobody waits in here: what cannot be had now is not fetched yet.
/// </summary>
/// <remarks>
/// Thread-safe. Counts what slots may come to hold, from their claim until their fetch has ended and they are given back.
/// Part of the budget is kept free by all who read ahead, so that whoever comes next need not wait until they have given back.
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

    // Both are written under the lock and read without it; what is one stream old is corrected when the newcomer has all others give back.
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

    /// <summary>Shares other amounts from now on, and has those give back that hold more than is theirs then. Nobody is turned out.</summary>
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

    /// <summary>Streams admitted now that read by way of this fetcher, which is one for each engine.</summary>
    public int StreamsOf(SegmentFetcher fetcher)
    {
        lock (_gate)
            return _shares.Count(share => share.Fetcher == fetcher);
    }

    /// <summary>Admits one more stream, and has those give back that hold more than is theirs from now on.</summary>
    /// <param name="lane">Why it reads: what reads in the background has a quarter of the budget together.</param>
    /// <param name="fetcher">What it reads by way of; null where nobody asks for <see cref="StreamsOf"/>.</param>
    /// <param name="giveBack">Called when the share has shrunk below what is held, on any thread; must not block or throw.</param>
    /// <returns>The stream's share; disposing it ends the stream.</returns>
    /// <exception cref="StreamLimitException">There are as many as the budget can guarantee memory to.</exception>
    public BudgetShare Enter(OperationLane lane, SegmentFetcher? fetcher, Action giveBack)
    {
        var share = new BudgetShare(this, lane, fetcher, giveBack);
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

    /// <summary>Counts bytes that are about to be fetched ahead, if they are within the share and there is room for them.</summary>
    internal bool TryCharge(BudgetShare share, long bytes)
    {
        lock (_gate)
        {
            var within = share.Held + bytes;
            // What is guaranteed may come out of the reserve, which is there for this.
            var room = within <= _options.GuaranteedBytes ? _options.ByteBudget : ReadAheadOfAll(_options);
            if (within > Limit(share) || _held + bytes > room || (share.IsBackground && _background + bytes > _options.ByteBudget / BackgroundParts))
                return false;
            Add(share, bytes);
            return true;
        }
    }

    /// <summary>Counts bytes that a reader waits for: these are fetched whatever is held.</summary>
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

    // Guarded by the lock. Returns who holds more than is his now.
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
