using System.Collections.Concurrent;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer;

/// <summary>What a provider, or the whole mock, has seen since its start or the last reset. Thread-safe.</summary>
public sealed class MockStats
{
    private readonly MockStats? _total;
    private readonly ConcurrentDictionary<string, long> _commands = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, int> _bodies = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<int, long> _files = new();
    private readonly long[] _faults = new long[Enum.GetValues<FaultKind>().Length];
    private readonly long[] _figures = new long[Enum.GetValues<Figure>().Length];

    internal MockStats(MockStats? total) => _total = total;

    /// <summary>Sockets open now, until both sides have closed them.</summary>
    public long ConnectionsNow => Of(Figure.ConnectionsNow);

    /// <summary>Most sockets open at any time; refused ones count.</summary>
    public long ConnectionsPeak => Of(Figure.ConnectionsPeak);

    /// <summary>Most connections at a time that owed an answer; those that are being set up do not count.</summary>
    public long BusyPeak => Of(Figure.BusyPeak);

    /// <summary>Connections accepted, those refused included.</summary>
    public long Opened => Of(Figure.Opened);

    /// <summary>Connections answered 502 because of the cap.</summary>
    public long Refused => Of(Figure.Refused);

    /// <summary>TLS handshakes that did not come about.</summary>
    public long HandshakesFailed => Of(Figure.HandshakesFailed);

    /// <summary>Most connections at a time that were accepted and not yet logged in; where no login is needed, not yet greeted.</summary>
    public long HandshakesPeak => Of(Figure.HandshakesPeak);

    /// <summary>BODY and ARTICLE answers sent to their end.</summary>
    public long Articles => Of(Figure.Articles);

    /// <summary>Bytes handed to the socket, before TLS; of a body that was cancelled up to 256 KiB more than the client got.</summary>
    public long Bytes => Of(Figure.Bytes);

    /// <summary>Articles whose sending began and was ended by the client.</summary>
    public long CancelledBodies => Of(Figure.CancelledBodies);

    /// <summary>Commands whose answers were not complete when the client went; cancelled bodies are among them.</summary>
    public long Unanswered => Of(Figure.Unanswered);

    /// <summary>Commands that wait for the last bytes of their answers now; a reset leaves them.</summary>
    public long Waiting => Of(Figure.Waiting);

    /// <summary>Most commands that waited for their answers on one connection.</summary>
    public long DeepestPipeline => Of(Figure.DeepestPipeline);

    /// <summary>Commands received, by verb in capitals; AUTHINFO USER and AUTHINFO PASS are two verbs, unknown ones are <c>OTHER</c>.</summary>
    public IReadOnlyDictionary<string, long> Commands => new SortedDictionary<string, long>(_commands, StringComparer.Ordinal);

    /// <summary>Faults that happened, by the name of their kind; kinds that did not happen are absent.</summary>
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

    /// <summary>How often an article was asked for by BODY or ARTICLE, by name without angle brackets.</summary>
    public IReadOnlyDictionary<string, int> Bodies => new Dictionary<string, int>(_bodies, StringComparer.Ordinal);

    /// <summary>BODY commands by the number of the file in its release, from 0, for articles that the mock makes.</summary>
    public IReadOnlyDictionary<int, long> BodiesByFile => new SortedDictionary<int, long>(_files);

    /// <summary>Commands received of one verb.</summary>
    public long CommandCount(string verb) => _commands.GetValueOrDefault(verb);

    /// <summary>How often faults of a kind happened.</summary>
    public long FaultCount(FaultKind kind) => Volatile.Read(ref _faults[(int)kind]);

    /// <summary>How often the article was asked for by BODY or ARTICLE; name without angle brackets.</summary>
    public int BodyCount(string messageId) => _bodies.GetValueOrDefault(messageId);

    internal void Reset()
    {
        _commands.Clear();
        _bodies.Clear();
        _files.Clear();
        Array.Clear(_faults);

        // Sockets that are open, and commands that wait, are no events of the past.
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

    /// <summary>Counts a socket. Calls of this and of <see cref="ConnectionClosed"/> come one after the other.</summary>
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

    /// <summary>Ends the wait of commands: their answers have been sent, or the connection is closed.</summary>
    internal void CommandsDone(long commands) => Count(Figure.Waiting, -commands);

    /// <summary>Counts a BODY or ARTICLE.</summary>
    /// <returns>How often the article was asked for here, this time included.</returns>
    internal int BodyAsked(string messageId)
    {
        _total?.BodyAsked(messageId);
        return _bodies.AddOrUpdate(messageId, 1, static (_, count) => count + 1);
    }

    /// <summary>Counts a BODY for a file of a release.</summary>
    internal void BodyOfFileAsked(int file)
    {
        _files.AddOrUpdate(file, 1, static (_, count) => count + 1);
        _total?.BodyOfFileAsked(file);
    }

    internal void ArticleSent() => Count(Figure.Articles);

    internal void BytesSent(long bytes) => Count(Figure.Bytes, bytes);

    /// <summary>Counts a body that did not arrive, and takes it off the articles where its last bytes were on their way already.</summary>
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
