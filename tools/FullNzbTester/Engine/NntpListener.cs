using System.Diagnostics.Metrics;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>Traffic and timing counters of the connections of an engine.</summary>
/// <param name="Commands">Commands written to a socket, including the login.</param>
/// <param name="Flushes">Socket writes that carried the commands.</param>
/// <param name="Misses">Replies 430, 423 and 451 to BODY.</param>
/// <param name="Unanswered">Commands whose reply was incomplete when the connection was lost or abandoned.</param>
/// <param name="BytesReceived">Bytes received, before TLS.</param>
/// <param name="SocketsAbandoned">Connection attempts abandoned before the system reported their outcome.</param>
/// <param name="SocketsPeak">Maximum number of sockets at once, including sockets being opened or closed.</param>
/// <param name="Tries">Fetch attempts per provider, including canceled ones.</param>
/// <param name="Hedges">Late articles requested a second time.</param>
/// <param name="HedgesWon">Hedges whose second attempt delivered bytes first.</param>
/// <param name="Waited">Total time that the attempts waited for a permit and a connection.</param>
/// <param name="Fetched">Total duration of the attempts, including the wait.</param>
internal readonly record struct NntpCounters(
    long Commands, long Bodies, long Flushes, long Misses, long Unanswered, long BytesReceived, long SocketsOpened, long SocketsAbandoned, long SocketsPeak, long Receives,
    long Tries, long Hedges, long HedgesWon, TimeSpan Waited, TimeSpan Fetched);

/// <summary>Sums the measurements of all <c>Sluice.Nntp</c> meters, each from the moment of its <see cref="Listen"/>.</summary>
/// <remarks>Thread-safe, because engine threads report measurements while the figures are read.</remarks>
internal sealed class NntpListener : IDisposable
{
    private readonly Lock _gate = new();
    private readonly List<MeterListener> _listeners = [];

    // Guarded by _gate.
    private NntpCounters _counters;
    private long _sockets;

    /// <param name="meter">The first meter, or null for none yet.</param>
    public NntpListener(Meter? meter = null)
    {
        if (meter is not null)
            Listen(meter);
    }

    public NntpCounters Now
    {
        get
        {
            lock (_gate)
                return _counters;
        }
    }

    /// <summary>Adds the meter of one engine. Meters are chosen by instance, because the process may have others of the same name.</summary>
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
                "sluice.nntp.receives" => _counters with { Receives = _counters.Receives + count },
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
