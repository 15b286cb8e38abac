using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Providers;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>The speed measurement, with a manual clock.</summary>
public sealed class SpeedMeasureTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Speed_test_ends_on_time_even_if_nothing_arrives()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { Faults = [new MockFault { Kind = FaultKind.CommandSlow, Duration = TimeSpan.Zero }] }],
        });
        var clock = new ManualTimeProvider();
        var provider = new ProviderOptions { Name = "mock", Host = "127.0.0.1", Port = mock.Port, UseTls = false };
        await using var accounts = new NntpAccounts(new GlobalOperationLimiter(time: clock), clock, NullLoggerFactory.Instance);
        await using (var account = accounts.Test(provider, new SystemNameResolver(), new NntpOptions()))
        {
            var connection = (await account.OpenAsync(provider, entering: null, Token))!;
            var film = MockRelease.Plain(1, 1_000_000, articleSize: 100_000);
            IReadOnlyList<SpeedArticle> articles = [.. film.MessageIds().Select(id => new SpeedArticle(MessageId.Parse(id), 100_000))];
            var measure = new SpeedMeasure([connection], SpeedBudget.Usual, clock, _ => { }).RunAsync(_ => Task.FromResult(articles), Token);
            while (mock.Stats.CommandCount("BODY") < 10)
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);

            clock.Advance(SpeedBudget.Usual.Time - TimeSpan.FromTicks(1));
            Assert.False(measure.IsCompleted);
            clock.Advance(TimeSpan.FromTicks(1));

            Assert.Null(await measure);
            Assert.Equal(10, connection.Owed);
        }

        // A connection with outstanding replies closes without QUIT.
        while (mock.Stats.ConnectionsNow > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        Assert.Equal(0, mock.Stats.CommandCount("QUIT"));
    }
}
