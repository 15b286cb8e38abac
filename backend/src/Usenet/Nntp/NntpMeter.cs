using System.Diagnostics.Metrics;

namespace Sluice.Usenet.Nntp;

/// <summary>Says what the connections of all accounts do, by the instruments of one meter.</summary>
/// <remarks>Thread-safe. An instrument that nothing listens to costs one look, and nothing is allocated.</remarks>
internal sealed class NntpMeter : IDisposable
{
    private static readonly KeyValuePair<string, object?> Body = new("verb", "BODY");
    private static readonly KeyValuePair<string, object?> Stat = new("verb", "STAT");
    private static readonly KeyValuePair<string, object?> Other = new("verb", "other");

    private readonly TimeProvider _time;
    private readonly Counter<long> _commands;
    private readonly Counter<long> _flushes;
    private readonly Counter<long> _articles;
    private readonly Counter<long> _misses;
    private readonly Counter<long> _unanswered;
    private readonly Counter<long> _bytes;
    private readonly UpDownCounter<long> _sockets;
    private readonly Counter<long> _opened;
    private readonly Counter<long> _abandoned;
    private readonly Counter<long> _hedges;
    private readonly Counter<long> _hedgesWon;
    private readonly Histogram<double> _waits;
    private readonly Histogram<double> _tries;
    private long _received;

    public NntpMeter(TimeProvider time)
    {
        _time = time;
        Source = new Meter("Sluice.Nntp");
        _commands = Source.CreateCounter<long>("sluice.nntp.commands", "{command}", "Commands written to a socket, those of the login included.");
        _flushes = Source.CreateCounter<long>("sluice.nntp.flushes", "{write}", "Writes that took commands to a socket, those of logins left out: commands that are ready together leave in one.");
        _articles = Source.CreateCounter<long>("sluice.nntp.articles", "{article}", "Bodies received up to their terminator, unwanted ones included.");
        _misses = Source.CreateCounter<long>("sluice.nntp.misses", "{reply}", "Replies 430, 423 and 451 to BODY.");
        _unanswered = Source.CreateCounter<long>("sluice.nntp.unanswered", "{command}", "Commands whose reply had not been read to its end when their connection was lost or given up.");
        _sockets = Source.CreateUpDownCounter<long>("sluice.nntp.sockets", "{socket}", "Sockets now, those that are being opened or closed included.");
        _opened = Source.CreateCounter<long>("sluice.nntp.sockets.opened", "{socket}", "TCP connections made, those that were refused by a greeting or a login included.");
        _abandoned = Source.CreateCounter<long>(
            "sluice.nntp.sockets.abandoned", "{socket}", "Connections given up before the system said whether they had come about, so that the provider may have seen one that is not counted as opened.");
        _hedges = Source.CreateCounter<long>("sluice.nntp.hedges", "{article}", "Late articles that were asked for a second time while the first attempt was under way.");
        _hedgesWon = Source.CreateCounter<long>("sluice.nntp.hedges.won", "{article}", "Those whose second attempt brought bytes before the first did again.");
        _waits = Source.CreateHistogram<double>("sluice.nntp.waits", "s", "Time until an attempt that found no connection free held permit and connection, or gave up.");
        _tries = Source.CreateHistogram<double>("sluice.nntp.tries", "s", "Time of an attempt of a fetch at one provider, waiting included, whatever came of it.");
        _bytes = Source.CreateCounter<long>("sluice.nntp.received", "By", "Bytes received, before TLS: replies, bodies and terminators.");
    }

    /// <summary>The meter, for those who listen; named <c>Sluice.Nntp</c>.</summary>
    public Meter Source { get; }

    /// <summary>Bytes received since the start, listened to or not.</summary>
    public long BytesReceived => Volatile.Read(ref _received);

    /// <summary>A command of a login, or a goodbye, is about to be sent.</summary>
    public void CommandSent() => _commands.Add(1, Other);

    /// <summary>Commands of a connection that is logged in are about to be sent.</summary>
    public void CommandsSent(int commands, bool isBody, bool isStat) => _commands.Add(commands, isBody ? Body : isStat ? Stat : Other);

    /// <summary>Commands that were ready together have been handed to the socket.</summary>
    public void Flushed() => _flushes.Add(1);

    /// <summary>A body has come to its end.</summary>
    public void Delivered() => _articles.Add(1);

    /// <summary>A server has said that it does not have an article.</summary>
    public void Missed() => _misses.Add(1);

    /// <summary>Commands were not answered, or not to the end.</summary>
    public void Unanswered(int commands) => _unanswered.Add(commands);

    /// <summary>Replies, bodies and terminators have come.</summary>
    public void Received(long bytes)
    {
        Interlocked.Add(ref _received, bytes);
        _bytes.Add(bytes);
    }

    /// <summary>A connection is asked for; its socket counts until <see cref="SocketClosed"/>.</summary>
    public void SocketOpening() => _sockets.Add(1);

    public void SocketOpened() => _opened.Add(1);

    /// <summary>A connection was given up while it was being made; the other side may have it.</summary>
    public void SocketAbandoned() => _abandoned.Add(1);

    public void SocketClosed() => _sockets.Add(-1);

    /// <summary>A late article is asked for a second time.</summary>
    public void Hedged() => _hedges.Add(1);

    /// <summary>The second attempt has brought bytes first.</summary>
    public void HedgeWon() => _hedgesWon.Add(1);

    /// <summary>An attempt that found no connection free holds one now, or has given up.</summary>
    public void Waited(long from) => _waits.Record(_time.GetElapsedTime(from).TotalSeconds);

    /// <summary>An attempt has ended, whatever came of it.</summary>
    public void Fetched(long from) => _tries.Record(_time.GetElapsedTime(from).TotalSeconds);

    public void Dispose() => Source.Dispose();
}
