using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Sockets closed by the client neither lower the learned connection cap of an account (F08) nor delay anything.</summary>
public sealed class ClosedSocketTests
{
    private const int Cap = 20;
    private const int Articles = 150;
    private const int ArticleSize = 60_000;
    private const int Films = 10;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 240_000)]
    [InlineData(false)]
    [InlineData(true)]
    public async Task F08_Stalls_are_not_mistaken_for_a_connection_cap(bool countsUntilStallEnds)
    {
        var provider = Stalling(Cap, countsUntilStallEnds);
        await using var host = await StartAsync(provider, Cap);
        var started = TimeProvider.System.GetTimestamp();
        for (var film = 0; film < Films; film++)
            await ReadAsync(host, film);

        var minutes = Math.Ceiling(TimeProvider.System.GetElapsedTime(started).TotalMinutes);
        Assert.InRange(host.Mock.Stats.FaultCount(FaultKind.BodyStall), 10, long.MaxValue);
        Assert.Null(host.Memory.CapOf(host.Accounts[0].Id));
        Assert.InRange(host.Mock.Stats.Refused, 0, 20 * minutes);
    }

    [Theory(Timeout = 120_000)]
    [InlineData(false)]
    [InlineData(true)]
    public async Task F08_Lower_cap_is_learned_despite_stalls(bool countsUntilStallEnds)
    {
        await using var host = await StartAsync(Stalling(8, countsUntilStallEnds), promised: 50);
        for (var film = 0; film < 3; film++)
            await ReadAsync(host, film);

        Assert.InRange(host.Mock.Stats.FaultCount(FaultKind.BodyStall), 3, long.MaxValue);
        Assert.Equal(8, host.Memory.CapOf(host.Accounts[0].Id));
        Assert.InRange(host.Mock.Stats.Refused, 1, 20);
    }

    /// <summary>The clock stands still, so only the server's close can free the slot of a closed socket.</summary>
    [Fact(Timeout = 60_000)]
    public async Task Failed_STATs_at_the_only_provider_release_their_sockets()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles),
            new MockOptions { Faults = [new MockFault { Kind = FaultKind.Command503, Verb = "STAT" }] },
            new NntpOptions { HedgeEnabled = false },
            nntpTime: new ManualTimeProvider());
        for (var part = 1; part <= 12; part++)
        {
            var answers = new ArticlePresence[1];
            await host.Pool.StatAsync(new StatRequest(new[] { Id(host, 0, part) }, OperationLane.HealthCheck), answers, Token);
            Assert.False(answers[0].IsPresent);
        }
    }

    /// <summary>
    /// The server never closes its side, and the abandoned socket holds the only slot. A second later a trial shows that there is room, without
    /// any event but the clock.
    /// </summary>
    [Fact(Timeout = 60_000)]
    public async Task F08_Abandoned_socket_in_the_only_slot_allows_a_new_dial()
    {
        await using var server = new ScriptedServer(connection =>
        {
            try
            {
                while (true)
                    connection.ReadCommand();
            }
            catch (EndOfStreamException)
            {
                connection.Stopping.WaitHandle.WaitOne();
            }
        });
        var time = new ManualTimeProvider();
        var options = new NntpOptions { HedgeEnabled = false, CloseLimit = TimeSpan.FromMinutes(10) };
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = server.Port, UseTls = false, MaxConnections = 1, PipeliningDepth = 1 };
        var request = new ArticleRequest(MessageId.Parse("a@b"), OperationLane.Playback, new FetchUrgency(this, isHeadOfLine: false));
        await using var pool = new NntpConnectionPool(account, TestResources.Of(options, time, new GlobalOperationLimiter(1, time: time), TestResources.ConnectAsync));
        using (var unwanted = new ConnectionLease(request))
        {
            await pool.LeaseAsync(unwanted, Token);
            var reply = unwanted.FetchAsync(new CollectingSink(), Token).AsTask();
            await Eventually.HoldsAsync(() => !unwanted.Connection!.Sent.IsEmpty, () => "nothing was sent", Token);
            unwanted.GiveUp();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reply);
        }

        using var lease = new ConnectionLease(request);
        var wait = pool.LeaseAsync(lease, Token).AsTask();
        await Eventually.HoldsAsync(
            () =>
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
                return wait.IsCompleted;
            },
            () => $"{pool}",
            Token);

        await wait;
        Assert.Equal(2, server.Accepted);
    }

    /// <summary>A socket that the server has not closed yet does not delay the dispose.</summary>
    [Fact(Timeout = 60_000)]
    public async Task Dispose_does_not_wait_for_the_server_to_close()
    {
        await using var server = new ScriptedServer(connection =>
        {
            connection.Send("200 ready\r\n"u8);
            connection.ReadCommand();
            connection.Send("999 what\r\n"u8);
            connection.Stopping.WaitHandle.WaitOne();
        });
        var time = new ManualTimeProvider();
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = server.Port, UseTls = false, MaxConnections = 2 };
        var pool = new ProviderPool([account], new NntpOptions { HedgeEnabled = false, RetriesPerProvider = 0 }, new GlobalOperationLimiter(), time, Microsoft.Extensions.Logging.Abstractions.NullLoggerFactory.Instance);
        await Assert.ThrowsAsync<NntpException>(() => pool.FetchAsync(new ArticleRequest(MessageId.Parse("a@b"), OperationLane.Playback), new CollectingSink(), Token).AsTask());
        Assert.Equal(1, pool.Sockets(0));

        await pool.DisposeAsync();
    }

    private static MockProvider Stalling(int cap, bool countsUntilStallEnds) => new()
    {
        MaxConnections = cap,
        Latency = TimeSpan.FromMilliseconds(20),
        Stall = 0.02,
        StallTime = TimeSpan.FromSeconds(6),
        NoticesAfter = countsUntilStallEnds ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(200),
    };

    private static Task<EngineHost> StartAsync(MockProvider provider, int promised) => EngineHost.StartAsync(
        EngineHost.Film(Articles * Films, ArticleSize, Films),
        new MockOptions { Providers = [provider] },
        new NntpOptions(),
        provider: (_, account) => account with { MaxConnections = promised, PipeliningDepth = 1 });

    private static MessageId Id(EngineHost host, int file, int part) => MessageId.Parse(host.Release.MessageId(file, part));

    private static async Task ReadAsync(EngineHost host, int film)
    {
        await using var stream = host.Engine.Open([FileExtent.Whole(host.File(film))], OperationLane.Playback);
        var buffer = new byte[64 * 1024];
        long position = 0;
        while (await stream.ReadAsync(buffer, Token) is > 0 and var count)
        {
            Assert.True(buffer.AsSpan(0, count).SequenceEqual(host.Truth(position, count, film)), $"wrong bytes in film {film} at {position}");
            position += count;
        }

        Assert.Equal(host.Release.Files[film].Size, position);
    }
}
