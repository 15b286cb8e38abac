using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// The commands of one connection on the wire, oldest first. Replies arrive in exactly this order. Also tracks how long the first reply has made no progress,
/// and whether that reply is late.
/// </summary>
/// <remarks>Thread-safe. Commands are added before they are flushed, because a reply can overtake the flush. Only the first reply can be late.</remarks>
internal sealed class PendingReplies(long openedAt = 0)
{
    private readonly Lock _gate = new();
    private readonly Queue<PendingReply> _replies = new();

    // In ticks of the time provider: the end of the last reply, the earliest time the first outstanding one could be answered, and the last progress.
    private long _restsSince = openedAt;
    private long _firstSince = openedAt;
    private long _heardAt = openedAt;

    private long _added;
    private long _ended;

    // Written under the lock. The pool reads the field under its own lock and must not wait for this one. A call to the pool follows each change, so a stale
    // value is soon reread.
    private volatile bool _isLate;
    private volatile bool _hasRevived;

    public bool IsEmpty
    {
        get
        {
            lock (_gate)
                return _replies.Count == 0;
        }
    }

    public int Commands
    {
        get
        {
            lock (_gate)
            {
                var commands = 0;
                foreach (var reply in _replies)
                    commands += reply.Unanswered;
                return commands;
            }
        }
    }

    /// <summary>Number of replies completed so far, and this number once all outstanding replies are complete. Both only grow.</summary>
    public (long Ended, long Added) Progress
    {
        get
        {
            lock (_gate)
                return (_ended, _added);
        }
    }

    public bool OnlyAbandoned => AbandonedBytes is not null;

    /// <summary>Estimated bytes still to come if all outstanding replies are abandoned; null if none is outstanding or a fetch wants one of them.</summary>
    public long? AbandonedBytes
    {
        get
        {
            lock (_gate)
            {
                long remaining = 0;
                foreach (var reply in _replies)
                {
                    if (reply.IsWanted)
                        return null;
                    remaining += reply.Remaining;
                }

                return _replies.Count == 0 ? null : remaining;
            }
        }
    }

    /// <summary>Whether the first reply is late and has made no progress since this was found.</summary>
    public bool IsLate => _isLate;

    /// <summary>Start of the idle time in ticks of the time provider; meaningless while a reply is outstanding.</summary>
    public long RestsSince
    {
        get
        {
            lock (_gate)
                return _restsSince;
        }
    }

    public bool IsHeldUpByAbandoned
    {
        get
        {
            lock (_gate)
            {
                if (!_replies.TryPeek(out var first) || first.IsWanted)
                    return false;
                foreach (var reply in _replies)
                {
                    if (reply.IsWanted)
                        return true;
                }

                return false;
            }
        }
    }

    public bool IsAnyAwaited
    {
        get
        {
            lock (_gate)
            {
                foreach (var reply in _replies)
                {
                    if (reply.IsWanted && reply.Request.IsAwaited)
                        return true;
                }

                return false;
            }
        }
    }

    /// <summary>
    /// Returns the start of the first reply's silence, in ticks of the time provider; the largest value if none is outstanding. Counts from the last progress,
    /// the end of the previous reply, or one <paramref name="roundTrip"/> after its command, whichever is latest.
    /// </summary>
    public long SilentSince(long roundTrip)
    {
        lock (_gate)
            return SilentSinceUnderLock(roundTrip);
    }

    /// <summary>
    /// Marks the first reply as late, if it has been silent at least since <paramref name="since"/>. Otherwise the reply ended or made progress
    /// meanwhile, and the call returns false. All times are in ticks of the time provider.
    /// </summary>
    public bool TryMarkLate(long since, long roundTrip)
    {
        lock (_gate)
        {
            if (SilentSinceUnderLock(roundTrip) > since)
                return false;
            return _isLate = true;
        }
    }

    /// <summary>Records progress of the first reply. <paramref name="now"/> is in ticks of the time provider.</summary>
    public void Heard(long now)
    {
        lock (_gate)
        {
            _heardAt = now;
            ClearLate();
        }
    }

    /// <summary>Whether a late connection recovered since the last call, so that the pool may use it again.</summary>
    public bool TakeRevived()
    {
        if (!_hasRevived)
            return false;
        lock (_gate)
        {
            _hasRevived = false;
            return true;
        }
    }

    /// <summary>Whether the first command after an idle time of at least <paramref name="rest"/> ticks is still unanswered.</summary>
    public bool IsFirstAfterRest(long rest)
    {
        lock (_gate)
            return _replies.Count > 0 && _heardAt < _firstSince && _firstSince - _restsSince >= rest;
    }

    /// <summary>Adds a command about to be sent; false if the command was abandoned and must not be sent.</summary>
    /// <remarks>A lease abandons its reply before it checks this queue, so either the command is skipped here or the lease sees it.</remarks>
    public bool TryAdd(PendingReply reply, out bool isOnly)
    {
        lock (_gate)
        {
            isOnly = false;
            if (reply.IsAbandoned)
                return false;
            _replies.Enqueue(reply);
            _added++;
            isOnly = _replies.Count == 1;
            if (isOnly)
                _firstSince = reply.SentAt;
            return true;
        }
    }

    /// <summary>Moves the fetches behind a late first reply elsewhere. If <paramref name="isLeft"/>, the fetch of the late reply moves too.</summary>
    public void SendElsewhere(PendingReply late, bool isLeft)
    {
        lock (_gate)
        {
            // Under the lock, so that the late reply is still first when the fetches behind it move.
            if (!_replies.TryPeek(out var first) || first != late)
                return;
            foreach (var reply in _replies)
            {
                if (reply != late || isLeft)
                    reply.SendElsewhere(isPaid: reply == late);
            }
        }
    }

    public bool TryPeek([MaybeNullWhen(false)] out PendingReply reply)
    {
        lock (_gate)
            return _replies.TryPeek(out reply);
    }

    public bool TryPeekLate([MaybeNullWhen(false)] out PendingReply reply)
    {
        lock (_gate)
        {
            reply = null;
            return _isLate && _replies.TryPeek(out reply);
        }
    }

    /// <summary>Removes the first command, because its reply has ended or will not arrive. Resets the idle and silence times.</summary>
    public bool TryRemove(long now, [MaybeNullWhen(false)] out PendingReply reply)
    {
        lock (_gate)
        {
            _restsSince = _firstSince = now;
            ClearLate();
            if (!_replies.TryDequeue(out reply))
                return false;
            _ended++;
            return true;
        }
    }

    private void ClearLate()
    {
        _hasRevived |= _isLate;
        _isLate = false;
    }

    private long SilentSinceUnderLock(long roundTrip) =>
        _replies.TryPeek(out var first) ? Math.Max(Math.Max(_firstSince, _heardAt), first.SentAt + roundTrip) : long.MaxValue;
}
