using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// The commands of one connection that are on the wire, oldest first: replies come in this order and no other. Thread-safe; a
/// command is added before it is flushed, because its answer can overtake the end of the flush.
/// </summary>
internal sealed class PendingReplies
{
    private readonly Lock _gate = new();
    private readonly Queue<PendingReply> _replies = new();
    private long _firstSince;

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

    /// <summary>Whether replies are outstanding and nobody wants any of them.</summary>
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
                    if (!reply.IsAbandoned)
                        return null;
                    remaining += reply.Remaining;
                }

                return _replies.Count == 0 ? null : remaining;
            }
        }
    }

    /// <summary>The body that is under way: since when, in ticks of the time provider, and how much of it has come; zeros while there is none.</summary>
    public (long StartedAt, long Received) Body
    {
        get
        {
            // Under the lock, because a reply that has been taken out may serve another command at once.
            lock (_gate)
                return _replies.TryPeek(out var reply) ? (reply.BodyStartedAt, reply.Received) : default;
        }
    }

    /// <summary>Whether the reply that comes next is unwanted and holds up one that is not.</summary>
    public bool IsHeldUpByAbandoned
    {
        get
        {
            lock (_gate)
            {
                if (!_replies.TryPeek(out var first) || !first.IsAbandoned)
                    return false;
                foreach (var reply in _replies)
                {
                    if (!reply.IsAbandoned)
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
                    if (!reply.IsAbandoned && reply.Request.IsAwaited)
                        return true;
                }

                return false;
            }
        }
    }

    /// <summary>From when on bytes of the first reply could come, in ticks of the time provider; the largest value while none is outstanding.</summary>
    /// <param name="roundTrip">In the same ticks.</param>
    public long DueAt(long roundTrip)
    {
        lock (_gate)
            return _replies.TryPeek(out var first) ? Math.Max(_firstSince, first.SentAt + roundTrip) : long.MaxValue;
    }

    /// <summary>Adds a command that is about to be sent, unless nobody wants it any more.</summary>
    /// <remarks>Whoever gives it up looks in here after that, so that it is either left out or seen by him.</remarks>
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
            // Under the lock, because a reply that has been taken out may serve another command at once.
            if (!_replies.TryPeek(out var first) || first != late)
                return;
            foreach (var reply in _replies)
            {
                if (reply != late || isLeft)
                    reply.SendElsewhere();
            }
        }
    }

    /// <summary>The one whose reply comes next, or is under way.</summary>
    public bool TryPeek([MaybeNullWhen(false)] out PendingReply reply)
    {
        lock (_gate)
            return _replies.TryPeek(out reply);
    }

    /// <summary>Takes out the one whose reply has ended.</summary>
    /// <param name="now">In ticks of the time provider.</param>
    /// <param name="reply">The one.</param>
    public bool TryRemove(long now, [MaybeNullWhen(false)] out PendingReply reply)
    {
        lock (_gate)
        {
            _firstSince = now;
            return _replies.TryDequeue(out reply);
        }
    }
}
