using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class StatTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Walk_of_10000_STATs_batches_flushes_and_caps_the_pipeline()
    {
        await using var host = await StartAsync(10_000, new MockProvider { Latency = TimeSpan.FromMilliseconds(5) });
        // The first batches measure the line; the round trip takes far longer than the transfer of an answer.
        await host.StatAsync(1, 100);
        var before = host.Counters.Flushes;
        var answers = await host.StatAsync(1, 10_000);
        Assert.All(answers, answer => Assert.True(answer.IsPresent));
        Assert.Equal(10_100, host.Mock.Stats.CommandCount("STAT"));
        Assert.InRange(host.Counters.Flushes - before, 100, 400);
        Assert.InRange(host.Mock.Stats.DeepestPipeline, 50, 100);
        Assert.InRange(host.Mock.Stats.ConnectionsPeak, 1, 8);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task STAT_is_sent_to_the_next_provider_only_for_misses()
    {
        await using var host = await StartAsync(
            300,
            new MockProvider { Missing = ArticleSelection.Parse("7,123,300") },
            new MockProvider { Missing = ArticleSelection.Parse("123") });
        var answers = await host.StatAsync(1, 300);
        for (var part = 1; part <= 300; part++)
        {
            var expected = part switch
            {
                123 => new ArticlePresence(default, Set(0, 1), default),
                7 or 300 => new ArticlePresence(Set(1), Set(0), default),
                _ => new ArticlePresence(Set(0), default, default),
            };
            Assert.Equal(expected, answers[part - 1]);
        }

        Assert.Equal([300, 3], host.Mock.ProviderStats.Select(stats => stats.CommandCount("STAT")));
        Assert.True(answers[122].IsMissingEverywhere);
    }

    [Fact]
    public async Task STAT_miss_covers_the_backbone_unless_all_are_required()
    {
        var empty = new MockProvider { Missing = ArticleSelection.All };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(5),
            new MockOptions { Providers = [empty, empty, new MockProvider()] },
            provider: (index, account) => account with { Backbone = index < 2 ? "same" : "other" });
        Assert.All(await host.StatAsync(1, 5), answer => Assert.Equal(new ArticlePresence(Set(2), Set(0), default), answer));
        Assert.All(await host.StatAsync(1, 5, everyProvider: true), answer => Assert.Equal(new ArticlePresence(Set(2), Set(0, 1), default), answer));
        Assert.Equal([10, 5, 10], host.Mock.ProviderStats.Select(stats => stats.CommandCount("STAT")));
    }

    [Theory]
    [InlineData(FaultKind.Command503)]
    [InlineData(FaultKind.Command500)]
    [InlineData(FaultKind.ConnectClose)]
    public async Task Failing_provider_is_reported_as_unanswered_not_missing(FaultKind kind)
    {
        await using var host = await StartAsync(20, new MockProvider { Missing = ArticleSelection.All }, new MockProvider());
        host.Mock.ChangeFaults([new MockFault { Kind = kind, Provider = 1 }]);
        var answers = await host.StatAsync(1, 20);
        Assert.All(answers, answer =>
        {
            Assert.Equal(new ArticlePresence(default, Set(0), Set(1)), answer);
            Assert.False(answer.IsMissingEverywhere);
        });
    }

    [Theory]
    [InlineData(FaultKind.CommandOtherId)]
    [InlineData(FaultKind.CommandSwapped)]
    [InlineData(FaultKind.CommandTwice)]
    public async Task Out_of_sync_STAT_answers_never_misreport_an_article(FaultKind kind)
    {
        await using var host = await StartAsync(200, new MockProvider { Missing = ArticleSelection.Parse("50") });
        host.Mock.ChangeFaults([new MockFault { Kind = kind, Rate = 0.02, Count = 5 }]);
        for (var round = 0; round < 5; round++)
        {
            var answers = await host.StatAsync(1, 200);
            for (var part = 1; part <= 200; part++)
                Assert.False(part == 50 ? answers[49].IsPresent : answers[part - 1].Misses.Count > 0, $"{kind}: {part} is {answers[part - 1]}");
        }

        Assert.True(host.Mock.Stats.FaultCount(kind) > 0);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Canceled_walk_keeps_the_connection_in_sync()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(2_000),
            new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(2) }] },
            provider: (_, account) => account with { MaxConnections = 1 });
        for (var round = 0; round < 30; round++)
        {
            using var cancel = new CancellationTokenSource();
            var walk = host.StatAsync(1, 2_000, cancellationToken: cancel.Token);
            var after = host.Mock.Stats.CommandCount("STAT") + (10 * round);
            await Eventually.HoldsAsync(() => walk.IsCompleted || host.Mock.Stats.CommandCount("STAT") >= after, () => "no STAT came", Token);
            await cancel.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => walk);
            Assert.All(await host.StatAsync(1 + round, 3), answer => Assert.True(answer.IsPresent));
        }

        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Pipelining_depth_1_sends_one_STAT_at_a_time()
    {
        await using var host = await EngineHost.StartAsync(EngineHost.Film(40), provider: (_, account) => account with { MaxConnections = 2, PipeliningDepth = 1 });
        Assert.All(await host.StatAsync(1, 40), answer => Assert.True(answer.IsPresent));
        Assert.Equal(1, host.Mock.Stats.DeepestPipeline);
    }

    private static ProviderSet Set(params int[] providers) => providers.Aggregate(default(ProviderSet), (set, provider) => set.With(provider));

    private static Task<EngineHost> StartAsync(int articles, params MockProvider[] providers) =>
        EngineHost.StartAsync(EngineHost.Film(articles), new MockOptions { Providers = providers });
}
