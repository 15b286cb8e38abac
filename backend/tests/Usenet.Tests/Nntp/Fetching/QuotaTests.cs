using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Accounts with a data cap (HLT-101 to HLT-104). Provider 0 is capped, provider 1 is not.</summary>
public sealed class QuotaTests
{
    private const int Articles = 40;
    private const int ArticleSize = 20_000;
    private const long Limit = 100_000_000;

    private static readonly DataQuota Block = new(Limit);
    private static readonly DataQuota Monthly = new(Limit) { ResetDay = 1, ReservePercent = 20 };

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(Articles)]
    public async Task Spent_account_alone_is_a_fault_and_never_a_miss(int part)
    {
        await using var host = await StartAsync(Block, new MockProvider { Missing = ArticleSelection.Parse("1") });
        host.Charge(0, Limit);

        await AssertNotAskedAsync(() => FetchAsync(host, part, OperationLane.Playback));
        var answer = Assert.Single(await host.StatAsync(part, 1));

        Assert.Equal((0, false, 1), (answer.Misses.Count, answer.IsMissingEverywhere, answer.Unanswered.Count));
        Assert.Equal(0, host.Mock.Stats.CommandCount("BODY") + host.Mock.Stats.CommandCount("STAT"));
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public async Task Miss_elsewhere_proves_nothing_beside_a_spent_account(int priority)
    {
        await using var host = await StartAsync(Block, new MockProvider(), new MockProvider { Missing = ArticleSelection.All }, priority);
        host.Charge(0, Limit);

        await AssertNotAskedAsync(() => FetchAsync(host, 1, OperationLane.Playback));
        Assert.False(Assert.Single(await host.StatAsync(1, 1)).IsMissingEverywhere);

        Assert.Equal([0, 1], BodiesOf(host));
    }

    [Fact]
    public async Task Spent_account_on_the_backbone_of_a_miss_is_no_reason_to_wait()
    {
        await using var host = await StartAsync(Block, new MockProvider(), new MockProvider { Missing = ArticleSelection.All }, backbone: "same");
        host.Charge(0, Limit);

        Assert.False((await FetchAsync(host, 1, OperationLane.Playback)).IsFound);
    }

    [Fact]
    public async Task Known_miss_is_not_gone_while_the_account_is_spent()
    {
        await using var host = await StartAsync(Block, new MockProvider { Missing = ArticleSelection.All });
        Assert.False((await FetchAsync(host, 1, OperationLane.Playback)).IsFound);

        host.Charge(0, Limit);

        await AssertNotAskedAsync(() => FetchAsync(host, 1, OperationLane.Playback));
    }

    [Fact]
    public async Task Refill_serves_the_next_fetch()
    {
        await using var host = await StartAsync(Block, new MockProvider());
        host.Charge(0, Limit);
        await AssertNotAskedAsync(() => FetchAsync(host, 1, OperationLane.Playback));

        host.Charge(0, -(2 * ArticleSize));

        Assert.True((await FetchAsync(host, 1, OperationLane.Playback)).IsFound);
        await AssertNotAskedAsync(() => FetchAsync(host, 2, OperationLane.Playback));
    }

    [Fact]
    public async Task Reserve_is_used_only_for_articles_that_others_lack()
    {
        await using var host = await StartAsync(Monthly, new MockProvider(), new MockProvider { Missing = ArticleSelection.Parse("3,17,18") });
        host.Charge(0, Limit * 8 / 10);

        await host.AssertReadsCleanAsync(file: 0, tries: 1, Token);

        Assert.Equal([3, Articles], BodiesOf(host));
        Assert.All(new[] { 3, 17, 18 }, part => Assert.Equal(1, host.Mock.ProviderStats[0].BodyCount(host.Release.MessageId(0, part))));
    }

    [Theory]
    [InlineData(FaultKind.Command503)]
    [InlineData(FaultKind.ConnectClose)]
    [InlineData(FaultKind.BodyReset)]
    public async Task Reserve_is_not_used_for_a_provider_that_fails(FaultKind kind)
    {
        await using var host = await StartAsync(Monthly, new MockProvider(), new MockProvider { Faults = [new MockFault { Kind = kind }] });
        host.Charge(0, Limit * 8 / 10);

        for (var part = 1; part <= 10; part++)
            await Assert.ThrowsAsync<NntpException>(() => FetchAsync(host, part, OperationLane.Playback));

        Assert.Equal(0, BodiesOf(host)[0]);
    }

    [Fact]
    public async Task Late_reply_is_not_hedged_with_the_reserve()
    {
        var stall = new MockFault { Kind = FaultKind.BodyStall, Provider = 1, Rate = 0.3, Tries = 1, Duration = TimeSpan.FromMilliseconds(600), CloseAfterStall = false };
        await using var host = await StartAsync(
            Monthly, new MockProvider(), new MockProvider { Faults = [stall] }, nntp: new NntpOptions { HedgeFloor = TimeSpan.FromMilliseconds(100) });
        host.Charge(0, Limit * 8 / 10);

        await host.AssertReadsCleanAsync(file: 0, tries: 1, Token);

        Assert.True(host.Mock.Stats.FaultCount(FaultKind.BodyStall) > 0);
        Assert.Equal(0, BodiesOf(host)[0]);
    }

    [Fact]
    public async Task Reserve_of_the_only_account_serves_everything()
    {
        await using var host = await StartAsync(Monthly, new MockProvider());
        host.Charge(0, Limit * 8 / 10);

        await host.AssertReadsCleanAsync(file: 0, tries: 1, Token);
    }

    [Fact]
    public async Task Reserve_serves_everything_once_the_other_account_is_spent()
    {
        await using var host = await StartAsync(Monthly, new MockProvider(), new MockProvider(), second: Block);
        host.Charge(0, Limit * 8 / 10);
        host.Charge(1, Limit);

        await host.AssertReadsCleanAsync(file: 0, tries: 1, Token);

        Assert.Equal(0, BodiesOf(host)[1]);
    }

    [Fact]
    public async Task Account_spent_during_a_read_leaves_the_rest_to_the_other()
    {
        await using var host = await StartAsync(Block, new MockProvider(), new MockProvider());
        host.Charge(0, Limit - (10 * ArticleSize));

        await host.AssertReadsCleanAsync(file: 0, tries: 1, Token);

        var bodies = BodiesOf(host);
        Assert.InRange(bodies[0], 5, 10);
        Assert.Equal(Articles, bodies.Sum());
        Assert.InRange(host.Charged(0), Limit - (5 * ArticleSize), Limit + ArticleSize);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact]
    public async Task Import_asks_a_capped_account_only_for_what_others_lack()
    {
        await using var host = await StartAsync(Block, new MockProvider(), new MockProvider { Missing = ArticleSelection.Parse("5") });

        for (var part = 1; part <= 10; part++)
            Assert.True((await FetchAsync(host, part, OperationLane.Import)).IsFound);

        Assert.Equal([1, 10], BodiesOf(host));
    }

    [Fact]
    public async Task Import_uses_a_capped_account_if_no_other_is_enabled()
    {
        await using var host = await StartAsync(Block, new MockProvider(), new MockProvider(), second: Block);

        Assert.True((await FetchAsync(host, 1, OperationLane.Import)).IsFound);

        Assert.Equal([1, 0], BodiesOf(host));
    }

    [Fact]
    public async Task Check_takes_only_STATs_from_a_capped_account()
    {
        await using var host = await StartAsync(Block, new MockProvider());

        await AssertNotAskedAsync(() => FetchAsync(host, 1, OperationLane.HealthCheck));

        Assert.True(Assert.Single(await host.StatAsync(1, 1)).IsPresent);
        Assert.Equal(0, host.Mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Reserved_account_is_skipped_by_background_work()
    {
        await using var host = await StartAsync(Block, new MockProvider(), new MockProvider { Missing = ArticleSelection.All });
        var request = new ArticleRequest(IdOf(host, 1), OperationLane.HealthCheck) { SparesBackups = true };

        Assert.False((await host.Pool.FetchAsync(request, new SoleWriterSink(), Token)).IsFound);

        Assert.Equal([0, 1], BodiesOf(host));
    }

    /// <param name="told">The size that the NZB states; the articles have 700 kB.</param>
    [Theory(Timeout = 120_000)]
    [InlineData(730_000)]
    [InlineData(1)]
    public async Task Cap_ends_within_one_article_per_connection(long told)
    {
        const int Connections = 20;
        const int Large = 700_000;
        const long Small = 40_000_000;
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(200, Large),
            new MockOptions { Providers = [new MockProvider { ConnectionBandwidth = 20_000_000, Latency = TimeSpan.FromMilliseconds(5) }] },
            provider: (_, account) => account with { MaxConnections = Connections, Quota = new DataQuota(Small) });
        var (found, refused) = (0, 0);

        await Parallel.ForAsync(1, 201, new ParallelOptions { MaxDegreeOfParallelism = 3 * Connections, CancellationToken = Token }, async (part, token) =>
        {
            try
            {
                await host.Pool.FetchAsync(new ArticleRequest(IdOf(host, part), OperationLane.Playback, ExpectedBytes: told), new SoleWriterSink(), token);
                Interlocked.Increment(ref found);
            }
            catch (NntpException fault) when (fault.Fault == NntpFault.QuotaReached)
            {
                Interlocked.Increment(ref refused);
            }
        });

        await host.AssertNothingIsLeftAsync(Token);
        TestContext.Current.TestOutputHelper?.WriteLine($"{host.Charged(0)} of {Small} bytes, sent {host.Mock.Stats.Bytes}; {found} found, {refused} refused");
        Assert.Equal(200, found + refused);
        Assert.InRange(host.Charged(0), host.Mock.Stats.Bytes * 0.999, host.Mock.Stats.Bytes * 1.001);
        Assert.InRange(host.Charged(0), Small - Large - 50_000, told == 1 ? Small + (Connections * 750_000L) : Small);
    }

    private static Task<EngineHost> StartAsync(
        DataQuota quota, MockProvider capped, MockProvider? other = null, int priority = 0, string backbone = "", DataQuota? second = null, NntpOptions? nntp = null) => EngineHost.StartAsync(
        EngineHost.Film(Articles, ArticleSize),
        new MockOptions { Providers = other is null ? [capped] : [capped, other] },
        nntp ?? new NntpOptions { HedgeEnabled = false, RetriesPerProvider = 0 },
        provider: (index, account) => index == 0 ? account with { Quota = quota, Priority = priority, Backbone = backbone } : account with { Quota = second, Priority = 1, Backbone = backbone });

    private static async Task AssertNotAskedAsync(Func<Task> fetch) => Assert.Equal(NntpFault.QuotaReached, (await Assert.ThrowsAsync<NntpException>(fetch)).Fault);

    private static async Task<ArticleReply> FetchAsync(EngineHost host, int part, OperationLane lane) =>
        await host.Pool.FetchAsync(new ArticleRequest(IdOf(host, part), lane, ExpectedBytes: ArticleSize), new SoleWriterSink(), Token);

    private static long[] BodiesOf(EngineHost host) => [.. host.Mock.ProviderStats.Select(static stats => stats.CommandCount("BODY"))];

    private static MessageId IdOf(EngineHost host, int part) => MessageId.Parse(host.Release.MessageId(0, part));
}
