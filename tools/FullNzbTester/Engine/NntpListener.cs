using System.Diagnostics.Metrics;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>What the connections of an engine have sent, received and waited for.</summary>
internal readonly record struct NntpCounters
{
    /// <summary>Commands written to a socket, those of the login included.</summary>
    public long Commands { get; init; }

    /// <summary>BODY commands among them.</summary>
    public long Bodies { get; init; }

    /// <summary>STAT commands among them.</summary>
    public long Stats { get; init; }

    /// <summary>Writes that took them to a socket.</summary>
    public long Flushes { get; init; }

    /// <summary>Bodies received up to their terminator.</summary>
    public long Articles { get; init; }

    /// <summary>Replies 430, 423 and 451 to BODY.</summary>
    public long Misses { get; init; }

    /// <summary>Commands whose reply had not been read to its end when their connection was lost or given up.</summary>
    public long Unanswered { get; init; }

    /// <summary>Bytes received, before TLS.</summary>
    public long BytesReceived { get; init; }

    /// <summary>TCP connections made.</summary>
    public long SocketsOpened { get; init; }

    /// <summary>Connections given up before the system said whether they had come about.</summary>
    public long SocketsAbandoned { get; init; }

    /// <summary>Most sockets at a time, those that were being opened or closed included.</summary>
    public long SocketsPeak { get; init; }

    /// <summary>Attempts of fetches at one provider, those that were given up included.</summary>
    public long Tries { get; init; }

    /// <summary>Late articles that were asked for a second time.</summary>
    public long Hedges { get; init; }

    /// <summary>Those whose second attempt brought bytes first.</summary>
    public long HedgesWon { get; init; }

    /// <summary>Sum over the attempts of the time until permit and connection were held.</summary>
    public TimeSpan Waited { get; init; }

    /// <summary>Sum over the attempts of the time until they ended, waiting included.</summary>
    public TimeSpan Fetched { get; init; }
}

/// <summary>Adds up what the meter <c>Sluice.Nntp</c> says, from its making on.</summary>
/// <remarks>Thread-safe: measurements come on the threads of the engine, and the figures are read while they go on.</remarks>
internal sealed class NntpListener : IDisposable
{
    private readonly Lock _gate = new();
    private readonly MeterListener _listener = new();

    // Guarded by _gate.
    private NntpCounters _counters;
    private long _sockets;

    /// <param name="meter">That of one engine: the process may have others of the same name.</param>
    public NntpListener(Meter meter)
    {
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter == meter)
                listener.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<long>((instrument, count, tags, _) => Count(instrument.Name, count, tags));
        _listener.SetMeasurementEventCallback<double>((instrument, seconds, _, _) => Measure(instrument.Name, TimeSpan.FromSeconds(seconds)));
        _listener.Start();
    }

    /// <summary>The figures so far.</summary>
    public NntpCounters Now
    {
        get
        {
            lock (_gate)
                return _counters;
        }
    }

    public void Dispose() => _listener.Dispose();

    private void Count(string instrument, long count, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        var verb = tags.IsEmpty ? null : (string?)tags[0].Value;
        lock (_gate)
        {
            _counters = instrument switch
            {
                "sluice.nntp.commands" => _counters with
                {
                    Commands = _counters.Commands + count,
                    Bodies = _counters.Bodies + (verb == "BODY" ? count : 0),
                    Stats = _counters.Stats + (verb == "STAT" ? count : 0),
                },
                "sluice.nntp.flushes" => _counters with { Flushes = _counters.Flushes + count },
                "sluice.nntp.articles" => _counters with { Articles = _counters.Articles + count },
                "sluice.nntp.misses" => _counters with { Misses = _counters.Misses + count },
                "sluice.nntp.unanswered" => _counters with { Unanswered = _counters.Unanswered + count },
                "sluice.nntp.received" => _counters with { BytesReceived = _counters.BytesReceived + count },
                "sluice.nntp.sockets" => _counters with { SocketsPeak = Math.Max(_counters.SocketsPeak, _sockets += count) },
                "sluice.nntp.sockets.opened" => _counters with { SocketsOpened = _counters.SocketsOpened + count },
                "sluice.nntp.sockets.abandoned" => _counters with { SocketsAbandoned = _counters.SocketsAbandoned + count },
                "sluice.nntp.hedges" => _counters with { Hedges = _counters.Hedges + count },
                "sluice.nntp.hedges.won" => _counters with { HedgesWon = _counters.HedgesWon + count },
                _ => _counters,
            };
        }
    }

    private void Measure(string instrument, TimeSpan time)
    {
        lock (_gate)
        {
            _counters = instrument switch
            {
                "sluice.nntp.waits" => _counters with { Waited = _counters.Waited + time },
                "sluice.nntp.tries" => _counters with { Tries = _counters.Tries + 1, Fetched = _counters.Fetched + time },
                _ => _counters,
            };
        }
    }
}
