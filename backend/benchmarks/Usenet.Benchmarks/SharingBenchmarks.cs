using BenchmarkDotNet.Attributes;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Benchmarks;

/// <summary>What it costs a reader to share a segment that others hold: at most 20 ns for a count taken and given back.</summary>
[MemoryDiagnoser]
public class SharingBenchmarks : IDisposable
{
    private const int PartLength = 716_800;

    private readonly SegmentCache _cache = new(new StreamOptions(), TimeProvider.System);
    private readonly SegmentKey _key = new(new SegmentIds(MessageId.Parse("part12of345.abcdefghijkl@example.com"), []), new Segment(11, 11L * PartLength, PartLength));
    private readonly BlockPool _pool = new(1 << 20);
    private readonly SegmentBuffer _held;

    /// <summary>One segment, held by another reader and listed in the cache.</summary>
    public SharingBenchmarks()
    {
        _held = new SegmentBuffer(_pool, PartLength);
        _held.Retain();
        _cache.Add(_key, _held);
    }

    /// <summary>A count of a buffer at hand.</summary>
    [Benchmark(Baseline = true)]
    public void RetainAndRelease()
    {
        _held.Retain();
        _held.Release();
    }

    /// <summary>The same for one that has to be found first.</summary>
    [Benchmark]
    public void FindAndRelease() => _cache.Take(_key)!.Release();

    /// <summary>Gives everything back.</summary>
    [GlobalCleanup]
    public void Dispose()
    {
        _cache.Dispose();
        _pool.Dispose();
        GC.SuppressFinalize(this);
    }
}
