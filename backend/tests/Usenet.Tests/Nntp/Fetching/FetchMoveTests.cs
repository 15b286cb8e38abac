using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Fetches that lose their connection repeatedly (F11, F12). The test evicts waiting fetches itself; until the limiter is configured
/// nothing is dialed, so all fetches wait.
/// </summary>
public sealed class FetchMoveTests : IAsyncDisposable
{
    private static readonly NntpOptions Options = new() { RetriesPerProvider = 0, LeaseTimeout = TimeSpan.FromMinutes(10) };
    private static readonly MessageId Id = MessageId.Parse("a@t");

    private readonly ScriptedServer _server;
    private readonly SharedResources _shared;
    private readonly NntpConnectionPool _pool;
    private readonly FetchServices _services;
    private readonly Provider _provider;

    public FetchMoveTests()
    {
        _server = new ScriptedServer(connection =>
        {
            connection.Send("200 ready\r\n"u8);
            while (true)
                connection.Send(connection.ReadCommand().StartsWith("STAT"u8) ? "223 0 <a@t>\r\n"u8 : "222 0 <a@t>\r\n.\r\n"u8);
        });
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = _server.Port, UseTls = false, MaxConnections = 1 };
        _shared = new SharedResources(
            Options, new GlobalOperationLimiter(), new HandshakeLimit(1, TimeProvider.System), new NntpMeter(TimeProvider.System), new ProviderMemory(TimeProvider.System), TimeProvider.System, NullLogger.Instance);
        _pool = new NntpConnectionPool(account, _shared);
        _provider = new Provider(0, account, _pool);
        _services = Services();
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static ArticleRequest Request => new(Id, OperationLane.Import);

    [Fact(Timeout = 60_000)]
    public async Task F12_Fetch_moved_20_times_still_gets_its_article()
    {
        var fetch = Fetch();
        await SendAwayAsync(times: 20, fetch);

        LetThrough();

        Assert.True((await fetch).IsFound);
    }

    [Fact(Timeout = 60_000)]
    public async Task F12_Fetch_moved_too_often_fails()
    {
        var fetch = Fetch();
        await SendAwayAsync(times: 40, fetch);

        Assert.Equal(NntpFault.GivenUp, (await Assert.ThrowsAsync<NntpException>(() => fetch)).Fault);
    }

    [Fact(Timeout = 60_000)]
    public async Task F13_STATs_are_not_moved_when_bodies_fail()
    {
        var answers = new ArticlePresence[1];
        var asking = new StatWalk(_services, new StatRequest(new[] { Id }, OperationLane.HealthCheck)).RunAsync(answers, Token).AsTask();
        await Eventually.HoldsAsync(() => _shared.Limiter.IsBackgroundStarved, () => "nobody waits", Token);
        _pool.SendAway();

        LetThrough();

        await asking;
        Assert.True(answers[0].IsPresent);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void F11_Fetch_moves_to_another_provider_until_its_move_limit(bool mayMove)
    {
        var sent = new PendingReplies();
        var fetch = Fetch(_services);
        Assert.True(fetch.First.MayMove);
        for (var place = 0; place < 8 && !mayMove; place++)
            Assert.True(fetch.First.TryLosePlace());
        var late = new ArticleBody(new ConnectionLease(Request), new CollectingSink());
        var behind = new ArticleBody(new ConnectionLease(Request, fetch));
        Assert.True(sent.TryAdd(late, out _));
        Assert.True(sent.TryAdd(behind, out _));

        sent.SendElsewhere(late, isLeft: false);

        Assert.Equal(mayMove, behind.IsAbandoned);
    }

    [Fact]
    public void F11_Moved_fetches_are_charged_but_leave_the_hedge_reserve()
    {
        const int Behind = 15;
        foreach (var fetched in new[] { 0, 100, 100_000 })
        {
            var services = Services();
            for (var article = 0; article < fetched; article++)
                services.Budget.Fetched();
            var moved = 0;
            for (var late = 0; late < 20; late++)
            {
                var sent = new PendingReplies();
                var replies = new ArticleBody[Behind + 1];
                for (var i = 0; i < replies.Length; i++)
                {
                    replies[i] = new ArticleBody(new ConnectionLease(Request, Fetch(services)));
                    Assert.True(sent.TryAdd(replies[i], out _));
                }

                sent.SendElsewhere(replies[0], isLeft: false);
                moved += replies.Count(static reply => reply.IsAbandoned);
            }

            // The initial budget, plus one in twenty of the fetched articles up to the limit on savings.
            Assert.Equal(12 + Math.Min(fetched / 20, 12), moved);
            for (var hedge = 0; hedge < 4; hedge++)
                Assert.True(services.Budget.TrySpend());
            Assert.False(services.Budget.TrySpend());
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _pool.DisposeAsync();
        await _server.DisposeAsync();
    }

    private FetchServices Services() => new([_provider], _shared, new ReleaseOrder(TimeProvider.System));

    private static ArticleFetch Fetch(FetchServices services) => new(services, Request, new CollectingSink(), Token);

    private Task<ArticleReply> Fetch() => Fetch(_services).RunAsync().AsTask();

    private void LetThrough()
    {
        _shared.Limiter.Allow(1);
        _pool.Pump();
    }

    /// <summary>Evicts all waiting fetches until the fetch has had this many tries, or has ended.</summary>
    private async Task SendAwayAsync(int times, Task fetch)
    {
        using var counted = new NntpListener(_shared.Meter.Source);
        while (counted.Now.Tries < times && !fetch.IsCompleted)
        {
            _pool.SendAway();
            await Task.Yield();
        }
    }
}
