namespace Sluice.Usenet.Nntp;

/// <summary>Counts what the connections of one pool of providers do.</summary>
/// <remarks>Thread-safe: every field is only ever added to, by atomic operations; nothing is allocated.</remarks>
internal sealed class NntpMeter(TimeProvider time)
{
    private long _commands;
    private long _bodies;
    private long _stats;
    private long _flushes;
    private long _articles;
    private long _misses;
    private long _unanswered;
    private long _bytesReceived;
    private long _sockets;
    private long _socketsOpened;
    private long _socketsAbandoned;
    private long _socketsPeak;
    private long _tries;
    private long _hedges;
    private long _hedgesWon;
    private long _waitedTicks;
    private long _fetchedTicks;

    /// <summary>The counts now.</summary>
    public NntpCounters Read() => new()
    {
        Commands = Volatile.Read(ref _commands),
        Bodies = Volatile.Read(ref _bodies),
        Stats = Volatile.Read(ref _stats),
        Flushes = Volatile.Read(ref _flushes),
        Articles = Volatile.Read(ref _articles),
        Misses = Volatile.Read(ref _misses),
        Unanswered = Volatile.Read(ref _unanswered),
        BytesReceived = Volatile.Read(ref _bytesReceived),
        SocketsOpened = Volatile.Read(ref _socketsOpened),
        SocketsAbandoned = Volatile.Read(ref _socketsAbandoned),
        SocketsPeak = Volatile.Read(ref _socketsPeak),
        Tries = Volatile.Read(ref _tries),
        Hedges = Volatile.Read(ref _hedges),
        HedgesWon = Volatile.Read(ref _hedgesWon),
        Waited = TimeSpan.FromTicks(Volatile.Read(ref _waitedTicks)),
        Fetched = TimeSpan.FromTicks(Volatile.Read(ref _fetchedTicks)),
    };

    public void CommandSent() => Interlocked.Increment(ref _commands);

    /// <summary>Commands of a connection that is logged in are about to be sent.</summary>
    public void CommandsSent(int commands, bool isBody, bool isStat)
    {
        Interlocked.Add(ref _commands, commands);
        if (isBody)
            Interlocked.Add(ref _bodies, commands);
        if (isStat)
            Interlocked.Add(ref _stats, commands);
    }

    /// <summary>Commands that were ready together have been handed to the socket.</summary>
    public void Flushed() => Interlocked.Increment(ref _flushes);

    /// <summary>A body has come to its end.</summary>
    public void Delivered() => Interlocked.Increment(ref _articles);

    /// <summary>A server has said that it does not have an article.</summary>
    public void Missed() => Interlocked.Increment(ref _misses);

    /// <summary>Commands were not answered, or not to the end.</summary>
    public void Unanswered(int commands) => Interlocked.Add(ref _unanswered, commands);

    public void Received(long bytes) => Interlocked.Add(ref _bytesReceived, bytes);

    /// <summary>A connection is asked for; its socket counts until <see cref="SocketClosed"/>.</summary>
    public void SocketOpening()
    {
        var now = Interlocked.Increment(ref _sockets);
        var peak = Volatile.Read(ref _socketsPeak);
        while (now > peak)
        {
            var seen = Interlocked.CompareExchange(ref _socketsPeak, now, peak);
            if (seen == peak)
                return;
            peak = seen;
        }
    }

    public void SocketOpened() => Interlocked.Increment(ref _socketsOpened);

    /// <summary>A connection was given up while it was being made; the other side may have it.</summary>
    public void SocketAbandoned() => Interlocked.Increment(ref _socketsAbandoned);

    public void SocketClosed() => Interlocked.Decrement(ref _sockets);

    /// <summary>A late article is asked for a second time.</summary>
    public void Hedged() => Interlocked.Increment(ref _hedges);

    /// <summary>The second try has brought bytes first.</summary>
    public void HedgeWon() => Interlocked.Increment(ref _hedgesWon);

    /// <summary>A try that found no connection free holds one now, or has given up.</summary>
    public void Waited(long from) => Interlocked.Add(ref _waitedTicks, time.GetElapsedTime(from).Ticks);

    /// <summary>A try has ended, whatever came of it.</summary>
    public void Fetched(long from)
    {
        Interlocked.Increment(ref _tries);
        Interlocked.Add(ref _fetchedTicks, time.GetElapsedTime(from).Ticks);
    }
}
