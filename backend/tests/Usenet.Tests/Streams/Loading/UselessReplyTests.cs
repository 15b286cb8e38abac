using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Useless replies that will not improve: how often an article is requested if its only provider sends nothing else (F18).</summary>
public sealed class UselessReplyTests
{
    private const int ArticleSize = 20_000;

    private static readonly NntpOptions SmallArticles = new() { HedgeEnabled = false, MaxArticleBytes = 10_000 };

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(NntpFault.WrongArticle)]
    [InlineData(NntpFault.MalformedReply)]
    [InlineData(NntpFault.ArticleTooLarge)]
    public async Task Article_with_useless_replies_is_tried_at_most_three_times(NntpFault fault)
    {
        var source = new ScriptedArticleSource();
        source.Post("part@film", []);
        source.Break("part@film", fault);
        await using var engine = new StreamEngine(source, new StreamOptions { PlaybackRetries = TimeSpan.FromSeconds(5) }, TimeProvider.System, NullLoggerFactory.Instance);
        await using var stream = engine.Open([FileExtent.Whole(new PostedFile(SegmentMap.Uniform(1, 1000, 1000), FixedIds.Same("part@film")))], OperationLane.Playback);
        var broke = await Assert.ThrowsAsync<NntpException>(async () => await stream.ReadExactlyAsync(new byte[1000], Token));
        Assert.Equal(fault, broke.Fault);
        Assert.InRange(source.Requests.Count, 1, 3);
    }

    [Fact]
    public async Task Oversized_body_at_every_provider_is_corrupt_and_not_retried()
    {
        await using var host = await StartAsync(providers: 2);
        for (var read = 0; read < 3; read++)
        {
            await using var stream = host.Open(0, ArticleSize);
            var gone = await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(new byte[ArticleSize], Token));
            Assert.Equal(ArticleLoss.Corrupt, gone.Loss);
        }

        // Two fetches, with up to two tries at each provider.
        Assert.InRange(host.Mock.Stats.BodyCount(host.Release.MessageId(0, 1)), 4, 8);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Oversized_body_proves_nothing_while_a_provider_is_down()
    {
        var down = new MockFault { Kind = FaultKind.ConnectClose, Provider = 1 };
        await using var host = await StartAsync(providers: 2, down);
        await using (var stream = host.Open(0, ArticleSize))
            await Assert.ThrowsAsync<NntpException>(async () => await stream.ReadExactlyAsync(new byte[ArticleSize], Token));
        Assert.InRange(host.Mock.Stats.BodyCount(host.Release.MessageId(0, 1)), 1, 6);
    }

    /// <summary>
    /// A provider in cooldown after garbled replies has not answered for this article, because those replies concerned others. If no other
    /// provider has the article, the reader does not wait for a cooldown longer than its own timeout.
    /// </summary>
    [Theory]
    [InlineData(1, 8)]
    [InlineData(60, 20)]
    public async Task Only_source_in_cooldown_is_retried_rarely_and_recovers(int restSeconds, int patienceSeconds)
    {
        var rest = TimeSpan.FromSeconds(restSeconds);
        var garbled = new MockFault { Kind = FaultKind.CommandGarbage, Provider = 1, Verb = "BODY" };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(3, ArticleSize),
            new MockOptions { Providers = [new MockProvider { Missing = ArticleSelection.All }, new MockProvider()], Faults = [garbled] },
            new NntpOptions { HedgeEnabled = false, BreakerCooldown = rest, BreakerLongestCooldown = rest },
            new StreamOptions { CacheBytes = 0, PlaybackRetries = TimeSpan.FromSeconds(patienceSeconds) });
        await using (var stream = host.Open(0, ArticleSize))
            await Assert.ThrowsAsync<NntpException>(async () => await stream.ReadExactlyAsync(new byte[ArticleSize], Token));

        // The replies that start the cooldown, and one per second from then on.
        Assert.InRange(host.Mock.ProviderStats[1].CommandCount("BODY"), 4, 8 + patienceSeconds);

        host.Mock.ChangeFaults([]);
        await host.AssertReadsCleanAsync(file: 0, tries: 1, Token);
    }

    private static Task<EngineHost> StartAsync(int providers, params MockFault[] faults) => EngineHost.StartAsync(
        EngineHost.Film(3, ArticleSize),
        new MockOptions { Providers = [.. Enumerable.Range(0, providers).Select(_ => new MockProvider())], Faults = faults },
        SmallArticles,
        new StreamOptions { ProbeBytes = 1000, LandingReach = 1000, AskAgainAfter = TimeSpan.Zero, PlaybackRetries = TimeSpan.FromSeconds(5) });
}
