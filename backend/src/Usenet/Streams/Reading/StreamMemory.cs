using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// State that outlives an engine, because it stays valid under new settings: verified segments, trust, and bytes reloaded for damaged files. Segments are
/// dropped only if their memory limits change. Open streams share places and budget with the next engine.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> serializes the opening of engines. While it is held, the locks of the memory are acquired, and the locks of streams that release
/// memory because the budget has shrunk. Dispose this object after the engines that use it.
/// </remarks>
public sealed class StreamMemory : IDisposable
{
    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly Action<string>? _misused;
    private StreamPlaces? _places;
    private Held? _held;

    /// <param name="misused">Called with a description if memory is used after its release; see <see cref="BlockPool"/>.</param>
    public StreamMemory(TimeProvider time, Action<string>? misused = null)
    {
        _time = time;
        _misused = misused;
        Trust = new TrustLedger(time);
        Reloads = new ReloadTraffic(time);
    }

    internal TrustLedger Trust { get; }

    internal ReloadTraffic Reloads { get; }

    public ServedCounts Served => Segments.Counts;

    /// <summary>Bytes that all streams together hold now; zero before the first engine.</summary>
    public long HeldBytes
    {
        get
        {
            lock (_gate)
                return _places?.Budget.Held ?? 0;
        }
    }

    internal ServedSegments Segments { get; } = new();

    /// <summary>Returns and clears the files newly recorded as corrupt. The caller stores them, because they count across restarts.</summary>
    public IReadOnlyList<RememberedLie> TakeNewLies() => Trust.TakeNew();

    /// <summary>Restores the corrupt files that an earlier process stored.</summary>
    public void Restore(IEnumerable<RememberedLie> lies) => Trust.Restore(lies);

    /// <summary>Returns cache, blocks and places for these options, which also replace the options of the places.</summary>
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

    /// <summary>Releases everything. Memory held by readers is freed when they release it.</summary>
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
