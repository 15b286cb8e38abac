using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// The commands of one connection that are on the wire, oldest first: replies come in this order and no other. Says since when the
/// connection owes the first of them a sign of life, and whether that is late.
/// </summary>
/// <remarks>
/// Thread-safe. A command is added before it is flushed, because its answer can overtake the end of the flush. Whether the connection
/// is late belongs to the first reply: it ends with it, and where nothing is outstanding nothing can be late.
/// </remarks>
/// <param name="openedAt">In ticks of the time provider.</param>
internal sealed class PendingReplies(long openedAt = 0)
{
    private readonly Lock _gate = new();
    private readonly Queue<PendingReply> _replies = new();

    // All in ticks of the time provider: when the last reply ended, from when on the first one could be answered, when the last sign of
    // life came.
    private long _restsSince = openedAt;
    private long _firstSince = openedAt;
    private long _heardAt = openedAt;

    // How many commands were added and have ended, ever.
    private long _added;
    private long _ended;

    // Changed under the lock only. The pool reads it under its own lock, above which no reply may be waited for; each change is
    // followed by a call of the pool, so that what it read too early it reads again.
    private volatile bool _isLate;
    private volatile bool _hasRevived;

    /// <summary>Whether nothing is outstanding.</summary>
    public bool IsEmpty
    {
        get
        {
            lock (_gate)
                return _replies.Count == 0;
        }
    }

    /// <summary>Commands that are outstanding.</summary>
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

    /// <summary>Replies that have ended, and those that will have when all that is outstanding has: numbers that only grow.</summary>
    public (long Ended, long Added) Progress
    {
        get
        {
            lock (_gate)
                return (_ended, _added);
        }
    }

    /// <summary>Whether replies are outstanding and none of them is wanted.</summary>
    public bool OnlyAbandoned => AbandonedBytes is not null;

    /// <summary>Bytes still to come when all outstanding replies are unwanted; null when there is none, or one is wanted.</summary>
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

    /// <summary>Whether the first reply was found late, and no sign of life has come since.</summary>
    public bool IsLate => _isLate;

    /// <summary>Since when nothing is outstanding, in ticks of the time provider; meaningless while something is.</summary>
    public long RestsSince
    {
        get
        {
            lock (_gate)
                return _restsSince;
        }
    }

    /// <summary>Whether the reply that comes next is unwanted and holds up one that is not.</summary>
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

    /// <summary>Whether a reader waits for any of them.</summary>
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
    /// Since when the first reply owes a sign of life: from the last one, from the end of the reply before, or from a round trip after
    /// its command, whichever was last. In ticks of the time provider; the largest value while none is outstanding.
    /// </summary>
    /// <param name="roundTrip">In the same ticks.</param>
    public long SilentSince(long roundTrip)
    {
        lock (_gate)
            return SilentSinceUnderLock(roundTrip);
    }

    /// <summary>The first reply is late from now on, if it has been silent since this time at least.</summary>
    /// <param name="since">In ticks of the time provider.</param>
    /// <param name="roundTrip">In the same ticks.</param>
    /// <returns>False when it is not, because it has ended or a sign of life has come.</returns>
    public bool TryBeLate(long since, long roundTrip)
    {
        lock (_gate)
        {
            if (SilentSinceUnderLock(roundTrip) > since)
                return false;
            return _isLate = true;
        }
    }

    /// <summary>A sign of life of the first reply.</summary>
    /// <param name="now">In ticks of the time provider.</param>
    public void Heard(long now)
    {
        lock (_gate)
        {
            _heardAt = now;
            BeInTime();
        }
    }

    /// <summary>Whether a connection that was late is not late any more since the last call, so that it may be given out again.</summary>
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

    /// <summary>Whether nothing has been heard since the first command was sent, after a rest of at least this long.</summary>
    /// <param name="rest">In ticks of the time provider.</param>
    public bool IsFirstAfterRest(long rest)
    {
        lock (_gate)
            return _replies.Count > 0 && _heardAt < _firstSince && _firstSince - _restsSince >= rest;
    }

    /// <summary>Adds a command that is about to be sent, unless it is not wanted any more.</summary>
    /// <remarks>The lease that gives it up looks in here after that, so that the command is either left out or seen by the lease.</remarks>
    /// <param name="reply">The command.</param>
    /// <param name="isOnly">Whether nothing else is outstanding.</param>
    /// <returns>False when it is not wanted and must not be sent.</returns>
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

    /// <summary>Has the fetches behind one that does not come ask elsewhere.</summary>
    /// <param name="late">Nothing happens when it is not the first any more.</param>
    /// <param name="isLeft">Whether its own goes as well.</param>
    public void SendElsewhere(PendingReply late, bool isLeft)
    {
        lock (_gate)
        {
            // Under the lock, so that the late reply is the first still when those behind it are sent away.
            if (!_replies.TryPeek(out var first) || first != late)
                return;
            foreach (var reply in _replies)
            {
                if (reply != late || isLeft)
                    reply.SendElsewhere(isPaid: reply == late);
            }
        }
    }

    /// <summary>The command whose reply comes next, or is under way.</summary>
    public bool TryPeek([MaybeNullWhen(false)] out PendingReply reply)
    {
        lock (_gate)
            return _replies.TryPeek(out reply);
    }

    /// <summary>The command whose reply comes next, if it is late.</summary>
    public bool TryPeekLate([MaybeNullWhen(false)] out PendingReply reply)
    {
        lock (_gate)
        {
            reply = null;
            return _isLate && _replies.TryPeek(out reply);
        }
    }

    /// <summary>The first reply has ended, or will not come: takes its command out.</summary>
    /// <param name="now">In ticks of the time provider.</param>
    /// <param name="reply">The command.</param>
    public bool TryRemove(long now, [MaybeNullWhen(false)] out PendingReply reply)
    {
        lock (_gate)
        {
            _restsSince = _firstSince = now;
            BeInTime();
            if (!_replies.TryDequeue(out reply))
                return false;
            _ended++;
            return true;
        }
    }

    private void BeInTime()
    {
        _hasRevived |= _isLate;
        _isLate = false;
    }

    private long SilentSinceUnderLock(long roundTrip) =>
        _replies.TryPeek(out var first) ? Math.Max(Math.Max(_firstSince, _heardAt), first.SentAt + roundTrip) : long.MaxValue;
}
