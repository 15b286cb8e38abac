namespace Sluice.Usenet.Nntp;

/// <summary>
/// The leases of one pool that have been asked for: who waits, until when, and who has been answered and not told yet. An answer
/// is given under the lock of the pool and told outside of it, because what a fetch does next takes locks of its own.
/// </summary>
/// <remarks>Guarded by the lock of the pool but for <see cref="Tell"/>.</remarks>
internal sealed class PoolLeases : IDisposable
{
    private readonly LeaseScheduler _scheduler;
    private readonly SharedResources _shared;
    private readonly LeaseDeadline _deadline;
    private readonly Action<ConnectionLease, ConnectionLoad> _grant;

    // Answered and not told, oldest first.
    private ConnectionLease? _firstSettled;
    private ConnectionLease? _lastSettled;

    /// <param name="scheduler">Decides.</param>
    /// <param name="shared">Deadlines and the clock.</param>
    /// <param name="expire">Called when a deadline has come, under no lock: takes the lock and calls <see cref="RefuseOverdue"/>.</param>
    public PoolLeases(LeaseScheduler scheduler, SharedResources shared, Func<long, long?> expire)
    {
        (_scheduler, _shared) = (scheduler, shared);
        _deadline = new LeaseDeadline(shared.Time, expire);
        _grant = Grant;
    }

    /// <summary>Grants a lease at once, or has it wait.</summary>
    /// <returns>Whether it is held.</returns>
    public bool TryLease(ConnectionLease lease, NntpConnectionPool pool, in ArticleRequest request, LeaseTerms terms)
    {
        // Fetches ahead wait for their turn behind a slow line; nobody misses them before they are raised.
        var patience = request.Urgency?.IsHeadOfLine == false ? _shared.Options.AheadTimeout : _shared.Options.LeaseTimeout;
        var now = _shared.Time.GetTimestamp();
        lease.Begin(pool, _shared.Meter, request, now, now + Ticks(patience));
        if (_scheduler.TryLease(request, terms) is { } load)
        {
            lease.Grant(load.Connection, now, _scheduler.Bytes);
            return true;
        }

        _scheduler.Enqueue(lease);
        Watch(lease, now);
        return false;
    }

    /// <summary>A reader has come to wait for the article: from now on the wait may be too long.</summary>
    public void Raise(ConnectionLease lease)
    {
        _scheduler.Raise(lease);
        if (lease.Place.List is not null)
            Watch(lease, _shared.Time.GetTimestamp());
    }

    /// <summary>Grants leases to whoever can be served.</summary>
    public void Serve(LeaseTerms terms) => _scheduler.Serve(terms, _grant);

    /// <summary>A lease is not wanted any more.</summary>
    /// <returns>False when its wait has ended before.</returns>
    public bool Withdraw(ConnectionLease lease, CancellationToken cancelled)
    {
        if (!_scheduler.Withdraw(lease))
            return false;
        lease.GiveUp(cancelled);
        Settled(lease);
        return true;
    }

    /// <summary>Ends all waiting.</summary>
    public void RefuseAll(NntpException failure)
    {
        foreach (var lease in _scheduler.AllWaiting())
            Refuse(lease, failure);
    }

    /// <summary>Ends the waits of those that want a body. What is asked about articles waits on.</summary>
    public void RefuseBodies(NntpException failure)
    {
        foreach (var lease in _scheduler.AllWaiting())
        {
            if (lease.Request.Stats == 0)
                Refuse(lease, failure);
        }
    }

    /// <summary>Ends the waits that have lasted too long.</summary>
    /// <param name="now">In ticks of the time provider.</param>
    /// <param name="late">Takes the fetches of readers that still wait, to be told so outside of the lock.</param>
    /// <returns>When to look again; null while nothing waits.</returns>
    public long? RefuseOverdue(long now, List<IPendingFetch> late)
    {
        long? next = null;
        foreach (var lease in _scheduler.AllWaiting())
        {
            if (lease.Deadline <= now)
            {
                Refuse(lease, new NntpException(NntpFault.NoConnection, "No connection became free in time."));
                continue;
            }

            if (lease.LateAt <= now)
            {
                late.Add(lease.Fetch!);
                lease.Watch(now + Ticks(_shared.Options.HedgeWait));
            }

            if (next is null || lease.DueAt < next)
                next = lease.DueAt;
        }

        return next;
    }

    /// <summary>Takes out those that have been answered.</summary>
    /// <returns>The first of them, or null.</returns>
    public ConnectionLease? TakeSettled()
    {
        var first = _firstSettled;
        _firstSettled = _lastSettled = null;
        return first;
    }

    /// <summary>Tells those that were taken out.</summary>
    /// <param name="first">As taken.</param>
    /// <param name="inline">Whether they may go on in here, because the caller holds no lock.</param>
    public static void Tell(ConnectionLease? first, bool inline)
    {
        while (first is not null)
        {
            // Once told, it may be asked for again at once.
            var next = first.NextSettled;
            first.NextSettled = null;
            first.Settle(inline);
            first = next;
        }
    }

    public void Dispose() => _deadline.Dispose();

    private void Watch(ConnectionLease lease, long now)
    {
        if (_shared.Options.HedgeEnabled)
            lease.Watch(now + Ticks(_shared.Options.HedgeWait));
        _deadline.Arm(lease.DueAt);
    }

    private long Ticks(TimeSpan span) => (long)(span.TotalSeconds * _shared.Time.TimestampFrequency);

    private void Grant(ConnectionLease lease, ConnectionLoad load)
    {
        lease.Grant(load.Connection, _shared.Time.GetTimestamp(), _scheduler.Bytes);
        Settled(lease);
    }

    private void Refuse(ConnectionLease lease, NntpException failure)
    {
        _scheduler.Withdraw(lease);
        lease.Refuse(failure);
        Settled(lease);
    }

    private void Settled(ConnectionLease lease)
    {
        if (_lastSettled is null)
            _firstSettled = lease;
        else
            _lastSettled.NextSettled = lease;
        _lastSettled = lease;
    }
}
