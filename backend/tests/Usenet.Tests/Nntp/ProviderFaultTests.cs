using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A provider that fails, refuses or lacks articles, next to a healthy one (F06, F08, F12, F13).</summary>
public sealed class ProviderFaultTests
{
    private const int Articles = 40;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 60_000)]
    [InlineData(FaultKind.Auth481)]
    [InlineData(FaultKind.Auth502)]
    [InlineData(FaultKind.ConnectBlackhole)]
    [InlineData(FaultKind.ConnectReset)]
    [InlineData(FaultKind.GreetingNone)]
    [InlineData(FaultKind.BodyReset)]
    [InlineData(FaultKind.Command503)]
    public async Task F12_Failing_provider_is_covered_by_the_second(FaultKind kind)
    {
        await using var host = await StartAsync(new MockFault { Kind = kind, Provider = 0, Tries = 0 });
        await FetchAllAsync(host);
        Assert.Equal(Articles, host.Mock.ProviderStats[1].CommandCount("BODY"));

        // A failing provider is tried a few times, not for every article.
        Assert.InRange(host.Mock.ProviderStats[0].Opened, 0, 24);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Theory(Timeout = 60_000)]
    [InlineData(false)]
    [InlineData(true)]
    public async Task F08_Lower_cap_costs_few_refusals_and_survives_a_restart(bool atLogin)
    {
        var mock = new MockProvider { MaxConnections = 8, CapAtLogin = atLogin, User = "u", Password = "p", Latency = TimeSpan.FromMilliseconds(5) };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles),
            new MockOptions { Providers = [mock] },
            provider: (_, account) => account with { MaxConnections = 50, PipeliningDepth = 1, User = "u", Password = "p" });
        var memory = new ProviderMemory(TimeProvider.System);
        await using (var first = NewPool(host, memory))
        {
            for (var round = 0; round < 5; round++)
                await FetchAllAsync(host, first);
            Assert.InRange(host.Mock.Stats.Refused, 1, 20);
            Assert.Equal(8, first.Sockets(0));
        }

        await Eventually.HoldsAsync(() => host.Mock.Stats.ConnectionsNow == 0, () => $"{host.Mock.Stats.ConnectionsNow} connections", Token);
        var restored = new ProviderMemory(TimeProvider.System);
        restored.Restore(memory.TakeNew());
        var refused = host.Mock.Stats.Refused;
        await using var next = NewPool(host, restored);
        await FetchAllAsync(host, next);
        Assert.Equal(refused, host.Mock.Stats.Refused);
    }

    [Fact(Timeout = 60_000)]
    public async Task F38_Unreachable_provider_stays_skipped_after_a_restart()
    {
        await using var host = await StartAsync(new MockFault { Kind = FaultKind.ConnectClose, Provider = 0, Tries = 0 });
        var memory = new ProviderMemory(TimeProvider.System);
        await using (var first = NewPool(host, memory))
            await FetchAllAsync(host, first);
        var opened = host.Mock.ProviderStats[0].Opened;
        Assert.True(opened >= 3, $"{opened} dials");

        var restored = new ProviderMemory(TimeProvider.System);
        restored.Restore(memory.TakeNew());
        await using (var next = NewPool(host, restored))
            await FetchAllAsync(host, next);

        // After the longest cooldown the pool probes once at most; without the restored memory three dials would fail first.
        Assert.InRange(host.Mock.ProviderStats[0].Opened, opened, opened + 1);

        // After the user has repaired the account, the pool does not wait for the end of the cooldown.
        restored.ForgetBreaks(host.Accounts[0].Id);
        host.Mock.ChangeFaults([]);
        await using var mended = NewPool(host, restored);
        await FetchAsync(host, 1, mended);
        Assert.Equal(1, host.Mock.ProviderStats[0].CommandCount("BODY"));
    }

    [Fact(Timeout = 60_000)]
    public async Task F13_Misses_neither_count_as_faults_nor_hide_them()
    {
        // Every other article is missing and every other connection breaks at a body, so nothing succeeds in between.
        var missing = ArticleSelection.Parse(string.Join(',', Enumerable.Range(1, Articles).Where(part => part % 2 == 0)));
        await using var host = await StartAsync(new MockFault { Kind = FaultKind.BodyReset, Provider = 0, Tries = 0 });
        host.Mock.Change(0, settings => settings with { Missing = missing });
        for (var part = 1; part <= Articles; part++)
            await FetchAsync(host, part, host.Pool);
        Assert.InRange(host.Mock.ProviderStats[0].CommandCount("BODY"), 4, 14);

        // A provider that only misses articles is asked for every article.
        await using var other = await StartAsync(new MockFault { Kind = FaultKind.Missing, Provider = 0 });
        await FetchAllAsync(other);
        Assert.Equal(Articles, other.Mock.ProviderStats[0].CommandCount("BODY"));
    }

    [Fact(Timeout = 60_000)]
    public async Task F18_A_known_miss_costs_no_command()
    {
        await using var host = await StartAsync(new MockFault { Kind = FaultKind.Missing, Provider = 0 });
        for (var round = 0; round < 3; round++)
            await FetchAllAsync(host);
        Assert.Equal([Articles, 3 * Articles], host.Mock.ProviderStats.Select(stats => stats.CommandCount("BODY")));
    }

    [Fact(Timeout = 60_000)]
    public async Task Provider_lacking_a_release_is_tried_last_for_its_other_parts()
    {
        await using var host = await StartAsync(new MockFault { Kind = FaultKind.Missing, Provider = 0, Articles = ArticleSelection.Parse("1-20") });
        for (var part = 1; part <= Articles; part++)
            await FetchAsync(host, part, host.Pool, release: "one");
        Assert.Equal([4, Articles], host.Mock.ProviderStats.Select(stats => stats.CommandCount("BODY")));
    }

    private static Task<EngineHost> StartAsync(MockFault fault) => EngineHost.StartAsync(
        EngineHost.Film(Articles),
        new MockOptions { Providers = [new MockProvider { User = "u", Password = "p" }, new MockProvider { User = "u", Password = "p" }], Faults = [fault] },
        new NntpOptions { ConnectTimeout = TimeSpan.FromMilliseconds(400), LoginTimeout = TimeSpan.FromMilliseconds(800), CloseGrace = TimeSpan.FromMilliseconds(1), HedgeEnabled = false },
        provider: (_, account) => account with { User = "u", Password = "p" });

    private static ProviderPool NewPool(EngineHost host, ProviderMemory memory) =>
        new(host.Accounts, new NntpOptions { HedgeEnabled = false }, new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance, memory);

    private static Task FetchAllAsync(EngineHost host, ProviderPool? pool = null) =>
        Task.WhenAll(Enumerable.Range(1, Articles).Select(part => FetchAsync(host, part, pool ?? host.Pool)));

    private static async Task FetchAsync(EngineHost host, int part, ProviderPool pool, string? release = null)
    {
        var file = host.Release.Files[0];
        var sink = new CollectingSink();
        var request = new ArticleRequest(MessageId.Parse(host.Release.MessageId(0, part)), OperationLane.Playback, ExpectedBytes: file.ArticleSize) { Release = release };
        var reply = await pool.FetchAsync(request, sink, Token);
        Assert.True(reply.IsFound);
        var offset = (long)(part - 1) * file.ArticleSize;
        Assert.True(sink.Decoded.SequenceEqual(host.Truth(offset, (int)Math.Min(file.ArticleSize, file.Size - offset))), $"wrong bytes in part {part}");
    }
}
