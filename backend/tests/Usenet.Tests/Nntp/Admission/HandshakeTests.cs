using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Limits on concurrent handshakes, per provider and in total.</summary>
public sealed class HandshakeTests
{
    private const int Silent = 3;

    private readonly ManualTimeProvider _clock = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 60_000)]
    [InlineData(8)]
    [InlineData(60)]
    public async Task First_article_does_not_wait_for_providers_without_greeting(int readers)
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(readers),
            new MockOptions
            {
                Providers = [.. Enumerable.Range(0, Silent + 1).Select(_ => new MockProvider())],
                Faults = [.. Enumerable.Range(0, Silent).Select(provider => new MockFault { Kind = FaultKind.GreetingNone, Provider = provider, Tries = 0 })],
            },
            new NntpOptions(),
            provider: (_, account) => account with { MaxConnections = 20, Priority = 0 });
        var fetches = Enumerable.Range(1, readers).Select(part => FetchAsync(host, part)).ToArray();

        await await Task.WhenAny(fetches);

        // No handshake with a silent provider has timed out yet, and none of these providers exceeds its share.
        var silent = host.Mock.ProviderStats.Take(Silent).ToArray();
        Assert.All(silent, stats => Assert.Equal(stats.Opened, stats.ConnectionsNow));
        Assert.All(silent, stats => Assert.InRange(stats.Opened, 0, 6));
        Assert.InRange(silent.Sum(stats => stats.Opened), 1, 11);
        await Task.WhenAll(fetches);
    }

    [Fact(Timeout = 60_000)]
    public async Task First_six_dials_run_at_once_and_later_ones_in_pairs()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(40),
            new MockOptions
            {
                Faults =
                [
                    new MockFault { Kind = FaultKind.BodyStall, Tries = 0, Duration = TimeSpan.FromSeconds(60) },
                    .. Enumerable.Range(7, 14).Select(connection => new MockFault { Kind = FaultKind.GreetingNone, Connection = connection, Tries = 0 }),
                ],
            },
            new NntpOptions { HedgeEnabled = false },
            provider: (_, account) => account with { MaxConnections = 20, PipeliningDepth = 1 });
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var fetches = Enumerable.Range(1, 40).Select(part => FetchAsync(host, part, ending.Token)).ToArray();

        await Eventually.HoldsAsync(() => host.Limiter.InUse(OperationLane.Playback) == 6, () => "six connections", Token);

        Assert.Equal(8, host.Pool.Sockets(0));
        await ending.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Task.WhenAll(fetches));
    }

    [Fact]
    public async Task Handshake_limit_reserves_one_for_an_account_without_any()
    {
        var limit = new HandshakeLimit(3, _clock);
        var (one, other) = (new object(), new object());
        await limit.BeginAsync(one, TimeSpan.FromSeconds(8), Token);
        await limit.BeginAsync(one, TimeSpan.FromSeconds(8), Token);
        var third = limit.BeginAsync(one, TimeSpan.FromSeconds(8), Token);
        var late = limit.BeginAsync(one, TimeSpan.FromSeconds(9), Token);
        Assert.False(third.IsCompleted);

        await limit.BeginAsync(other, TimeSpan.FromSeconds(8), Token);
        _clock.Advance(TimeSpan.FromSeconds(8));
        Assert.Equal(NntpFault.NoConnection, (await Assert.ThrowsAsync<NntpException>(() => third)).Fault);

        limit.End(other);
        Assert.False(late.IsCompleted);
        limit.End(one);
        await late;
    }

    private static Task FetchAsync(EngineHost host, int part) => FetchAsync(host, part, Token);

    private static async Task FetchAsync(EngineHost host, int part, CancellationToken cancellationToken)
    {
        var request = new ArticleRequest(MessageId.Parse(host.Release.MessageId(0, part)), OperationLane.Playback)
        {
            Urgency = new FetchUrgency(new object(), isHeadOfLine: true),
        };
        Assert.True((await host.Pool.FetchAsync(request, new CollectingSink(), cancellationToken)).IsFound);
    }
}
