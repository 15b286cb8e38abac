using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class CombinedStreamTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Whole_file_is_read_correctly_with_one_BODY_per_article()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(60));
        var length = (int)host.Release.Files[0].Size;
        await using (var stream = host.Open())
        {
            var read = new byte[length];
            await stream.ReadExactlyAsync(read, Token);
            Assert.Equal(host.Truth(0, length), read);
            Assert.Equal(0, await stream.ReadAsync(new byte[10], Token));
        }

        Assert.Equal(60, host.Mock.Stats.Articles);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Random_seeks_and_reads_are_correct_byte_for_byte()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(40, 70_000));
        var length = host.Release.Files[0].Size;
        var random = new Random(3);
        await using var stream = host.Open();
        for (var i = 0; i < 200; i++)
        {
            var position = random.NextInt64(length);
            var count = (int)Math.Min(length - position, random.Next(1, 200_000));
            stream.Position = position;
            var read = new byte[count];
            await stream.ReadExactlyAsync(read, Token);
            Assert.Equal(host.Truth(position, count), read);
        }
    }

    [Fact]
    public async Task Many_files_read_as_one_stream_across_their_boundaries()
    {
        var release = MockRelease.Plain(5, 1_000_000, files: 7, articleSize: 30_000);
        await using var host = await EngineHost.StartAsync(release);
        var files = Enumerable.Range(0, 7).Select(host.File).ToArray();
        var extents = files.Select((file, i) => new FileExtent(file, i * 3, file.Map.Length - (i * 5))).ToArray();
        var truth = extents.SelectMany((extent, i) => host.Truth(extent.Offset, (int)extent.Length, i)).ToArray();

        await using var stream = host.Engine.Open(extents, OperationLane.Playback);
        Assert.Equal(truth.Length, stream.Length);
        var read = new byte[truth.Length];
        await stream.ReadExactlyAsync(read, Token);
        Assert.Equal(truth, read);

        var random = new Random(9);
        for (var i = 0; i < 60; i++)
        {
            var position = random.Next(truth.Length);
            var count = Math.Min(truth.Length - position, random.Next(1, 90_000));
            stream.Position = position;
            await stream.ReadExactlyAsync(read.AsMemory(0, count), Token);
            Assert.True(truth.AsSpan(position, count).SequenceEqual(read.AsSpan(0, count)), $"wrong bytes at {position}+{count}");
        }
    }

    [Theory]
    [InlineData(0, 1024, 1)]
    [InlineData(19_500, 1024, 2)]
    [InlineData(20_000, 20_000, 1)]
    [InlineData(20_001, 20_000, 2)]
    public async Task Nothing_past_the_requested_range_is_fetched(int position, int count, int articles)
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(30));
        await using (var stream = host.Open(position, position + count))
        {
            var read = new byte[count];
            await stream.ReadExactlyAsync(read, Token);
            Assert.Equal(host.Truth(position, count), read);
            Assert.Equal(0, await stream.ReadAsync(read, Token));
        }

        Assert.Equal(articles, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Probe_of_1_KiB_costs_one_article_and_of_64_KiB_at_most_three()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(30, 716_800));
        await using (var stream = host.Open(5_000_000))
            await stream.ReadExactlyAsync(new byte[1024], Token);
        Assert.Equal(1, host.Mock.Stats.CommandCount("BODY"));

        foreach (var position in new[] { 716_800 - 60_000, (3 * 716_800) - 1000, 9_000_000 })
        {
            await host.AssertNothingIsLeftAsync(Token);
            host.Mock.Reset();
            await using (var stream = host.Open(position))
                await stream.ReadExactlyAsync(new byte[64 * 1024], Token);
            Assert.InRange(host.Mock.Stats.CommandCount("BODY"), 1, 3);
        }
    }

    [Fact]
    public async Task Landing_bytes_are_served_early_except_the_last_4_KiB()
    {
        var release = EngineHost.Film(3, 600_000);
        var stall = new MockFault { Kind = FaultKind.BodyStall, Offset = 300_000, Duration = TimeSpan.Zero, Tries = 1 };
        await using var host = await EngineHost.StartAsync(
            release,
            new MockOptions { Faults = [stall] },
            new NntpOptions { PlaybackStall = TimeSpan.FromMilliseconds(700) });
        await using var stream = host.Open(0, 280_000);

        // The article stalls forever after these bytes, so they must have been served from an incomplete article.
        var early = new byte[280_000 - 4096];
        await stream.ReadExactlyAsync(early, Token);
        Assert.Equal(host.Truth(0, early.Length), early);
        Assert.Equal(1, host.Mock.Stats.CommandCount("BODY"));

        // The rest comes from the second try, which begins with the same bytes.
        var rest = new byte[4096];
        await stream.ReadExactlyAsync(rest, Token);
        Assert.Equal(host.Truth(early.Length, 4096), rest);
        Assert.Equal(2, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Corrupt_first_article_makes_the_read_fail()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(3, 200_000), new MockOptions { Corrupt = ArticleSelection.Parse("1") }, streams: new StreamOptions { AskAgainAfter = TimeSpan.Zero });
        await using var stream = host.Open(0, 150_000);
        await Assert.ThrowsAnyAsync<IOException>(async () => await stream.ReadExactlyAsync(new byte[150_000], Token));
    }

    [Fact]
    public async Task Verify_before_serve_releases_no_corrupt_byte()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(3, 200_000),
            new MockOptions { Corrupt = ArticleSelection.Parse("1") },
            streams: new StreamOptions { VerifyBeforeServe = true, AskAgainAfter = TimeSpan.Zero });
        await using var stream = host.Open();
        var gone = await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(new byte[1], Token));
        Assert.Equal(ArticleLoss.Corrupt, gone.Loss);
    }

    [Fact]
    public async Task Missing_article_ends_the_read_there_and_the_rest_is_readable()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(20), new MockOptions { Missing = ArticleSelection.Parse("11") });
        await using var stream = host.Open();
        var before = new byte[200_000];
        await stream.ReadExactlyAsync(before, Token);
        Assert.Equal(host.Truth(0, before.Length), before);
        var gone = await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(new byte[1], Token));
        Assert.Equal((ArticleLoss.Missing, 10), (gone.Loss, gone.Segment));

        stream.Position = 220_000;
        var behind = new byte[50_000];
        await stream.ReadExactlyAsync(behind, Token);
        Assert.Equal(host.Truth(220_000, behind.Length), behind);
    }

    [Fact]
    public async Task Missing_article_is_requested_again_after_an_hour()
    {
        var time = new ManualTimeProvider();
        await using var host = await EngineHost.StartAsync(EngineHost.Film(3), new MockOptions { Missing = ArticleSelection.Parse("2") }, streamTime: time);
        foreach (var asked in new[] { 1, 1, 1 })
            await AssertHoleAsync(asked);
        time.Advance(TimeSpan.FromMinutes(61));
        await AssertHoleAsync(2);

        async Task AssertHoleAsync(int asked)
        {
            await using var stream = host.Open(25_000, 26_000);
            await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(new byte[1], Token));
            Assert.Equal(asked, host.Mock.Stats.CommandCount("BODY"));
        }
    }

    [Fact]
    public async Task Faults_at_one_of_two_providers_lose_no_byte()
    {
        var bad = new MockProvider
        {
            Missing = ArticleSelection.Parse("3,17"),
            Corrupt = ArticleSelection.Parse("5,18"),
            Faults = [new MockFault { Kind = FaultKind.BodyFin, Rate = 0.2 }, new MockFault { Kind = FaultKind.BodyReset, Rate = 0.2 }],
        };
        await using var host = await EngineHost.StartAsync(EngineHost.Film(60), new MockOptions { Providers = [bad, new MockProvider()] });
        var length = (int)host.Release.Files[0].Size;
        var read = new byte[length];
        await using (var stream = host.Open())
            await stream.ReadExactlyAsync(read, Token);
        Assert.Equal(host.Truth(0, length), read);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Paused_reader_drops_its_segments_and_resumes_byte_for_byte()
    {
        const int Blocks = 2;
        var time = new ManualTimeProvider();
        await using var host = await EngineHost.StartAsync(EngineHost.Film(60, Blocks * BlockPool.BlockSize), streamTime: time);
        await using var stream = host.Open();
        var read = new byte[3_000_000];
        await stream.ReadExactlyAsync(read, Token);
        await Eventually.HoldsAsync(
            () => host.HeldBlocks > 2 * Blocks && host.Limiter.InUse(OperationLane.Playback) == 0,
            () => $"{host.HeldBlocks} blocks",
            Token);

        // A fetch that is just ending releases its blocks afterwards.
        time.Advance(TimeSpan.FromSeconds(10));
        await Eventually.HoldsAsync(() => host.HeldBlocks is >= 1 and <= 2 * Blocks, () => $"{host.HeldBlocks} blocks after 10 s", Token);
        time.Advance(TimeSpan.FromSeconds(20));
        await Eventually.HoldsAsync(() => host.HeldBlocks == 0, () => $"{host.HeldBlocks} blocks after 30 s", Token);

        time.Advance(TimeSpan.FromHours(1));
        var behind = new byte[500_000];
        await stream.ReadExactlyAsync(behind, Token);
        Assert.Equal(host.Truth(read.Length, behind.Length), behind);
    }

    [Fact]
    public async Task Thousand_canceled_reads_leak_nothing()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(50, 100_000),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(5), MaxConnections = 8 }] });
        var random = new Random(11);
        var length = host.Release.Files[0].Size;
        await Parallel.ForEachAsync(Enumerable.Range(0, 1000), new ParallelOptions { MaxDegreeOfParallelism = 12, CancellationToken = Token }, async (i, token) =>
        {
            long position;
            int delay;
            lock (random)
                (position, delay) = (random.NextInt64(length), random.Next(0, 12));
            using var cancel = new CancellationTokenSource(TimeSpan.FromMilliseconds(delay));
            await using var stream = host.Open(position);
            var buffer = new byte[40_000];
            try
            {
                while (await stream.ReadAsync(buffer, cancel.Token) is var count and > 0)
                {
                    Assert.True(buffer.AsSpan(0, count).SequenceEqual(host.Truth(position, count)), $"wrong bytes at {position}");
                    position += count;
                }
            }
            catch (OperationCanceledException) when (cancel.IsCancellationRequested)
            {
                // The test canceled the read.
            }
        });

        await host.AssertNothingIsLeftAsync(Token);
        Assert.InRange(host.Pool.Sockets(0), 0, 8);
        Assert.InRange(host.Mock.Stats.ConnectionsPeak, 1, 8);
    }
}
