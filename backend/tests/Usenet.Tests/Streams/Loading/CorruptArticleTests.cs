using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F18: thousands of damaged articles. No completed read has a wrong byte; in verified-first mode no wrong byte is served at all.</summary>
public sealed class CorruptArticleTests
{
    private const string Id = "part@film";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public Task F18_No_read_of_20000_mutated_articles_ends_with_wrong_bytes() => RunAsync(20_000, 18);

    [Fact]
    [Trait("Category", "Long")]
    public Task F18_No_read_of_200000_mutated_articles_ends_with_wrong_bytes() => RunAsync(200_000, 1_000_018);

    [Fact]
    public async Task CRC_check_can_be_disabled_but_length_is_always_checked()
    {
        var data = TestArticle.Noise(20_000, 18);
        var flipped = TestArticle.OnWire(TestArticle.Part(data));
        flipped[^2000] ^= 1;
        Assert.Equal((0, true), await ReadAsync(flipped, checksCrc: true));
        Assert.Equal((20_000, false), await ReadAsync(flipped, checksCrc: false));

        var longer = TestArticle.OnWire(TestArticle.Part([.. data, 1]));
        Assert.Equal((0, true), await ReadAsync(longer, checksCrc: false));
    }

    /// <returns>Number of bytes served, and whether the article was requested again.</returns>
    private static async Task<(int Bytes, bool AskedAgain)> ReadAsync(byte[] wire, bool checksCrc)
    {
        var source = new ScriptedArticleSource();
        source.Post(Id, wire);
        var options = new StreamOptions { ChecksCrc = checksCrc, VerifyBeforeServe = true, AskAgainAfter = TimeSpan.Zero };
        await using var engine = new StreamEngine(source, options, TimeProvider.System, NullLoggerFactory.Instance);
        await using var stream = engine.Open([FileExtent.Whole(new PostedFile(SegmentMap.Uniform(1, 20_000, 20_000), FixedIds.Same(Id)))], OperationLane.Playback);
        var read = new byte[20_000];
        try
        {
            await stream.ReadExactlyAsync(read, Token);
            return (read.Length, source.Requests.Count > 1);
        }
        catch (ArticleGoneException)
        {
            return (0, source.Requests.Count > 1);
        }
    }

    private static async Task RunAsync(int articles, int seed)
    {
        var (early, refused) = (0, 0);
        for (var i = 0; i < articles; i++)
        {
            var article = new MutatedArticle(seed + i);
            if (article.Wire.AsSpan().SequenceEqual(article.Good))
                continue;
            early += await ReadAsync(article, new StreamOptions { WithheldBytes = 64, AskAgainAfter = TimeSpan.Zero }, seed + i, hasGoodCopy: i % 2 == 0);
            var verified = await ReadAsync(article, new StreamOptions { VerifyBeforeServe = true, AskAgainAfter = TimeSpan.Zero }, seed + i, hasGoodCopy: true);
            Assert.True(verified == article.Data.Length, $"seed {seed + i}, {article.Way}: {verified} bytes beside a good copy");
            refused++;
            if (article.Expected != SegmentProof.Corrupt && !article.HasGoodKeywords)
                continue;

            // An article with every byte right was damaged where that does not matter.
            var alone = await ReadAsync(article, new StreamOptions { VerifyBeforeServe = true, AskAgainAfter = TimeSpan.Zero }, seed + i, hasGoodCopy: false);
            Assert.True(alone == 0 || alone == article.Data.Length, $"seed {seed + i}, {article.Way}: {alone} bytes left");
        }

        // The test proves something only if bytes were served before the articles were complete.
        Assert.InRange(refused, articles * 9 / 10, articles);
        Assert.InRange(early, articles, long.MaxValue);
    }

    /// <summary>Reads the mutated part. The read may complete only if every byte is right.</summary>
    /// <returns>Number of bytes served.</returns>
    private static async Task<int> ReadAsync(MutatedArticle article, StreamOptions options, int seed, bool hasGoodCopy)
    {
        // If a lone store serves the same wrong bytes twice, they count as posted; no test can tell them from the truth.
        var isTruth = article.Expected is SegmentProof.Corrupt or SegmentProof.Proved || article.HasGoodKeywords;
        var source = new ScriptedArticleSource(providers: hasGoodCopy || !isTruth ? 2 : 1, portion: 700);
        source.Post(Id, article.Good);
        source.Replace(0, Id, article.Wire);
        await using var engine = new StreamEngine(source, options, TimeProvider.System, NullLoggerFactory.Instance);
        var lengths = new[] { MutatedArticle.Begin, (long)article.Data.Length, MutatedArticle.FileSize - MutatedArticle.Begin - article.Data.Length };
        var file = new PostedFile(SegmentMap.FromLengths(lengths), FixedIds.Same(Id, count: 3));
        await using var stream = engine.Open([FileExtent.Whole(file)], OperationLane.Playback, MutatedArticle.Begin, MutatedArticle.Begin + article.Data.Length);
        var read = new byte[article.Data.Length];
        var total = 0;
        try
        {
            while (await stream.ReadAsync(read.AsMemory(total), Token) is var count and > 0)
                total += count;
        }
        catch (IOException)
        {
            return total;
        }

        Assert.True(read.AsSpan().SequenceEqual(article.Data), $"seed {seed}, {article.Way}: a complete read with wrong bytes");
        return total;
    }
}
