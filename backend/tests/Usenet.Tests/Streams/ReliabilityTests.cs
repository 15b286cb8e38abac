using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>The engine's part of those rows in the failure list that concern memory and traffic of streams.</summary>
public sealed class ReliabilityTests
{
    private const int ArticleSize = 3 * BlockPool.BlockSize;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task F01_Blocks_never_exceed_the_budget_as_streams_open_and_close()
    {
        var options = new StreamOptions { ByteBudget = 8L << 20, GuaranteedBytes = 1L << 20, ReadAhead = 8L << 20 };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(6 * 150, ArticleSize, files: 6),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(5) }] },
            streams: options);
        var most = 0;
        await using (var first = Open(host, 0))
        {
            await ReadAsync(first, 40 * ArticleSize);
            Assert.InRange(host.Engine.Places.Budget.Held, 1, options.ByteBudget * 7 / 8);
            await Task.WhenAll(Enumerable.Range(1, 5).Select(async file =>
            {
                await using var stream = Open(host, file);
                // Each new stream makes the earlier ones return memory above their share before it reads a byte.
                await ReadAsync(stream, (60 + (10 * file)) * ArticleSize);
            }));
        }

        await host.AssertNothingIsLeftAsync(Token);
        Assert.Equal(0, host.Engine.Places.Budget.Held);

        // A rent is counted before idle blocks have been freed for it, so each connection may exceed the budget by one block for a moment.
        Assert.InRange(most, 1, (options.ByteBudget / BlockPool.BlockSize) + 8);

        async Task ReadAsync(ReadOnlyStream stream, long count)
        {
            var buffer = new byte[20_000];
            while (stream.Position < count)
            {
                Assert.NotEqual(0, await stream.ReadAsync(buffer, Token));
                for (var seen = Volatile.Read(ref most); host.Engine.Blocks.Rented is var now && now > seen; seen = Volatile.Read(ref most))
                    Interlocked.CompareExchange(ref most, now, seen);
                Assert.InRange(host.Engine.Places.Budget.Held, 0, options.ByteBudget);
            }
        }
    }

    [Theory(Timeout = 120_000)]
    [InlineData(32, 0)]
    [InlineData(48, 512 << 10)]
    public async Task F02_Paused_and_slow_readers_do_not_delay_a_new_stream(int paused, int lent)
    {
        const int Slow = 8;
        var newcomer = paused + Slow;

        // A reader that has read three articles at full speed may request sixteen times as many: the rest of its file.
        const int AskedFor = (12 - 3) * ArticleSize;

        // On this clock of streams and connections, which stands still, no wait for a timer ever ends.
        var time = new ManualTimeProvider();
        await using var host = await StartAsync(time);
        List<ReadOnlyStream> streams = [];
        var buffer = new byte[3 * ArticleSize];
        for (var file = 0; file < newcomer; file++)
        {
            streams.Add(Open(host, file));
            await streams[file].ReadExactlyAsync(buffer, Token);
        }

        // Bytes being sent to a client that reads nothing: at most the rest of a segment.
        var loans = lent == 0 ? [] : await LendAsync(streams.Take(paused), lent);
        var sending = loans.Count * ArticleSize;

        // After ten seconds a paused reader keeps two segments, after thirty none; a slow one keeps its requested segments.
        await SettleAsync(host, long.MaxValue);
        await PlayAsync(11);
        await SettleAsync(host, (paused * 2 * ArticleSize) + (Slow * AskedFor), sending);
        await PlayAsync(20);
        await SettleAsync(host, Slow * AskedFor, sending);

        // A new stream gets its first byte as on an idle server: by the same commands, on open connections, at once.
        var idleTime = new ManualTimeProvider();
        await using (var idle = await StartAsync(idleTime))
        {
            await using (var first = Open(idle, 0))
                await first.ReadExactlyAsync(buffer, Token);
            await idle.AssertNothingIsLeftAsync(Token);
            Assert.Equal(await FirstByteAsync(idle), await FirstByteAsync(host));
        }

        // A pause of hours is allowed, and costs the reader one segment to continue byte-exact.
        time.Advance(TimeSpan.FromHours(3));
        byte[] read = [.. loans.Skip(5).Take(1).SelectMany(loan => loan.Blocks).SelectMany(block => block), .. new byte[1000]];
        await streams[5].ReadExactlyAsync(read.AsMemory(read.Length - 1000), Token);
        Assert.Equal(host.Truth(3 * ArticleSize, read.Length, file: 5), read);
        loans.ForEach(loan => loan.Return());
        foreach (var stream in streams)
            await stream.DisposeAsync();
        await host.AssertNothingIsLeftAsync(Token);

        Task<EngineHost> StartAsync(ManualTimeProvider clock) => EngineHost.StartAsync(
            EngineHost.Film((newcomer + 1) * 12, ArticleSize, files: newcomer + 1),
            streams: new StreamOptions { ByteBudget = 512L << 20, ProbeBytes = 10_000, LandingReach = 4_000 },
            streamTime: clock,
            nntpTime: clock);

        async Task PlayAsync(int seconds)
        {
            for (var second = 0; second < seconds; second++)
            {
                time.Advance(TimeSpan.FromSeconds(1));
                foreach (var slow in streams.Skip(paused))
                    await slow.ReadExactlyAsync(buffer.AsMemory(0, 1024), Token);
            }
        }

        async Task<(long Bodies, long Tries)> FirstByteAsync(EngineHost at)
        {
            var before = at.Counters;
            await using (var another = Open(at, newcomer))
                await another.ReadExactlyAsync(buffer.AsMemory(0, 1), Token);
            await SettleAsync(at, long.MaxValue);
            return (at.Mock.Stats.CommandCount("BODY") - before.Bodies, at.Counters.Tries - before.Tries);
        }
    }

    private static Task SettleAsync(EngineHost at, long bytes, long sent = 0) => Eventually.HoldsAsync(
        () => at.Engine.Places.Budget.Held <= bytes && (at.HeldBlocks * BlockPool.BlockSize) - sent <= bytes && at.Permits == 0,
        () => $"{at.Engine.Places.Budget.Held} bytes and {at.HeldBlocks} blocks instead of {bytes} bytes, {at.Permits} permits",
        Token);

    private static async Task<List<BlockLoan>> LendAsync(IEnumerable<ReadOnlyStream> streams, int most)
    {
        List<BlockLoan> loans = [];
        foreach (var stream in streams)
        {
            loans.Add(new BlockLoan());
            Assert.InRange(await stream.LendAsync(loans[^1], most, Token), 1, ArticleSize);
        }

        return loans;
    }

    [Fact]
    public async Task F05_Background_readers_share_a_quarter_of_the_budget()
    {
        var options = new StreamOptions { ByteBudget = 8L << 20, GuaranteedBytes = 1L << 20, ReadAhead = 8L << 20 };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(3 * 100, ArticleSize, files: 3),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(5) }] },
            streams: options);
        await Task.WhenAll(Enumerable.Range(0, 3).Select(async file =>
        {
            await using var stream = host.Engine.Open([FileExtent.Whole(host.File(file))], OperationLane.Import);
            var buffer = new byte[50_000];
            while (await stream.ReadAsync(buffer, Token) > 0)
                Assert.InRange(host.Engine.Places.Budget.Held, 0, (options.ByteBudget / 4) + (3 * ArticleSize));
        }));
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task F26_Short_reads_and_pauses_overfetch_little_and_leak_nothing()
    {
        const int Sessions = 5000;
        const int Cap = 8;

        // Short, so that a reader soon returns from a pause longer than both.
        var limits = new StreamOptions { ProbeBytes = 10_000, LandingReach = 4_000, IdleTrim = TimeSpan.FromMilliseconds(15), IdleDrop = TimeSpan.FromMilliseconds(30) };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(300, ArticleSize), new MockOptions { Providers = [new MockProvider { MaxConnections = Cap }] }, streams: limits);
        var length = host.Release.Files[0].Size;
        var random = new Random(26);
        var (read, paused) = (0L, 0L);
        await Parallel.ForEachAsync(Enumerable.Range(0, Sessions), new ParallelOptions { MaxDegreeOfParallelism = 8, CancellationToken = Token }, async (_, token) =>
        {
            long position;
            int count;
            int pausesAfter;
            long? end;
            lock (random)
            {
                // Nine of ten sessions are short, as of scanners and scrubbing players; the others play for a while. One in eight pauses.
                count = random.Next(10) < 9 ? random.Next(1, 65_536) : random.Next(65_536, 12 * ArticleSize);
                position = random.NextInt64(length - count);
                end = random.Next(2) == 0 ? position + count : null;
                pausesAfter = random.Next(8) == 0 ? random.Next(1, count + 1) : 0;
            }

            var buffer = new byte[count];
            await using var stream = host.Open(position, end);
            if (pausesAfter > 0)
            {
                await stream.ReadExactlyAsync(buffer.AsMemory(0, pausesAfter), token);
                await Task.Delay(2 * limits.IdleDrop, TimeProvider.System, token);
                Interlocked.Increment(ref paused);
            }

            await stream.ReadExactlyAsync(buffer.AsMemory(pausesAfter), token);
            Interlocked.Add(ref read, count);
            var looked = pausesAfter > 0 ? count : Math.Min(64, count);
            Assert.True(buffer.AsSpan(0, looked).SequenceEqual(host.Truth(position, looked)), $"wrong bytes at {position}");
        });

        await host.AssertNothingIsLeftAsync(Token);
        Assert.InRange(host.Pool.Sockets(0), 0, Cap);
        Assert.InRange(host.Mock.Stats.ConnectionsPeak, 1, Cap);
        Assert.InRange(paused, Sessions / 16, Sessions);

        // A reader that continues after its buffers were released fetches an article again.
        var allowed = 1.25 * (read + ((Sessions + paused) * ArticleSize));
        Assert.InRange(host.Counters.BytesReceived / 1.04, read / 2, allowed);
    }

    [Fact]
    public async Task F26_Nothing_past_the_last_requested_segment_is_fetched()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(60, 20_000),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(10) }] });
        await using (var stream = host.Open(15_000, 615_000))
            await stream.ReadExactlyAsync(new byte[600_000], Token);
        Assert.Equal(31, host.Mock.Stats.CommandCount("BODY"));
        Assert.Equal(31, host.Mock.Stats.Bodies.Count);
    }

    private static ReadOnlyStream Open(EngineHost host, int file) => host.Engine.Open([FileExtent.Whole(host.File(file))], OperationLane.Playback);
}
