using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A raised limit wakes the fetches that wait for it (F15). Nothing else could, because no reply arrives before.</summary>
public sealed class RaisedLimitTests : IAsyncDisposable
{
    private const int Few = 4;
    private const int Fetches = 8;

    // Longer than the tests wait, so that a stalled reply does not wake anything either.
    private static readonly NntpOptions Options = new() { HedgeEnabled = false, PlaybackStall = TimeSpan.FromMinutes(1), BackgroundStall = TimeSpan.FromMinutes(1) };

    private readonly ManualResetEventSlim _answers = new();
    private readonly ScriptedServer _server;
    private readonly GlobalOperationLimiter _limiter = new();
    private readonly NntpAccounts _accounts;

    public RaisedLimitTests()
    {
        _server = new ScriptedServer(connection =>
        {
            connection.Send("200 ready\r\n"u8);
            while (true)
            {
                connection.ReadCommand();
                _answers.Wait(connection.Stopping);
                connection.Send("222 0 <a@t>\r\n.\r\n"u8);
            }
        });
        _accounts = new NntpAccounts(_limiter, TimeProvider.System, NullLoggerFactory.Instance);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 60_000)]
    [InlineData(OperationLane.Playback)]
    [InlineData(OperationLane.Import)]
    public async Task F15_Raised_account_limit_opens_connections_for_waiters(OperationLane lane)
    {
        await using var pool = new ProviderPool(_accounts, [Account(Few)], Options);
        var fetches = await WaitAsync(pool, lane);

        await using var raised = new ProviderPool(_accounts, [Account(Fetches)], Options);

        await AssertAllServedAsync(fetches);
    }

    [Theory(Timeout = 60_000)]
    [InlineData(OperationLane.Playback)]
    [InlineData(OperationLane.Import)]
    public async Task F15_Raised_permit_limit_serves_waiting_fetches(OperationLane lane)
    {
        _limiter.Configure(Few, streamingPriorityPercent: 80, importConnections: 0);
        await using var pool = new ProviderPool(_accounts, [Account(Fetches)], Options);
        var fetches = await WaitAsync(pool, lane);

        _limiter.Configure(Fetches, streamingPriorityPercent: 80, importConnections: 0);

        await AssertAllServedAsync(fetches);
    }

    /// <summary>The last permit is reserved for background work, which waits for a connection of another provider.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F15_Released_reserved_permit_wakes_a_waiter_elsewhere()
    {
        _limiter.Configure(connections: 2, streamingPriorityPercent: 80, importConnections: 0);
        await using var silent = new ScriptedServer(connection => connection.Stopping.WaitHandle.WaitOne());
        await using var pool = new ProviderPool(_accounts, [Account(2)], Options);
        await using var other = new ProviderPool(_accounts, [Account(1) with { Port = silent.Port }], Options);
        using var unwanted = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var import = other.FetchAsync(Request(OperationLane.Import), new CollectingSink(), unwanted.Token).AsTask();
        await Eventually.HoldsAsync(() => silent.Accepted == 1, () => "no dial", Token);
        var fetches = Enumerable.Range(0, 2).Select(_ => pool.FetchAsync(Request(OperationLane.Playback), new CollectingSink(), Token).AsTask()).ToArray();
        await Eventually.HoldsAsync(
            () => _server.Accepted == 2 && pool.Sockets(0) == 2 && _limiter.InUse(OperationLane.Playback) > 0,
            () => $"{_server.Accepted} connections, {_limiter.InUse(OperationLane.Playback)} in use",
            Token);
        Assert.Equal(1, _limiter.InUse(OperationLane.Playback));

        await unwanted.CancelAsync();

        await Eventually.HoldsAsync(() => _limiter.InUse(OperationLane.Playback) == 2, () => "the permit is free, and nobody takes it", Token);
        _answers.Set();
        await Task.WhenAll(fetches);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => import);
    }

    [Fact(Timeout = 60_000)]
    public async Task F15_Background_exceeds_its_share_once_playback_is_idle()
    {
        var clock = new ManualTimeProvider();
        var limiter = new GlobalOperationLimiter(time: clock);
        await using var accounts = new NntpAccounts(limiter, clock, NullLoggerFactory.Instance);
        await using var pool = new ProviderPool(accounts, [Account(Few)], Options);
        _answers.Set();
        await pool.FetchAsync(Request(OperationLane.Playback), new CollectingSink(), Token);
        _answers.Reset();
        var imports = Enumerable.Range(0, 2).Select(_ => pool.FetchAsync(Request(OperationLane.Import), new CollectingSink(), Token).AsTask()).ToArray();
        await Eventually.HoldsAsync(() => limiter.InUse(OperationLane.Import) == 1, () => "no import", Token);

        clock.Advance(TimeSpan.FromSeconds(2));

        await Eventually.HoldsAsync(() => limiter.InUse(OperationLane.Import) == 2, () => "nothing plays, and an import waits", Token);
        _answers.Set();
        await Task.WhenAll(imports);
    }

    public async ValueTask DisposeAsync()
    {
        await _accounts.DisposeAsync();
        await _server.DisposeAsync();
        _answers.Dispose();
    }

    private static ArticleRequest Request(OperationLane lane) => new(MessageId.Parse("a@t"), lane);

    private ProviderOptions Account(int connections) =>
        new() { Name = "scripted", Host = "127.0.0.1", Port = _server.Port, UseTls = false, MaxConnections = connections, PipeliningDepth = 1 };

    /// <summary>Starts more fetches than there are connections.</summary>
    private async Task<Task[]> WaitAsync(ProviderPool pool, OperationLane lane)
    {
        var fetches = Enumerable.Range(0, Fetches).Select(_ => pool.FetchAsync(Request(lane), new CollectingSink(), Token).AsTask()).ToArray();
        await Eventually.HoldsAsync(() => _limiter.InUse(lane) == Few, () => $"{_limiter.InUse(lane)} in use", Token);
        return fetches;
    }

    private async Task AssertAllServedAsync(Task[] fetches)
    {
        await Eventually.HoldsAsync(() => _server.Accepted == Fetches, () => $"{_server.Accepted} connections", Token);
        _answers.Set();
        await Task.WhenAll(fetches);
        Assert.Equal(Fetches, _server.Accepted);
    }
}
