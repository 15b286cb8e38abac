using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A provider that serves bodies but breaks off at STAT gets no more STATs until a probe succeeds (F13).</summary>
public sealed class StatBreakerTests
{
    private const int Articles = 40;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact(Timeout = 60_000)]
    public async Task F13_Provider_failing_STATs_is_skipped_but_still_sends_bodies()
    {
        await using var host = await StartAsync(providers: 2, TimeSpan.FromHours(1));
        for (var part = 1; part <= Articles; part++)
        {
            var answer = Assert.Single(await host.StatAsync(part, 1));
            Assert.Equal((Set(1), default(ProviderSet)), (answer.Has, answer.Misses));
        }

        // A request to every provider reports that this one did not answer.
        Assert.Equal(new ArticlePresence(Set(1), default, Set(0)), Assert.Single(await host.StatAsync(1, 1, everyProvider: true)));
        Assert.InRange(host.Mock.ProviderStats[0].CommandCount("STAT"), 4, 6);
        await FetchAsync(host);
        Assert.Equal(1, host.Mock.ProviderStats[0].CommandCount("BODY"));
    }

    [Fact(Timeout = 60_000)]
    public async Task F13_STAT_breaker_probes_in_background_and_recovers()
    {
        await using var host = await StartAsync(providers: 2, TimeSpan.FromMilliseconds(200));
        await FetchAsync(host);
        for (var part = 1; part <= 4; part++)
            await host.StatAsync(part, 1);
        host.Mock.ChangeFaults([]);
        var before = host.Mock.ProviderStats[0].CommandCount("STAT");

        await Eventually.HoldsAsync(() => host.Mock.ProviderStats[0].CommandCount("STAT") > before, () => "no probe came", Token);
        var answer = default(ArticlePresence);
        while (!answer.Has.Contains(0))
            answer = Assert.Single(await host.StatAsync(10, 1));
    }

    [Fact(Timeout = 60_000)]
    public async Task F13_STAT_walk_serves_as_the_probe_of_an_unproven_provider()
    {
        await using var host = await StartAsync(providers: 2, TimeSpan.FromMilliseconds(1));
        for (var part = 1; part <= 4; part++)
            await host.StatAsync(part, 1);
        host.Mock.ChangeFaults([]);

        // The first walk after the cooldown of a millisecond is the probe.
        var answer = default(ArticlePresence);
        while (!answer.Has.Contains(0))
            answer = Assert.Single(await host.StatAsync(5, 1));
        var before = host.Mock.ProviderStats[0].CommandCount("STAT");
        Assert.All(await host.StatAsync(1, Articles), each => Assert.True(each.Has.Contains(0)));
        Assert.Equal(Articles, host.Mock.ProviderStats[0].CommandCount("STAT") - before);
    }

    [Fact(Timeout = 60_000)]
    public async Task F13_Lone_provider_failing_STATs_is_still_used()
    {
        await using var host = await StartAsync(providers: 1, TimeSpan.FromHours(1));
        for (var part = 1; part <= 3; part++)
            Assert.Equal(Set(0), Assert.Single(await host.StatAsync(part, 1)).Unanswered);
        host.Mock.ChangeFaults([]);

        Assert.True(Assert.Single(await host.StatAsync(7, 1)).IsPresent);
    }

    private static ProviderSet Set(int provider) => default(ProviderSet).With(provider);

    private static Task<EngineHost> StartAsync(int providers, TimeSpan cooldown) => EngineHost.StartAsync(
        EngineHost.Film(Articles),
        new MockOptions
        {
            Providers = [.. Enumerable.Range(0, providers).Select(_ => new MockProvider())],
            Faults = [new MockFault { Kind = FaultKind.Command503, Provider = 0, Verb = "STAT" }],
        },
        new NntpOptions { BreakerCooldown = cooldown, BreakerLongestCooldown = cooldown, CloseGrace = TimeSpan.FromMilliseconds(1) });

    private static async Task FetchAsync(EngineHost host)
    {
        var request = new ArticleRequest(MessageId.Parse(host.Release.MessageId(0, 1)), OperationLane.Playback);
        Assert.True((await host.Pool.FetchAsync(request, new CollectingSink(), Token)).IsFound);
    }
}
