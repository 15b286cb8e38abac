using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// The waits of one pool: their deadlines, the notices about long waits, and the ended waits. A wait ends under the lock of the pool, but its owner is notified
/// outside of it, because the fetch then takes its own locks.
/// </summary>
/// <remarks>Used under the lock of the pool, except <see cref="Report"/>.</remarks>
internal sealed class LeaseWaits(LeaseScheduler scheduler, SharedAdmission shared, DeadlineTimer timer)
{
    // Waits that have ended and whose owners have not been notified yet, oldest first.
    private LeaseWaiter? _firstEnded;
    private LeaseWaiter? _lastEnded;

    // Allocated once, because every reply serves the waiters.
    private Action<LeaseWaiter, ConnectionLoad>? _grant;

    /// <summary>Grants a connection at once if the gates let the command pass; otherwise its wait begins, and false is returned.</summary>
    public bool TryGrant(LeaseWaiter waiter, LeaseTerms terms)
    {
        if (scheduler.TryLease(waiter.Request, terms) is not { } load)
        {
            Begin(waiter);
            return false;
        }

        waiter.Grant(load, shared.Time.GetTimestamp(), scheduler.Bytes);
        return true;
    }

    public void Raise(LeaseWaiter waiter)
    {
        scheduler.Raise(waiter);
        if (waiter.Class is not null)
            Watch(waiter);
    }

    /// <summary>Grants connections to all waiters that the gates let pass.</summary>
    public void Serve(LeaseTerms terms)
    {
        var wasPaced = scheduler.IsPaced;
        scheduler.Serve(terms, _grant ??= Grant);

        // The waits count time again, so the timer must check their deadlines.
        if (wasPaced && !scheduler.IsPaced && scheduler.Waiting > 0)
            timer.Arm(TimeSpan.Zero);
    }

    /// <returns>False if the wait has already ended.</returns>
    public bool Withdraw(LeaseWaiter waiter, CancellationToken cancelled)
    {
        if (!scheduler.Withdraw(waiter))
            return false;
        waiter.Refuse(new OperationCanceledException(cancelled));
        Ended(waiter);
        return true;
    }

    /// <summary>Ends the waits for bodies and, with <paramref name="withStats"/>, for STAT replies.</summary>
    public void RefuseAll(NntpException failure, bool withStats = true)
    {
        foreach (var waiter in scheduler.AllWaiting())
        {
            if (withStats || waiter.Request.Stats == 0)
                Refuse(waiter, failure);
        }
    }

    /// <summary>Ends the waits for articles that no longer fit into the data cap, because no reply can make room for them.</summary>
    public void RefuseSpent(QuotaGate quota)
    {
        foreach (var waiter in scheduler.AllWaiting())
        {
            if (quota.StateFor(waiter.Request) == QuotaState.Spent)
                Refuse(waiter, QuotaGate.Reached());
        }
    }

    /// <summary>Ends the waits that have expired.</summary>
    /// <returns>The long waits, to be notified by <see cref="LeaseWaiter.OnLongWait"/> under no lock.</returns>
    public List<LeaseWaiter> Check()
    {
        var late = new List<LeaseWaiter>();
        var now = scheduler.WaitTime;
        foreach (var waiter in scheduler.AllWaiting())
        {
            if (waiter.Deadline <= now)
            {
                Refuse(waiter, new NntpException(NntpFault.NoConnection, "No connection became free in time."));
                continue;
            }

            if (waiter.LateAt <= now)
            {
                late.Add(waiter);
                waiter.LateAt = After(now, shared.Options.HedgeWait);
            }

            // No wait expires while bandwidth pacing suspends them. The timer is armed again when they resume.
            if (!scheduler.IsPaced)
                timer.Arm(RestUntil(Math.Min(waiter.Deadline, waiter.LateAt)));
        }

        return late;
    }

    /// <summary>Takes the waits that have ended since the last call, as the first of a linked list; null if none.</summary>
    public LeaseWaiter? TakeEnded()
    {
        var first = _firstEnded;
        _firstEnded = _lastEnded = null;
        return first;
    }

    /// <summary>Notifies the owners of ended waits. Called under no lock of the pool.</summary>
    /// <param name="first">From <see cref="TakeEnded"/>.</param>
    /// <param name="inline">Whether fetches may continue in this call, because the caller holds no lock.</param>
    public static void Report(LeaseWaiter? first, NntpMeter meter, bool inline)
    {
        while (first is not null)
        {
            var next = first.Next;
            first.Next = null;
            first.Settle(meter, inline);
            first = next;
        }
    }

    private void Begin(LeaseWaiter waiter)
    {
        // Prefetches may wait longer on a slow line, because no reader misses them before they are raised.
        var patience = waiter.Request.Urgency?.IsHeadOfLine == false ? shared.Options.AheadTimeout : shared.Options.LeaseTimeout;
        var now = shared.Time.GetTimestamp();
        waiter.Wait(now, scheduler.PacedFor(now), After(scheduler.WaitTime, patience));
        scheduler.Enqueue(waiter);
        timer.Arm(patience);
        Watch(waiter);
    }

    /// <summary>Schedules the notice about a long wait if a reader waits for the article.</summary>
    private void Watch(LeaseWaiter waiter)
    {
        if (!shared.Options.HedgeEnabled || !waiter.HasFetch || waiter.Request.Urgency?.IsHeadOfLine != true)
            return;
        waiter.LateAt = After(scheduler.WaitTime, shared.Options.HedgeWait);
        timer.Arm(shared.Options.HedgeWait);
    }

    private void Grant(LeaseWaiter waiter, ConnectionLoad load)
    {
        var now = shared.Time.GetTimestamp();
        waiter.Grant(load, now, scheduler.Bytes, scheduler.PacedFor(now));
        Ended(waiter);
    }

    private void Refuse(LeaseWaiter waiter, NntpException failure)
    {
        scheduler.Withdraw(waiter);
        waiter.Refuse(failure);
        Ended(waiter);
    }

    private void Ended(LeaseWaiter waiter)
    {
        if (_lastEnded is null)
            _firstEnded = waiter;
        else
            _lastEnded.Next = waiter;
        _lastEnded = waiter;
    }

    private TimeSpan RestUntil(long at) => TimeSpan.FromSeconds((double)(at - scheduler.WaitTime) / shared.Time.TimestampFrequency);

    private long After(long now, TimeSpan pause) => now + (long)(pause.TotalSeconds * shared.Time.TimestampFrequency);
}
