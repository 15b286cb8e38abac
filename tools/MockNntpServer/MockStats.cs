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
    private long _connectionsNow;
    private long _connectionsPeak;
    private long _opened;
    private long _refused;
    private long _handshakesFailed;
    private long _articles;
    private long _bytes;
    private long _cancelledBodies;
    private long _unanswered;
    private long _waiting;
    private long _deepestPipeline;

    internal MockStats(MockStats? total) => _total = total;

    /// <summary>Sockets open now, until both sides have closed them.</summary>
    public long ConnectionsNow => Volatile.Read(ref _connectionsNow);

    /// <summary>Most sockets open at any time; refused ones count.</summary>
    public long ConnectionsPeak => Volatile.Read(ref _connectionsPeak);

    /// <summary>Connections accepted, those refused included.</summary>
    public long Opened => Volatile.Read(ref _opened);

    /// <summary>Connections answered 502 because of the cap.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>TLS handshakes that did not come about.</summary>
    public long HandshakesFailed => Volatile.Read(ref _handshakesFailed);

    /// <summary>BODY and ARTICLE answers sent to their end.</summary>
    public long Articles => Volatile.Read(ref _articles);

    /// <summary>Bytes handed to the socket, before TLS; of a body that was cancelled up to 256 KiB more than the client got.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Articles whose sending began and was ended by the client.</summary>
    public long CancelledBodies => Volatile.Read(ref _cancelledBodies);

    /// <summary>Commands whose answers were not complete when the client went; cancelled bodies are among them.</summary>
    public long Unanswered => Volatile.Read(ref _unanswered);

    /// <summary>Commands that wait for the last bytes of their answers now; a reset leaves them.</summary>
    public long Waiting => Volatile.Read(ref _waiting);

    /// <summary>Most commands that waited for their answers on one connection.</summary>
    public long DeepestPipeline => Volatile.Read(ref _deepestPipeline);

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
        Volatile.Write(ref _connectionsPeak, ConnectionsNow);
        _opened = _refused = _handshakesFailed = _articles = _bytes = _cancelledBodies = _unanswered = _deepestPipeline = 0;
    }

    internal void ConnectionOpened()
    {
        Interlocked.Increment(ref _opened);
        RaiseTo(ref _connectionsPeak, Interlocked.Increment(ref _connectionsNow));
        _total?.ConnectionOpened();
    }

    internal void ConnectionClosed()
    {
        Interlocked.Decrement(ref _connectionsNow);
        _total?.ConnectionClosed();
    }

    internal void ConnectionRefused()
    {
        Interlocked.Increment(ref _refused);
        _total?.ConnectionRefused();
    }

    internal void HandshakeFailed()
    {
        Interlocked.Increment(ref _handshakesFailed);
        _total?.HandshakeFailed();
    }

    internal void CommandReceived(string verb, long outstanding)
    {
        _commands.AddOrUpdate(verb, 1, (_, count) => count + 1);
        RaiseTo(ref _deepestPipeline, outstanding);
        Interlocked.Increment(ref _waiting);
        _total?.CommandReceived(verb, outstanding);
    }

    /// <summary>Ends the wait of commands: their answers have been sent, or the connection is closed.</summary>
    internal void CommandsDone(long commands)
    {
        Interlocked.Add(ref _waiting, -commands);
        _total?.CommandsDone(commands);
    }

    /// <summary>Counts a BODY or ARTICLE.</summary>
    /// <returns>How often the article was asked for here, this time included.</returns>
    internal int BodyAsked(string messageId)
    {
        _total?.BodyAsked(messageId);
        return _bodies.AddOrUpdate(messageId, 1, (_, count) => count + 1);
    }

    /// <summary>Counts a BODY for a file of a release.</summary>
    internal void BodyOfFileAsked(int file)
    {
        _files.AddOrUpdate(file, 1, (_, count) => count + 1);
        _total?.BodyOfFileAsked(file);
    }

    internal void ArticleSent()
    {
        Interlocked.Increment(ref _articles);
        _total?.ArticleSent();
    }

    internal void BytesSent(long bytes)
    {
        Interlocked.Add(ref _bytes, bytes);
        _total?.BytesSent(bytes);
    }

    /// <summary>Counts a body that did not arrive, and takes it off the articles where its last bytes were on their way already.</summary>
    internal void BodyCancelled(bool wasCounted)
    {
        Interlocked.Increment(ref _cancelledBodies);
        if (wasCounted)
            Interlocked.Decrement(ref _articles);
        _total?.BodyCancelled(wasCounted);
    }

    internal void LeftUnanswered(long commands)
    {
        Interlocked.Add(ref _unanswered, commands);
        _total?.LeftUnanswered(commands);
    }

    internal void FaultHappened(FaultKind kind)
    {
        Interlocked.Increment(ref _faults[(int)kind]);
        _total?.FaultHappened(kind);
    }

    private static void RaiseTo(ref long peak, long value)
    {
        var known = Volatile.Read(ref peak);
        while (value > known)
        {
            var seen = Interlocked.CompareExchange(ref peak, value, known);
            if (seen == known)
                return;
            known = seen;
        }
    }
}
