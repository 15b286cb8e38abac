using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// Keeps all that outlives an engine, because no change of the settings makes it untrue: proved segments, trust, and how much was
/// loaded again for damaged files. Segments go only where the memory they may take has changed. Streams that are still open share
/// places and budget with those of the next engine.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> orders engines that are opened; below it the locks of the memory are taken, and those of streams that give back
/// because the budget has shrunk. Disposed after the engines that use it.
/// </remarks>
public sealed class StreamMemory : IDisposable
{
    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly Action<string>? _misused;
    private StreamPlaces? _places;
    private Held? _held;

    /// <summary>Creates an empty memory.</summary>
    /// <param name="time">Clock.</param>
    /// <param name="misused">Called with what was found when memory is used after it was given back, as in <see cref="BlockPool"/>; null: as there.</param>
    public StreamMemory(TimeProvider time, Action<string>? misused = null)
    {
        _time = time;
        _misused = misused;
        Trust = new TrustLedger(time);
        Reloads = new ReloadTraffic(time);
    }

    /// <summary>Whose bytes may leave before they are proved.</summary>
    internal TrustLedger Trust { get; }

    /// <summary>How much was loaded again for damaged files.</summary>
    internal ReloadTraffic Reloads { get; }

    /// <summary>Where the segments came from that readers were served with.</summary>
    public ServedCounts Served => Segments.Counts;

    /// <summary>Counts that.</summary>
    internal ServedSegments Segments { get; } = new();

    /// <summary>Takes out which files have lied since the last call, for storing: that outlives the process, too.</summary>
    public IReadOnlyList<RememberedLie> TakeNewLies() => Trust.TakeNew();

    /// <summary>Takes in which files had lied before the process was started.</summary>
    public void Restore(IEnumerable<RememberedLie> lies) => Trust.Restore(lies);

    /// <summary>The segments that are held under these options, the blocks that they are made of, and the places, which are under these options from now on.</summary>
    internal (SegmentCache Cache, BlockPool Blocks, StreamPlaces Places) Open(StreamOptions options)
    {
        var terms = (options.ByteBudget, options.CacheCeiling, options.CacheKeep);
        lock (_gate)
        {
            if (_places is null)
                _places = new StreamPlaces(options, _time);
            else
                _places.Configure(options);
            if (_held is { } held && held.Terms == terms)
                return (held.Cache, held.Blocks, _places);
            _held?.Dispose();
            var cache = new SegmentCache(options, _time);
            _held = new Held(terms, cache, new BlockPool(options.CacheGivesWayAt, cache.GiveWay, _time, _misused));
            return (cache, _held.Blocks, _places);
        }
    }

    /// <summary>Gives everything back; what readers still hold goes when they release it.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _held?.Dispose();
            _places?.Dispose();
        }
    }

    private sealed record Held((long Budget, long Ceiling, TimeSpan Keep) Terms, SegmentCache Cache, BlockPool Blocks) : IDisposable
    {
        public void Dispose()
        {
            Cache.Dispose();
            Blocks.Dispose();
        }
    }
}
