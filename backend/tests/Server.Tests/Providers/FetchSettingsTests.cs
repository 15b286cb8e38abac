using System.Globalization;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>Effects of fetch settings on the provider.</summary>
public sealed class FetchSettingsTests
{
    private const int Articles = 40;

    // Smaller articles do not reveal the rate of a provider.
    private const int ArticleSize = 50_000;
    private static readonly MockRelease Release = MockRelease.Plain(3, Articles * ArticleSize, articleSize: ArticleSize);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("usenet.max-queue-connections", "2", OperationLane.Import, 1, 2)]
    [InlineData("usenet.max-queue-connections", "2", OperationLane.Playback, 3, 8)]
    [InlineData("usenet.max-queue-connections", "0", OperationLane.Import, 3, 8)]
    [InlineData("usenet.max-download-connections", "2", OperationLane.Playback, 1, 2)]
    public async Task Connections_per_lane_respect_the_settings(string key, string value, OperationLane lane, int least, int most)
    {
        await using var mock = await StartMockAsync(1);
        await FetchAsync(mock, lane, connections: 8, (key, value), ("usenet.queue-pipelining.enabled", "false"), ("usenet.streaming-body-batch-width", "1"));
        Assert.InRange(mock.Stats.ConnectionsPeak, least, most);
    }

    [Theory]
    [InlineData("usenet.queue-pipelining.enabled", "false", OperationLane.Import, 1, 1)]
    [InlineData("usenet.queue-pipelining.depth", "3", OperationLane.Import, 2, 3)]
    [InlineData("usenet.queue-pipelining.depth", "8", OperationLane.Import, 4, 8)]
    [InlineData("usenet.queue-pipelining.enabled", "false", OperationLane.Playback, 2, 16)]
    [InlineData("usenet.streaming-body-batch-width", "1", OperationLane.Playback, 1, 1)]
    [InlineData("usenet.streaming-body-batch-width", "3", OperationLane.Playback, 2, 3)]
    [InlineData("usenet.streaming-body-batch-width", "1", OperationLane.Import, 2, 8)]
    public async Task Pipeline_depth_per_lane_respects_the_settings(string key, string value, OperationLane lane, int least, int most)
    {
        await using var mock = await StartMockAsync(1);
        await FetchAsync(mock, lane, connections: 1, (key, value));
        Assert.InRange(mock.Stats.DeepestPipeline, least, most);
    }

    [Theory]
    [InlineData("true", 2, 100)]
    [InlineData("false", 1, 1)]
    public async Task Import_STATs_are_pipelined_only_if_enabled(string value, int least, int most)
    {
        await using var mock = await StartMockAsync(1);
        await using var host = Host(mock, 1, ("usenet.queue-pipelining.enabled", value));
        await host.StatAsync(new StatRequest(Ids, OperationLane.Import), new ArticlePresence[Articles], Token);
        Assert.Equal(Articles, mock.Stats.CommandCount("STAT"));
        Assert.InRange(mock.Stats.DeepestPipeline, least, most);
    }

    [Theory]
    [InlineData("true", 0, 0)]
    [InlineData("false", 1, Articles)]
    public async Task Second_provider_is_used_in_parallel_unless_cascading(string value, int least, int most)
    {
        await using var mock = await StartMockAsync(2);
        await FetchAsync(mock, OperationLane.Playback, connections: 2, ("usenet.cascade.enabled", value));
        Assert.InRange(mock.ProviderStats[1].CommandCount("BODY"), least, most);
    }

    [Fact]
    public void Settings_reach_the_engine_unchanged()
    {
        var plan = ProviderPlan.From(
            Options(
                ("usenet.warm-connections.enabled", "false"), ("usenet.warm-connections.floor", "7"), ("usenet.shared-streams.enabled", "false"),
                ("usenet.crc-check", "false"), ("usenet.max-queue-connections", "5")),
            new StreamingOptions { VerifyBeforeServe = false },
            1L << 40,
            out _);
        Assert.False(plan.Nntp.KeepsWarm);
        Assert.Equal(7, plan.Nntp.WarmFloor);
        Assert.False(plan.Streams.ChecksCrc);
        Assert.False(plan.Streams.SharesSegments);
        Assert.Equal(5, plan.QueueConnections);

        var usual = ProviderPlan.From(Options(), new StreamingOptions { VerifyBeforeServe = false }, 1L << 40, out _);
        Assert.True(usual.Nntp.KeepsWarm);
        Assert.Equal(0, usual.Nntp.WarmFloor);
        Assert.True(usual.Streams.ChecksCrc);
        Assert.True(usual.Streams.SharesSegments);
        Assert.NotEqual(usual, plan);
        Assert.Equal(usual, ProviderPlan.From(Options(), new StreamingOptions { VerifyBeforeServe = false }, 1L << 40, out _));
        Assert.NotEqual(usual, usual with { QueueConnections = 1 });
    }

    private static MessageId[] Ids => [.. Enumerable.Range(1, Articles).Select(part => MessageId.Parse(Release.MessageId(0, part)))];

    // High latency, so that commands overlap even on a busy machine.
    private static Task<MockServer> StartMockAsync(int providers) => MockServer.StartAsync(new MockOptions
    {
        Providers = [.. Enumerable.Range(0, providers).Select(_ => new MockProvider { Latency = TimeSpan.FromMilliseconds(40) })],
    });

    /// <summary>Requests half of the articles at once, and the other half once the rate of the line is known.</summary>
    private static async Task FetchAsync(MockServer mock, OperationLane lane, int connections, params (string Key, string Value)[] settings)
    {
        await using var host = Host(mock, connections, settings);
        foreach (var half in Ids.Chunk(Articles / 2))
        {
            var replies = await Task.WhenAll(half.Select(id => host.FetchAsync(new ArticleRequest(id, lane, ExpectedBytes: ArticleSize), new DrainingSink(), Token).AsTask()));
            Assert.All(replies, reply => Assert.True(reply.IsFound));
        }

        Assert.Equal(Articles, mock.Stats.CommandCount("BODY"));
    }

    private static ProviderHost Host(MockServer mock, int connections, params (string Key, string Value)[] settings)
    {
        var accounts = mock.Ports.Select(port => string.Create(
            CultureInfo.InvariantCulture, $$"""{"Host":"127.0.0.1","Port":{{port}},"UseSsl":false,"MaxConnections":{{connections}}}"""));

        // Hedging is off, because a connection replaced after a pause of a busy machine would be counted.
        return new ProviderHost(
            new FixedOptions<UsenetOptions>(Options([
                ("usenet.providers", $$"""{"Providers":[{{string.Join(',', accounts)}}]}"""), ("usenet.hedge.enabled", "false"), .. settings])),
            new FixedOptions<StreamingOptions>(new StreamingOptions { VerifyBeforeServe = false }),
            TimeProvider.System,
            new LogLines(typeof(ProviderHost).FullName!));
    }

    private static UsenetOptions Options(params (string Key, string Value)[] settings) => UsenetOptions.Read(
        new SettingsResolver(SettingSchema.All, new ProcessEnvironment(new Dictionary<string, string>()))
            .Resolve(settings.ToDictionary(setting => setting.Key, setting => setting.Value)));
}
