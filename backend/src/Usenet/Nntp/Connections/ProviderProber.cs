using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// Probes a failing provider as soon as its cooldown ends, so that its recovery is noticed even without traffic, and no reader's fetch has to be the probe.
/// Idle while all breakers are closed.
/// </summary>
/// <remarks>Thread-safe. Dispose cancels a running probe and waits for it.</remarks>
internal sealed class ProviderProber : IAsyncDisposable
{
    private static readonly TimeSpan Soonest = TimeSpan.FromSeconds(1);

    private readonly NntpConnectionPool _pool;
    private readonly CancellationTokenSource _disposing = new();
    private readonly TaskSet _probes = new();
    private readonly ITimer _timer;

    public ProviderProber(NntpConnectionPool pool, TimeProvider time)
    {
        _pool = pool;
        _timer = time.CreateTimer(static state => ((ProviderProber)state!).Begin(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Health.Dials.Opened += Arm;
        Health.Bodies.Opened += Arm;
        Health.Stats.Opened += Arm;
        Health.Bodies.Opened += pool.SendAway;
        if (!IsWell)
            Arm();
    }

    private ProviderHealth Health => _pool.Health;

    public async ValueTask DisposeAsync()
    {
        Health.Dials.Opened -= Arm;
        Health.Bodies.Opened -= Arm;
        Health.Stats.Opened -= Arm;
        Health.Bodies.Opened -= _pool.SendAway;
        await _disposing.CancelAsync();
        await _timer.DisposeAsync();
        await _probes.WhenAllAsync();
        _disposing.Dispose();
    }

    private void Arm()
    {
        if (_disposing.IsCancellationRequested || _pool.IsDisabled)
            return;
        var rest = Health.Dials.State == BreakerState.Closed ? SoonestProbe : Health.Dials.Rest;
        _timer.Change(rest > Soonest ? rest : Soonest, Timeout.InfiniteTimeSpan);
    }

    // Time until the next probe of the breakers for bodies and STAT. A closed breaker does not count.
    private TimeSpan SoonestProbe
    {
        get
        {
            var (bodies, stats) = (Health.Bodies.Rest, Health.Stats.Rest);
            if (Health.Stats.State == BreakerState.Closed)
                return bodies;
            return Health.Bodies.State == BreakerState.Closed || stats < bodies ? stats : bodies;
        }
    }

    private bool IsWell =>
        Health.Dials.State == BreakerState.Closed && Health.Bodies.State == BreakerState.Closed && Health.Stats.State == BreakerState.Closed;

    private void Begin() => _probes.Add(ProbeAsync());

    private async Task ProbeAsync()
    {
        await Task.Yield();
        try
        {
            if (Health.Dials.State != BreakerState.Closed)
                await _pool.ProbeAsync(_disposing.Token);
            else
                await AskAsync();
        }
        catch (Exception error) when (error is NntpException or OperationCanceledException)
        {
            // The breaker and the pool have recorded the failure.
        }

        if (!IsWell)
            Arm();
    }

    /// <summary>Requests an article that the provider delivered before. If there is no such article, the next prefetch is the probe.</summary>
    private async Task AskAsync()
    {
        if (Health.LastDelivered is not { IsEmpty: false } id)
            return;
        using (var probe = Health.Bodies.TryProbe())
        {
            if (probe is not null)
                await FetchAsync(id, probe);
        }

        using (var probe = Health.Stats.TryProbe())
        {
            if (probe is not null)
                await StatAsync(id, probe);
        }
    }

    private async Task FetchAsync(MessageId id, BreakerProbe probe)
    {
        using var lease = new ConnectionLease(new ArticleRequest(id, OperationLane.HealthCheck) { IsProbe = true });
        await _pool.LeaseAsync(lease, _disposing.Token);
        try
        {
            if (!(await lease.FetchAsync(new DroppedBody(), _disposing.Token)).IsMiss)
                probe.Passed();
        }
        catch (NntpException failure)
        {
            probe.Failed(failure);
        }
    }

    private async Task StatAsync(MessageId id, BreakerProbe probe)
    {
        var batch = new StatBatch(new[] { id }, OperationLane.HealthCheck);
        using var lease = new ConnectionLease(batch.Request);
        await _pool.LeaseAsync(lease, _disposing.Token);
        try
        {
            // A miss counts as success, because it shows that the server responds.
            await lease.AskAsync(batch, _disposing.Token);
            probe.Passed();
        }
        catch (NntpException failure)
        {
            probe.Failed(failure);
        }
    }

    /// <summary>Discards a body and only looks for its end.</summary>
    private sealed class DroppedBody : IArticleSink
    {
        private BodyScanner _scanner = BodyScanner.AtStart;

        public void Start(int provider) => _scanner = BodyScanner.AtStart;

        public bool Write(ReadOnlySpan<byte> raw, out int consumed) => _scanner.Scan(raw, out consumed);
    }
}
