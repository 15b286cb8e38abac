using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Pools without sockets on a model clock: the real scheduler and limiter with simulated command durations.</summary>
internal sealed class SchedulerModel
{
    private static readonly MessageId Id = MessageId.Parse("a@b");

    private readonly ModelClock _clock = new();
    private readonly LeaseTerms _terms;
    private readonly double _lineRate;
    private long _lineFree;

    /// <param name="pools">Number of providers.</param>
    /// <param name="capacity">Permits; 0 if the limiter is configured later.</param>
    /// <param name="depth">Maximum commands in flight per connection.</param>
    /// <param name="lineRate">Bytes per second of the line that all connections share; 0 if each has its own.</param>
    public SchedulerModel(int pools, int capacity, int depth = 4, double lineRate = 0)
    {
        _lineRate = lineRate;
        _terms = new LeaseTerms(depth, long.MaxValue, StatDepth: 100);
        Limiter = new GlobalOperationLimiter(capacity, 80, _clock);
        Pools = [.. Enumerable.Range(0, pools).Select(_ => new Pool(new LeaseScheduler(Limiter, TestResources.NoQuota, new BandwidthLimiter(_clock).Join(), _clock)))];
        Limiter.Returned += () => Pools.ForEach(Pump);
    }

    public GlobalOperationLimiter Limiter { get; }

    public List<Pool> Pools { get; }

    /// <summary>Waiting fetches with their pools.</summary>
    public List<(Pool Pool, ConnectionLease Waiter)> Waiting { get; } = [];

    /// <summary>Requests in the order in which they got a connection.</summary>
    public List<ArticleRequest> Granted { get; } = [];

    /// <summary>Time from a command to the first byte of its reply.</summary>
    public TimeSpan RoundTrip { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Bytes of completed replies.</summary>
    public long Delivered { get; private set; }

    public TimeSpan Now => TimeSpan.FromTicks(_clock.Ticks);

    public static ArticleRequest Request(OperationLane lane, object? reader = null, long bytes = 700_000, bool isHeadOfLine = false, int following = 0) =>
        new(Id, lane, reader is null ? null : new FetchUrgency(reader, isHeadOfLine) { Following = following }, bytes);

    public void Advance(TimeSpan span) => _clock.Ticks += span.Ticks;

    public void Open(Pool pool)
    {
        pool.Scheduler.Add(new ConnectionLoad(new ModelConnection()));
        Pump(pool);
    }

    public void Fetch(Pool pool, ArticleRequest request)
    {
        if (pool.Scheduler.TryLease(request, _terms) is { } load)
        {
            Start(load, pool, request);
            return;
        }

        var waiter = new ConnectionLease(request);
        pool.Scheduler.Enqueue(waiter);
        Waiting.Add((pool, waiter));
    }

    public void Raise(int index)
    {
        var (pool, waiter) = Waiting[index];
        waiter.Request.Urgency?.Raise();
        pool.Scheduler.Raise(waiter);
        Pump(pool);
    }

    public void Withdraw(int index)
    {
        var (pool, waiter) = Waiting[index];
        Waiting.RemoveAt(index);
        if (pool.Scheduler.Withdraw(waiter))
            Pump(pool);
    }

    /// <summary>Drops a connection with all its outstanding replies.</summary>
    public void Kill(Pool pool, ConnectionLoad load)
    {
        pool.Scheduler.Remove(load);
        pool.Running.RemoveAll(running => running.Load == load);
        load.TakePermit()?.Dispose();
        Pump(pool);
    }

    /// <summary>Completes the reply that ends next.</summary>
    /// <returns>False if no command is in flight.</returns>
    public bool Step()
    {
        if (Pools.SelectMany(pool => pool.Running).OrderBy(running => running.EndsAt).FirstOrDefault() is not { } next)
            return false;
        _clock.Ticks = Math.Max(_clock.Ticks, next.EndsAt);
        next.Pool.Running.Remove(next);
        var permit = LeaseScheduler.End(next.Load, next.Request);
        next.Pool.Scheduler.Measure(next.Request.ExpectedBytes, TimeSpan.FromTicks(_clock.Ticks - next.LeasedAt), next.Outstanding);
        Delivered += next.Request.ExpectedBytes;
        permit?.Dispose();
        Pump(next.Pool);
        return true;
    }

    /// <summary>Checks the invariants of permits and connections between two events.</summary>
    public void Check()
    {
        foreach (var lane in Enum.GetValues<OperationLane>())
        {
            var busy = Pools.Sum(pool => pool.Scheduler.Open.Count(load => load.Commands > 0 && load.Lane == lane));
            Assert.Equal(busy, Limiter.InUse(lane));
        }

        Assert.True(Enum.GetValues<OperationLane>().Sum(Limiter.InUse) <= Limiter.Capacity);
        foreach (var pool in Pools)
        {
            Assert.Equal(Waiting.Count(waiting => waiting.Pool == pool), pool.Scheduler.Waiting);
            foreach (var load in pool.Scheduler.Open)
            {
                var running = pool.Running.Where(running => running.Load == load).ToList();
                Assert.Equal((running.Count, running.Sum(r => r.Request.ExpectedBytes)), (load.Commands, load.Bytes));
                Assert.InRange(load.Commands, 0, _terms.Depth);
                Assert.All(running, r => Assert.Equal(load.Lane, r.Request.Lane));
            }
        }
    }

    private void Pump(Pool pool) => pool.Scheduler.Serve(_terms, (waiter, load) =>
    {
        Waiting.RemoveAll(waiting => waiting.Waiter == waiter);
        Start(load, pool, waiter.Request);
    });

    // A round trip, then 10 MB/s for each connection or the line rate for all, one reply after the other.
    private void Start(ConnectionLoad load, Pool pool, ArticleRequest request)
    {
        var before = pool.Running.Where(running => running.Load == load).Select(running => running.EndsAt).DefaultIfEmpty(0).Max();
        var begins = Math.Max(_lineRate > 0 ? _lineFree : before, _clock.Ticks + RoundTrip.Ticks);
        var ends = begins + TimeSpan.FromSeconds(request.ExpectedBytes / (_lineRate > 0 ? _lineRate : 1e7)).Ticks;
        _lineFree = ends;
        pool.Running.Add(new Running(pool, load, request, ends, _clock.Ticks, pool.Scheduler.Bytes));
        Granted.Add(request);
    }

    internal sealed record Pool(LeaseScheduler Scheduler)
    {
        public List<Running> Running { get; } = [];
    }

    internal sealed record Running(Pool Pool, ConnectionLoad Load, ArticleRequest Request, long EndsAt, long LeasedAt, long Outstanding);

    private sealed class ModelClock : TimeProvider
    {
        public long Ticks { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Ticks;
    }
}

/// <summary>A connection that is never late.</summary>
internal sealed class ModelConnection : ILeasedConnection
{
    public object Identity { get; } = new();

    public bool IsLate => false;
}
