using System.Diagnostics.Metrics;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp;

/// <summary>Fetch statistics of all accounts since startup.</summary>
/// <param name="Hedges">Late articles that were requested a second time.</param>
/// <param name="HedgesWon">Second requests that delivered bytes before the first did.</param>
/// <param name="Waits">How long attempts waited for a connection because none was free.</param>
public sealed record FetchTotals(long Hedges, long HedgesWon, HistogramSnapshot Waits);

/// <summary>Metrics of the connections of all accounts.</summary>
/// <remarks>Thread-safe. An instrument without a listener costs one check, and nothing is allocated.</remarks>
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
    private readonly Counter<long> _receives;
    private readonly UpDownCounter<long> _sockets;
    private readonly Counter<long> _opened;
    private readonly Counter<long> _abandoned;
    private readonly Counter<long> _hedges;
    private readonly Counter<long> _hedgesWon;
    private readonly Histogram<double> _waits;
    private readonly Histogram<double> _tries;
    private readonly DurationHistogram _waited = new(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10);
    private long _received;
    private long _hedged;
    private long _hedgeWon;

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
        _bytes = Source.CreateCounter<long>("sluice.nntp.received", "By", "Bytes received, without the overhead of TLS: replies, bodies and terminators.");
        _receives = Source.CreateCounter<long>("sluice.nntp.receives", "{receive}", "Receives from sockets, waits without a buffer left out. Few per article: what arrives in pieces is gathered.");
    }

    /// <summary>The meter, named <c>Sluice.Nntp</c>.</summary>
    public Meter Source { get; }

    /// <summary>Bytes received since startup, even without a listener.</summary>
    public long BytesReceived => Volatile.Read(ref _received);

    /// <summary>Fetch statistics since startup, even without a listener.</summary>
    public FetchTotals Totals => new(Volatile.Read(ref _hedged), Volatile.Read(ref _hedgeWon), _waited.Snapshot());

    public void CommandSent() => _commands.Add(1, Other);

    public void CommandsSent(int commands, bool isBody, bool isStat) => _commands.Add(commands, isBody ? Body : isStat ? Stat : Other);

    public void Flushed() => _flushes.Add(1);

    public void Delivered() => _articles.Add(1);

    public void Missed() => _misses.Add(1);

    public void Unanswered(int commands) => _unanswered.Add(commands);

    /// <summary>Counts received bytes: replies, bodies and terminators.</summary>
    public void Received(long bytes)
    {
        Interlocked.Add(ref _received, bytes);
        _bytes.Add(bytes);
    }

    /// <summary>Counts a receive when it begins.</summary>
    public void Receiving() => _receives.Add(1);

    /// <summary>Counts a socket from the start of its connect until <see cref="SocketClosed"/>.</summary>
    public void SocketOpening() => _sockets.Add(1);

    public void SocketOpened() => _opened.Add(1);

    /// <summary>Counts a connect that was canceled before its result was known, because the server may have accepted the connection.</summary>
    public void SocketAbandoned() => _abandoned.Add(1);

    public void SocketClosed() => _sockets.Add(-1);

    public void Hedged()
    {
        Interlocked.Increment(ref _hedged);
        _hedges.Add(1);
    }

    public void HedgeWon()
    {
        Interlocked.Increment(ref _hedgeWon);
        _hedgesWon.Add(1);
    }

    /// <summary>Records how long an attempt waited for a connection because none was free.</summary>
    public void Waited(long from)
    {
        var waited = _time.GetElapsedTime(from);
        _waited.Record(waited);
        _waits.Record(waited.TotalSeconds);
    }

    /// <summary>Records the duration of an attempt, whatever its outcome.</summary>
    public void Fetched(long from) => _tries.Record(_time.GetElapsedTime(from).TotalSeconds);

    public void Dispose() => Source.Dispose();
}
