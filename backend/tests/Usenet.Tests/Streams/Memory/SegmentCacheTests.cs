using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class SegmentCacheTests : IDisposable
{
    private readonly ManualTimeProvider _time = new();
    private readonly SegmentCache _cache;
    private readonly BlockPool _pool;

    public SegmentCacheTests()
    {
        _cache = new SegmentCache(new StreamOptions { CacheBytes = 4 * BlockPool.BlockSize, ByteBudget = 64 * BlockPool.BlockSize }, _time);
        _pool = new BlockPool(8 * BlockPool.BlockSize, _cache.GiveWay);
    }

    [Fact]
    public void Least_recently_used_segment_is_evicted_at_the_limit()
    {
        for (var number = 0; number < 4; number++)
            Add(number).Release();
        _cache.Take(Key(0))!.Release();
        Add(4).Release();
        Assert.Equal([0, 2, 3, 4], Held(5));
        Assert.Equal(4 * BlockPool.BlockSize, _cache.IdleBytes);
        Assert.Equal(4, _pool.Rented);
    }

    [Fact]
    public void Segments_held_by_readers_are_found_and_not_counted()
    {
        var buffers = Enumerable.Range(0, 7).Select(Add).ToArray();
        Assert.Equal(0, _cache.IdleBytes);
        Assert.Equal([0, 1, 2, 3, 4, 5, 6], Held(7));
        foreach (var buffer in buffers)
            buffer.Release();
        Assert.Equal([3, 4, 5, 6], Held(7));
    }

    [Fact]
    public void Readers_have_priority_over_the_cache_if_memory_is_short()
    {
        for (var number = 0; number < 4; number++)
            Add(number).Release();
        var blocks = Enumerable.Range(0, 8).Select(_ => _pool.Rent(this)).ToArray();
        Assert.Equal(8, _pool.Rented);
        Assert.Equal(0, _cache.IdleBytes);
        foreach (var block in blocks)
            _pool.Return(block, this);
    }

    [Fact]
    public void Unused_segment_is_dropped_after_a_minute()
    {
        Add(0).Release();
        _time.Advance(TimeSpan.FromSeconds(40));
        Add(1).Release();
        _time.Advance(TimeSpan.FromSeconds(20));
        Assert.Equal(1, _pool.Rented);
        _time.Advance(TimeSpan.FromSeconds(40));
        Assert.Equal(0, _pool.Rented);
        Assert.Equal(0, _time.Waiting);
    }

    [Fact]
    public void Closed_cache_is_empty_and_accepts_nothing()
    {
        var held = Add(0);
        Add(1).Release();
        _cache.Dispose();
        Add(2).Release();
        Assert.Equal(1, _pool.Rented);
        held.Release();
        Assert.Equal(0, _pool.Rented);
        Assert.Null(_cache.Take(Key(0)));
    }

    [Fact]
    public async Task Concurrent_threads_never_see_a_returned_buffer()
    {
        await Parallel.ForEachAsync(Enumerable.Range(0, 8), TestContext.Current.CancellationToken, (seed, _) =>
        {
            var random = new Random(seed);
            var read = new byte[BlockPool.BlockSize];
            for (var i = 0; i < 3000; i++)
            {
                var number = random.Next(8);
                var buffer = _cache.Take(Key(number)) ?? Add(number);
                buffer.CopyTo(0, read);
                Assert.Equal(-1, read.AsSpan().IndexOfAnyExcept((byte)number));
                buffer.Release();
            }

            return ValueTask.CompletedTask;
        });
        _cache.Dispose();
        Assert.Equal(0, _pool.Rented);
    }

    public void Dispose()
    {
        _cache.Dispose();
        _pool.Dispose();
    }

    private static SegmentKey Key(int number) => new(new SegmentIds(MessageId.Parse($"{number}@film"), []), new Segment(number, 0, BlockPool.BlockSize));

    private SegmentBuffer Add(int number)
    {
        var buffer = new SegmentBuffer(_pool, BlockPool.BlockSize);
        buffer.GetSpan().Fill((byte)number);
        buffer.Advance(BlockPool.BlockSize);
        _cache.Add(Key(number), buffer);
        return buffer;
    }

    private int[] Held(int numbers)
    {
        var held = new List<int>();
        for (var number = 0; number < numbers; number++)
        {
            if (_cache.Take(Key(number)) is not { } buffer)
                continue;
            buffer.Release();
            held.Add(number);
        }

        return [.. held];
    }
}
