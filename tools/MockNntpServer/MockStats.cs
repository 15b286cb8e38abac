using System.Collections.Concurrent;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer;

/// <summary>Counters of a provider or the whole mock, since its start or the last reset. Thread-safe.</summary>
public sealed class MockStats
{
    private readonly MockStats? _total;
    private readonly ConcurrentDictionary<string, long> _commands = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, int> _bodies = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<int, long> _files = new();
    private readonly long[] _faults = new long[Enum.GetValues<FaultKind>().Length];
    private readonly long[] _figures = new long[Enum.GetValues<Figure>().Length];

    internal MockStats(MockStats? total) => _total = total;

    /// <summary>Sockets open now. A socket counts until both sides have closed it.</summary>
    public long ConnectionsNow => Of(Figure.ConnectionsNow);

    /// <summary>Maximum number of sockets open at once, including refused ones.</summary>
    public long ConnectionsPeak => Of(Figure.ConnectionsPeak);

    /// <summary>Maximum number of connections with a pending response at once, except during their setup.</summary>
    public long BusyPeak => Of(Figure.BusyPeak);

    /// <summary>Accepted connections, including refused ones.</summary>
    public long Opened => Of(Figure.Opened);

    /// <summary>Connections rejected with 502 because of the connection limit.</summary>
    public long Refused => Of(Figure.Refused);

    public long HandshakesFailed => Of(Figure.HandshakesFailed);

    /// <summary>Maximum number of connections at once that were accepted but not yet logged in, or not yet greeted if no login is needed.</summary>
    public long HandshakesPeak => Of(Figure.HandshakesPeak);

    /// <summary>BODY and ARTICLE responses sent completely.</summary>
    public long Articles => Of(Figure.Articles);

    /// <summary>Bytes written to the socket, before TLS. For a canceled body this is up to 256 KiB more than the client received.</summary>
    public long Bytes => Of(Figure.Bytes);

    /// <summary>Articles that the client canceled after sending had begun.</summary>
    public long CancelledBodies => Of(Figure.CancelledBodies);

    /// <summary>Commands whose responses were incomplete when the client disconnected, including canceled bodies.</summary>
    public long Unanswered => Of(Figure.Unanswered);

    /// <summary>Commands that wait for the last bytes of their responses. A reset keeps them, because they are current state.</summary>
    public long Waiting => Of(Figure.Waiting);

    public long DeepestPipeline => Of(Figure.DeepestPipeline);

    /// <summary>Commands received, by verb in capitals. AUTHINFO USER and AUTHINFO PASS are two verbs; unknown ones are <c>OTHER</c>.</summary>
    public IReadOnlyDictionary<string, long> Commands => new SortedDictionary<string, long>(_commands, StringComparer.Ordinal);

    /// <summary>Faults that occurred, by the name of their kind. Other kinds are absent.</summary>
    public IReadOnlyDictionary<string, long> Faults
    {
        get
        {
            var faults = new SortedDictionary<string, long>(StringComparer.Ordinal);
            foreach (var kind in Enum.GetValues<FaultKind>())
            {
                if (FaultCount(kind) is > 0 and var count)
                    faults[FaultNames.Of(kind)] = count;
            }

            return faults;
        }
    }

    /// <summary>BODY and ARTICLE requests per article, by name without angle brackets.</summary>
    public IReadOnlyDictionary<string, int> Bodies => new Dictionary<string, int>(_bodies, StringComparer.Ordinal);

    /// <summary>BODY commands for generated articles, by 0-based number of the file in its release.</summary>
    public IReadOnlyDictionary<int, long> BodiesByFile => new SortedDictionary<int, long>(_files);

    public long CommandCount(string verb) => _commands.GetValueOrDefault(verb);

    public long FaultCount(FaultKind kind) => Volatile.Read(ref _faults[(int)kind]);

    /// <summary>Returns the BODY and ARTICLE requests for an article, by name without angle brackets.</summary>
    public int BodyCount(string messageId) => _bodies.GetValueOrDefault(messageId);

    internal void Reset()
    {
        _commands.Clear();
        _bodies.Clear();
        _files.Clear();
        Array.Clear(_faults);

        // A reset keeps open sockets and pending commands, because they are current state.
        foreach (var figure in Enum.GetValues<Figure>().Except([Figure.ConnectionsNow, Figure.BusyNow, Figure.HandshakesNow, Figure.Waiting]))
        {
            Volatile.Write(
                ref _figures[(int)figure],
                figure switch
                {
                    Figure.ConnectionsPeak => ConnectionsNow,
                    Figure.BusyPeak => Of(Figure.BusyNow),
                    Figure.HandshakesPeak => Of(Figure.HandshakesNow),
                    _ => 0,
                });
        }
    }

    /// <summary>Counts a socket. Calls of this and of <see cref="ConnectionClosed"/> must not overlap.</summary>
    internal void ConnectionOpened()
    {
        Count(Figure.Opened);
        Count(Figure.ConnectionsNow);
        for (var stats = this; stats is not null; stats = stats._total)
            stats.RaiseTo(Figure.ConnectionsPeak, stats.ConnectionsNow);
    }

    internal void ConnectionClosed() => Count(Figure.ConnectionsNow, -1);

    internal void ConnectionBusy()
    {
        Count(Figure.BusyNow);
        for (var stats = this; stats is not null; stats = stats._total)
            stats.RaiseTo(Figure.BusyPeak, stats.Of(Figure.BusyNow));
    }

    internal void ConnectionIdle() => Count(Figure.BusyNow, -1);

    internal void ConnectionRefused() => Count(Figure.Refused);

    internal void HandshakeBegan()
    {
        Count(Figure.HandshakesNow);
        for (var stats = this; stats is not null; stats = stats._total)
            stats.RaiseTo(Figure.HandshakesPeak, stats.Of(Figure.HandshakesNow));
    }

    internal void HandshakeEnded() => Count(Figure.HandshakesNow, -1);

    internal void HandshakeFailed() => Count(Figure.HandshakesFailed);

    internal void CommandReceived(string verb, long outstanding)
    {
        Count(Figure.Waiting);
        for (var stats = this; stats is not null; stats = stats._total)
        {
            stats._commands.AddOrUpdate(verb, 1, static (_, count) => count + 1);
            stats.RaiseTo(Figure.DeepestPipeline, outstanding);
        }
    }

    /// <summary>Ends the wait of commands whose responses were sent, or whose connection is closed.</summary>
    internal void CommandsDone(long commands) => Count(Figure.Waiting, -commands);

    /// <returns>Number of requests for the article so far, including this one.</returns>
    internal int BodyAsked(string messageId)
    {
        _total?.BodyAsked(messageId);
        return _bodies.AddOrUpdate(messageId, 1, static (_, count) => count + 1);
    }

    internal void BodyOfFileAsked(int file)
    {
        _files.AddOrUpdate(file, 1, static (_, count) => count + 1);
        _total?.BodyOfFileAsked(file);
    }

    internal void ArticleSent() => Count(Figure.Articles);

    internal void BytesSent(long bytes) => Count(Figure.Bytes, bytes);

    /// <summary>Counts an undelivered body. It no longer counts as an article if it was counted when its last bytes were sent.</summary>
    internal void BodyCancelled(bool wasCounted)
    {
        Count(Figure.CancelledBodies);
        Count(Figure.Articles, wasCounted ? -1 : 0);
    }

    internal void LeftUnanswered(long commands) => Count(Figure.Unanswered, commands);

    internal void FaultHappened(FaultKind kind)
    {
        Interlocked.Increment(ref _faults[(int)kind]);
        _total?.FaultHappened(kind);
    }

    private long Of(Figure figure) => Volatile.Read(ref _figures[(int)figure]);

    private void Count(Figure figure, long more = 1)
    {
        Interlocked.Add(ref _figures[(int)figure], more);
        _total?.Count(figure, more);
    }

    private void RaiseTo(Figure figure, long value)
    {
        ref var peak = ref _figures[(int)figure];
        for (var known = Volatile.Read(ref peak); value > known; known = Volatile.Read(ref peak))
            Interlocked.CompareExchange(ref peak, value, known);
    }

    private enum Figure
    {
        ConnectionsNow,
        ConnectionsPeak,
        BusyNow,
        BusyPeak,
        Opened,
        Refused,
        HandshakesFailed,
        HandshakesNow,
        HandshakesPeak,
        Articles,
        Bytes,
        CancelledBodies,
        Unanswered,
        Waiting,
        DeepestPipeline,
    }
}
