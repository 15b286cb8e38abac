using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>A change of settings creates a new engine, which keeps the segments that the old engine has proved.</summary>
public sealed class StreamMemoryTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Proved_segments_are_not_refetched_by_the_next_engine()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(10));
        using var memory = new StreamMemory(TimeProvider.System);
        var file = host.File();
        for (var engine = 0; engine < 3; engine++)
        {
            await using var each = new StreamEngine(host.Pool, new StreamOptions(), TimeProvider.System, NullLoggerFactory.Instance, memory: memory);
            await using var stream = each.Open([FileExtent.Whole(file)], OperationLane.Playback);
            var read = new byte[file.Map.Length];
            await stream.ReadExactlyAsync(read, Token);
            Assert.Equal(host.Truth(0, read.Length), read);
        }

        Assert.Equal(10, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Changed_byte_budget_drops_cached_segments()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(10));
        using var memory = new StreamMemory(TimeProvider.System);
        StreamEngine? first = null;
        foreach (var budget in (long[])[256L << 20, 128L << 20])
        {
            var engine = new StreamEngine(host.Pool, new StreamOptions { ByteBudget = budget }, TimeProvider.System, NullLoggerFactory.Instance, memory: memory);
            await using (var stream = engine.Open([FileExtent.Whole(host.File())], OperationLane.Playback))
                await stream.ReadExactlyAsync(new byte[host.File().Map.Length], Token);
            if (first is not null)
            {
                Assert.Equal(0, first.CachedBytes);
                await first.DisposeAsync();
            }

            first = engine;
        }

        await first!.DisposeAsync();
        Assert.Equal(20, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Streams_of_the_old_engine_share_the_new_budget()
    {
        const long Budget = 4L << 20;
        const long Guaranteed = 256L << 10;
        await using var host = await EngineHost.StartAsync(EngineHost.Film(1_000));
        using var memory = new StreamMemory(TimeProvider.System);
        var engines = new List<StreamEngine>();
        var streams = new List<Stream>();
        long Held() => engines.Max(engine => engine.Places.Budget.Held);
        for (var budget = Budget; budget >= Budget / 2; budget -= Budget / 2)
        {
            var hour = TimeSpan.FromHours(1);
            var options = new StreamOptions { ByteBudget = budget, GuaranteedBytes = Guaranteed, CacheBytes = 0, IdleTrim = hour, IdleDrop = hour };
            engines.Add(new StreamEngine(host.Pool, options, TimeProvider.System, NullLoggerFactory.Instance, memory: memory));
            for (var reader = 0; reader < 2; reader++)
            {
                var stream = engines[^1].Open([FileExtent.Whole(host.File())], OperationLane.Playback, reader * 100_000);
                await stream.ReadExactlyAsync(new byte[2 << 20], Token);
                streams.Add(stream);
            }
        }

        await Eventually.HoldsAsync(() => Held() <= Budget / 2, () => $"{Held()} bytes are held", Token);
        Assert.Equal([2, 2], engines.Select(engine => engine.OpenStreams));
        foreach (var stream in streams)
            await stream.DisposeAsync();
        await Eventually.HoldsAsync(() => Held() == 0, () => $"{Held()} bytes are left", Token);
        Assert.All(engines, engine => Assert.Equal(0, engine.OpenStreams));
        foreach (var engine in engines)
            await engine.DisposeAsync();
    }

    [Fact]
    public void Use_after_return_is_reported_to_the_owner()
    {
        using var memory = new StreamMemory(TimeProvider.System, static found => throw new InvalidOperationException(found));
        var (_, blocks, _) = memory.Open(new StreamOptions());
        var block = blocks.Rent(this);
        blocks.Return(block, this);

        Assert.Throws<InvalidOperationException>(() => blocks.Verify(block, this));
    }

    [Fact]
    public void Cache_shrinks_once_an_eighth_of_the_memory_is_in_use()
    {
        using var memory = new StreamMemory(TimeProvider.System);
        var (cache, blocks, _) = memory.Open(new StreamOptions { ByteBudget = 64 * BlockPool.BlockSize, CacheBytes = 8 * BlockPool.BlockSize });
        for (var number = 0; number < 8; number++)
        {
            var kept = new SegmentBuffer(blocks, BlockPool.BlockSize);
            cache.Add(new SegmentKey(new SegmentIds(MessageId.Parse($"{number}@film"), []), new Segment(number, 0, BlockPool.BlockSize)), kept);
            kept.GetSpan().Clear();
            kept.Advance(BlockPool.BlockSize);
            kept.Release();
        }

        var held = Enumerable.Range(0, 6).Select(_ => blocks.Rent(this)).ToArray();
        Assert.Equal(2 * BlockPool.BlockSize, cache.IdleBytes);
        Assert.Equal(8, blocks.Rented);
        foreach (var block in held)
            blocks.Return(block, this);
    }

    [Fact]
    public void Trust_is_lost_per_account_not_per_position()
    {
        var (liar, honest) = (Guid.NewGuid(), Guid.NewGuid());
        using var memory = new StreamMemory(TimeProvider.System);
        Guid[] before = [liar, honest];
        var file = new FileOrigin("a", 1);
        memory.Trust.Judged(file, before[0], isCorrupt: true);

        Guid[] after = [honest, liar];

        Assert.True(memory.Trust.IsTrusted(after[0]));
        Assert.False(memory.Trust.IsTrusted(after[1]));
        Assert.False(memory.Trust.IsTrusted(file));
        Assert.True(memory.Trust.IsTrusted(new FileOrigin("b", 1)));
    }
}
