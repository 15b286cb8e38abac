using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>ProviderTraffic charges a fetch to the reader that started it (OPS-43), and counts its bytes for the purpose of that reader (OPS-42).</summary>
public sealed class ReaderAccountTests : IDisposable
{
    private const int ArticleSize = 20_000;

    // The reply to the first request is still on its way when the second reader asks for the same article.
    private static readonly MockOptions SlowAnswers = new() { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(500) }] };

    private readonly string _folder = Directory.CreateTempSubdirectory("sluice-account-").FullName;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Reader_pays_for_unread_prefetch()
    {
        var account = new ReaderAccount(TrafficLane.Playback);
        await using var host = await EngineHost.StartAsync(EngineHost.Film(30));
        await using (var stream = Open(host, account))
        {
            await stream.ReadExactlyAsync(new byte[1_000], Token);
            await stream.ReadExactlyAsync(new byte[ArticleSize * 3], Token);
        }

        // A pool that closes in the middle of an article leaves bytes unread that the mock has counted.
        await host.AssertNothingIsLeftAsync(Token);
        await host.AssertCountsAgreeAsync(Token);
        Assert.Equal(host.Use.Lanes.Playback, account.Bytes.Received);
        Assert.True(account.Bytes.Received > ArticleSize * 4, $"{account.Bytes.Received} bytes");
        Assert.InRange(account.Bytes.Received + host.Use.Lanes.Other, host.Mock.Stats.Bytes * 0.999, host.Mock.Stats.Bytes * 1.001);
        Assert.Equal(host.Pool.ProviderId(0), Assert.Single(account.Bytes.Providers).Key);
    }

    [Fact]
    public async Task Reader_of_an_article_in_transit_pays_nothing()
    {
        var (first, second) = (new ReaderAccount(TrafficLane.Playback), new ReaderAccount(TrafficLane.Scans));
        await using var host = await EngineHost.StartAsync(EngineHost.Film(1), SlowAnswers);

        await ReadBothAsync(host, first, second, OperationLane.Playback);

        Assert.Equal((host.Use.Lanes.Playback, 0), (first.Bytes.Received, host.Use.Lanes.Scans));
        Assert.Equal((0, 0, 0), (second.Bytes.Received, second.Bytes.Memory, second.Bytes.Disk));
        Assert.Equal(1, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Import_overtaken_by_a_viewer_remains_an_import()
    {
        var account = new ReaderAccount(TrafficLane.Playback);
        await using var host = await EngineHost.StartAsync(EngineHost.Film(1), SlowAnswers);

        await ReadBothAsync(host, null, account, OperationLane.Import);

        Assert.Equal((0, 0), (account.Bytes.Received, host.Use.Lanes.Playback));
        Assert.InRange(host.Use.Lanes.Import, ArticleSize / 2, host.Mock.Stats.Bytes);
    }

    [Fact]
    public async Task Bytes_move_to_the_lane_decided_later()
    {
        var account = new ReaderAccount();
        await using var host = await EngineHost.StartAsync(EngineHost.Film(8));
        await ReadAsync(host, account, 0, ArticleSize * 2);
        var before = account.Bytes.Received;
        Assert.Equal((before, 0), (host.Use.Lanes.Undecided, host.Use.Lanes.Scans));

        account.Decide(TrafficLane.Scans);
        account.Decide(TrafficLane.Playback);
        Assert.Equal((0, before), (host.Use.Lanes.Undecided, host.Use.Lanes.Scans));
        await ReadAsync(host, account, ArticleSize * 4, ArticleSize * 2);

        Assert.InRange(account.Bytes.Received, before + ArticleSize, long.MaxValue);
        Assert.Equal((0, account.Bytes.Received, 0), (host.Use.Lanes.Undecided, host.Use.Lanes.Scans, host.Use.Lanes.Playback));
    }

    [Fact]
    public async Task Bytes_after_the_end_of_an_account_are_other_traffic()
    {
        var account = new ReaderAccount(TrafficLane.Playback);
        await using var host = await EngineHost.StartAsync(EngineHost.Film(8));
        await ReadAsync(host, account, 0, ArticleSize * 2);
        var final = account.Close();
        var before = host.Use.Lanes;

        await ReadAsync(host, account, ArticleSize * 4, ArticleSize * 2);

        Assert.Equal(final.Received, account.Bytes.Received);
        Assert.Equal(before.Playback, host.Use.Lanes.Playback);
        Assert.InRange(host.Use.Lanes.Other - before.Other, ArticleSize, long.MaxValue);
    }

    [Fact]
    public async Task Cached_segments_count_for_their_reader()
    {
        var release = EngineHost.Film(6);
        await using (var disk = new DiskSegmentCache(new DiskCacheOptions(_folder), NullLoggerFactory.Instance))
        await using (var host = await EngineHost.StartAsync(release, disk: disk))
        {
            var (first, second) = (new ReaderAccount(), new ReaderAccount());
            await ReadAsync(host, first, 0, ArticleSize);
            await ReadAsync(host, second, 0, ArticleSize);
            Assert.Equal((0, ArticleSize, 0), (first.Bytes.Memory, second.Bytes.Memory, second.Bytes.Received));
        }

        await using var kept = new DiskSegmentCache(new DiskCacheOptions(_folder), NullLoggerFactory.Instance);
        await using var next = await EngineHost.StartAsync(release, disk: kept);
        var third = new ReaderAccount();
        await ReadAsync(next, third, 0, ArticleSize);
        Assert.Equal((0, ArticleSize, 0), (third.Bytes.Memory, third.Bytes.Disk, third.Bytes.Received));
    }

    private static ReadOnlyStream Open(EngineHost host, ReaderAccount? account, OperationLane lane = OperationLane.Playback, long position = 0, long? end = null) =>
        host.Engine.Open([FileExtent.Whole(host.File())], lane, position, end, account: account);

    /// <summary>Reads a range, and waits for the rest of its articles.</summary>
    private static async Task ReadAsync(EngineHost host, ReaderAccount account, long position, int count)
    {
        await using (var stream = Open(host, account, position: position, end: position + count))
            await stream.ReadExactlyAsync(new byte[count], Token);
        await host.AssertNothingIsLeftAsync(Token);
    }

    private static async Task ReadBothAsync(EngineHost host, ReaderAccount? first, ReaderAccount second, OperationLane firstLane)
    {
        await using (var one = Open(host, first, firstLane))
        await using (var other = Open(host, second))
        {
            var reading = one.ReadExactlyAsync(new byte[one.Length], Token).AsTask();
            await other.ReadExactlyAsync(new byte[other.Length], Token);
            await reading;
        }

        await host.AssertCountsAgreeAsync(Token);
    }
}
