using System.Diagnostics.Metrics;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>What the connections of an engine have sent, received and waited for.</summary>
/// <param name="Commands">Commands written to a socket, those of the login included.</param>
/// <param name="Bodies">BODY commands among them.</param>
/// <param name="Flushes">Writes that took them to a socket.</param>
/// <param name="Misses">Replies 430, 423 and 451 to BODY.</param>
/// <param name="Unanswered">Commands whose reply had not been read to its end when their connection was lost or given up.</param>
/// <param name="BytesReceived">Bytes received, before TLS.</param>
/// <param name="SocketsOpened">TCP connections made.</param>
/// <param name="SocketsAbandoned">Connections given up before the system said whether they had come about.</param>
/// <param name="SocketsPeak">Most sockets at a time, those that were being opened or closed included.</param>
/// <param name="Tries">Attempts of fetches at one provider, those that were given up included.</param>
/// <param name="Hedges">Late articles that were asked for a second time.</param>
/// <param name="HedgesWon">Those whose second attempt brought bytes first.</param>
/// <param name="Waited">Sum over the attempts of the time until permit and connection were held.</param>
/// <param name="Fetched">Sum over the attempts of the time until they ended, waiting included.</param>
internal readonly record struct NntpCounters(
    long Commands, long Bodies, long Flushes, long Misses, long Unanswered, long BytesReceived, long SocketsOpened, long SocketsAbandoned, long SocketsPeak,
    long Tries, long Hedges, long HedgesWon, TimeSpan Waited, TimeSpan Fetched);

/// <summary>Adds up what meters <c>Sluice.Nntp</c> measure, each from the moment in which it is listened to.</summary>
/// <remarks>Thread-safe: measurements come on the threads of the engine, and the figures are read while they go on.</remarks>
internal sealed class NntpListener : IDisposable
{
    private readonly Lock _gate = new();
    private readonly List<MeterListener> _listeners = [];

    // Guarded by _gate.
    private NntpCounters _counters;
    private long _sockets;

    /// <param name="meter">The first meter; null: none yet.</param>
    public NntpListener(Meter? meter = null)
    {
        if (meter is not null)
            Listen(meter);
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

    /// <summary>Adds the meter of one engine: the process may have others of the same name.</summary>
    public void Listen(Meter meter)
    {
        var listener = new MeterListener
        {
            InstrumentPublished = (instrument, own) =>
            {
                if (instrument.Meter == meter)
                    own.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, count, tags, _) => Add(instrument.Name, count, tags));
        listener.SetMeasurementEventCallback<double>((instrument, seconds, _, _) => Add(instrument.Name, TimeSpan.FromSeconds(seconds)));
        listener.Start();
        _listeners.Add(listener);
    }

    public void Dispose() => _listeners.ForEach(static listener => listener.Dispose());

    private void Add(string instrument, long count, ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        var isBody = !tags.IsEmpty && tags[0].Value is "BODY";
        lock (_gate)
        {
            _counters = instrument switch
            {
                "sluice.nntp.commands" => _counters with { Commands = _counters.Commands + count, Bodies = _counters.Bodies + (isBody ? count : 0) },
                "sluice.nntp.flushes" => _counters with { Flushes = _counters.Flushes + count },
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

    private void Add(string instrument, TimeSpan time)
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
