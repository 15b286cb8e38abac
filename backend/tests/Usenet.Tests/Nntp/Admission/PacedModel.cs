using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Bandwidth-limited pools without sockets: the real schedulers and limiters on a manual clock, with replies that take a round trip plus
/// the transfer time.
/// </summary>
internal sealed class PacedModel : IDisposable
{
    public const int ArticleBytes = 700_000;

    private static readonly MessageId Id = MessageId.Parse("a@b");

    private readonly LeaseTerms _terms = new(4, long.MaxValue, StatDepth: 100);
    private readonly List<Pool> _pools;

    /// <param name="pools">Number of providers.</param>
    /// <param name="connections">Connections per provider.</param>
    public PacedModel(int pools = 1, int connections = 10)
    {
        Limiter = new GlobalOperationLimiter(0, 80, Clock);
        Bandwidth = new BandwidthLimiter(Clock);
        _pools = [.. Enumerable.Range(0, pools).Select(_ =>
        {
            var pace = Bandwidth.Join();
            return new Pool(pace, new LeaseScheduler(Limiter, TestResources.NoQuota, pace, Clock));
        })];
        Limiter.Returned += PumpAll;
        Bandwidth.Due += PumpAll;
        Limiter.Allow(pools * connections);
        foreach (var pool in _pools)
        {
            for (var i = 0; i < connections; i++)
                pool.Scheduler.Add(new ConnectionLoad(new ModelConnection()));
        }
    }

    public ManualTimeProvider Clock { get; } = new();

    public GlobalOperationLimiter Limiter { get; }

    public BandwidthLimiter Bandwidth { get; }

    /// <summary>Sent commands with their times.</summary>
    public List<(TimeSpan At, ArticleRequest Request)> Sent { get; } = [];

    /// <summary>Completed replies with their times.</summary>
    public List<(TimeSpan At, ArticleRequest Request)> Ended { get; } = [];

    /// <summary>Bytes per second of each connection; 0 for silence.</summary>
    public double LineRate { get; set; } = 10e6;

    /// <summary>Number of bytes in a reply.</summary>
    public Func<ArticleRequest, long> Brings { get; set; } = static request => request.ExpectedBytes;

    public TimeSpan Now => TimeSpan.FromTicks(Clock.GetTimestamp());

    public bool IsPaced(int pool = 0) => _pools[pool].Scheduler.IsPaced;

    public TimeSpan PacedFor(int pool = 0) => TimeSpan.FromTicks(_pools[pool].Scheduler.PacedFor(Clock.GetTimestamp()));

    /// <summary>The last turn of the limit that the pool used; 0 before the first.</summary>
    public long Turn(int pool = 0) => _pools[pool].Pace.Turn;

    public int Lacking(int pool = 0) => _pools[pool].Scheduler.Lacking(_terms.Depth);

    public static ArticleRequest Request(OperationLane lane, object? reader = null, long bytes = ArticleBytes, bool isHeadOfLine = false) =>
        new(Id, lane, reader is null ? null : new FetchUrgency(reader, isHeadOfLine), bytes);

    /// <summary>Fetches articles without end, a given number at a time.</summary>
    public void FetchOnAndOn(ArticleRequest request, int atATime = 2, int pool = 0)
    {
        for (var i = 0; i < atATime; i++)
            Fetch(request, () => FetchOnAndOn(request, 1, pool), pool);
    }

    public ConnectionLease Fetch(ArticleRequest request, Action? ended = null, int pool = 0)
    {
        var own = _pools[pool];
        var lease = new ConnectionLease(request);
        if (own.Scheduler.TryLease(request, _terms) is { } load)
        {
            Start(own, load, request, ended);
        }
        else
        {
            own.Scheduler.Enqueue(lease);
            own.Waiting.Add(lease, ended);
        }

        Pump(own);
        return lease;
    }

    public void Withdraw(ConnectionLease lease, int pool = 0)
    {
        _pools[pool].Scheduler.Withdraw(lease);
        _pools[pool].Waiting.Remove(lease);
        Pump(_pools[pool]);
    }

    public void Run(double seconds) => Clock.Advance(TimeSpan.FromSeconds(seconds));

    /// <summary>Returns the bytes that arrived since a time, of one lane or of all.</summary>
    public long Came(TimeSpan since, OperationLane? lane = null) =>
        Ended.Where(ended => ended.At > since && (lane is null || ended.Request.Lane == lane)).Sum(ended => Brings(ended.Request));

    public void Dispose() => Bandwidth.Dispose();

    private void PumpAll() => _pools.ForEach(Pump);

    private void Pump(Pool pool) => pool.Scheduler.Serve(_terms, (waiter, load) =>
    {
        pool.Waiting.Remove(waiter, out var ended);
        Start(pool, load, waiter.Request, ended);
    });

    private void Start(Pool pool, ConnectionLoad load, ArticleRequest request, Action? ended)
    {
        Sent.Add((Now, request));
        if (LineRate <= 0)
            return;
        var takes = TimeSpan.FromMilliseconds(50) + TimeSpan.FromSeconds(Brings(request) / LineRate);
        Clock.CreateTimer(_ => End(pool, load, request, ended), null, takes, Timeout.InfiniteTimeSpan);
    }

    private void End(Pool pool, ConnectionLoad load, ArticleRequest request, Action? ended)
    {
        Ended.Add((Now, request));
        var permit = LeaseScheduler.End(load, request);
        if (request.Stats == 0 && pool.Pace.IsLimited)
            pool.Pace.Settle(request, Brings(request));
        permit?.Dispose();
        Pump(pool);
        ended?.Invoke();
    }

    private sealed record Pool(PacedPool Pace, LeaseScheduler Scheduler)
    {
        public Dictionary<LeaseWaiter, Action?> Waiting { get; } = [];
    }
}
