using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Ten concurrent readers of one file cost one download and hardly more memory than one reader.</summary>
public sealed class SharedReadersTests
{
    private const int Articles = 120;
    private const int ArticleSize = 130_000;
    private const int BlocksOfArticle = 2;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Ten_readers_need_no_more_articles_or_memory_than_one()
    {
        var options = new StreamOptions { ReadAhead = 4L << 20, CacheBytes = 2L << 20 };
        var (oneArticles, oneBlocks) = await ReadAsync(1, options);
        var (tenArticles, tenBlocks) = await ReadAsync(10, options);
        Assert.Equal(Articles, oneArticles);
        Assert.InRange(tenArticles, Articles, (long)(Articles * 1.05));

        // One reader may hold its window, the cache behind it and the current article; ten readers hold the same articles.
        var most = ((options.ReadAhead + options.CacheBytes) / BlockPool.BlockSize) + BlocksOfArticle;
        Assert.InRange(oneBlocks, 1, most);
        Assert.InRange(tenBlocks, 1, most);
    }

    [Fact]
    public async Task Unshared_readers_each_fetch_every_article()
    {
        const int Readers = 3;
        var options = new StreamOptions { ReadAhead = 4L << 20, CacheBytes = 2L << 20, SharesSegments = false };
        var (articles, _) = await ReadAsync(Readers, options);
        Assert.Equal(Readers * Articles, articles);
    }

    /// <summary>All readers read the same 64 KiB before any of them continues, like players that were started together.</summary>
    private static async Task<(long Articles, long MostBlocks)> ReadAsync(int readers, StreamOptions options)
    {
        // On a clock that stands still, with each round trip awaited, every window grows to its limit, for one reader as for ten.
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles, ArticleSize),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(20) }] },
            streams: options,
            streamTime: new ManualTimeProvider());
        var length = host.Release.Files[0].Size;
        var streams = Enumerable.Range(0, readers).Select(_ => host.Open()).ToArray();
        var buffers = streams.Select(_ => new byte[64 * 1024]).ToArray();
        long most = 0;
        for (long position = 0; position < length; position += buffers[0].Length)
        {
            var count = (int)Math.Min(buffers[0].Length, length - position);
            await Task.WhenAll(streams.Select((stream, i) => stream.ReadExactlyAsync(buffers[i], 0, count, Token).AsTask()));
            most = Math.Max(most, host.Engine.Blocks.Rented);
            var truth = host.Truth(position, count);
            foreach (var buffer in buffers)
                Assert.True(buffer.AsSpan(0, count).SequenceEqual(truth), $"wrong bytes at {position}");
        }

        foreach (var stream in streams)
            await stream.DisposeAsync();
        await host.AssertNothingIsLeftAsync(Token);
        return (host.Mock.Stats.Articles, most);
    }
}
