using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class IdleConnectionTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private enum Ending
    {
        Stays,
        Fin,
        Code400,
        Reset,

        // The FIN and the next command cross on their way.
        FinAtTheNextCommand,
        Code400AtTheNextCommand,
        ResetAtTheNextCommand,
    }

    /// <summary>The server ends idle connections in every way and at random times without any error at the client.</summary>
    [Fact]
    public async Task F09_5000_idle_connections_closed_by_server_cause_no_error()
    {
        const int Cycles = 5_000;
        var endings = Enum.GetValues<Ending>();
        await using var server = new ScriptedServer(connection =>
        {
            connection.Send("200 ready\r\n"u8);
            for (var cycle = 0; ; cycle++)
            {
                var ending = endings[(connection.Number + (cycle * 5)) % endings.Length];
                var id = IdOf(connection.ReadCommand());
                connection.Send(Encoding.ASCII.GetBytes($"222 0 {id}\r\n{id}\r\n.\r\n"));
                if (ending >= Ending.FinAtTheNextCommand)
                    connection.ReadCommand();
                if (ending is Ending.Code400 or Ending.Code400AtTheNextCommand)
                    connection.Send("400 idle for too long\r\n"u8);
                if (ending is Ending.Reset or Ending.ResetAtTheNextCommand)
                    connection.Reset();
                else if (ending != Ending.Stays)
                    connection.Finish();
                if (ending != Ending.Stays)
                    return;
            }
        });
        var time = new ManualTimeProvider();
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = server.Port, UseTls = false, MaxConnections = 3 };
        await using var pool = new ProviderPool([account], new NntpOptions { CloseGrace = TimeSpan.Zero }, new GlobalOperationLimiter(), time, NullLoggerFactory.Instance);
        var random = new Random(9);
        for (var cycle = 0; cycle < Cycles; cycle++)
        {
            await FetchAsync(pool, $"{cycle}@t");
            time.Advance(TimeSpan.FromSeconds(random.Next(6, 40)));
        }

        Assert.InRange(server.Accepted, Cycles / 3, 2 * Cycles);
    }

    [Fact]
    public async Task F09_Stale_socket_costs_one_retry_and_drops_idle_siblings()
    {
        // Idle connections are forgotten, as by a router: commands sent on them get no answer.
        const int Connections = 4;
        var (forgotten, unanswered) = (0, 0);
        using var allAsked = new CountdownEvent(Connections);
        await using var server = new ScriptedServer(connection =>
        {
            connection.Send("200 ready\r\n"u8);
            for (var isFirst = true; ; isFirst = false)
            {
                var id = IdOf(connection.ReadCommand());

                // Answers only after all four are open, because a faster one could serve every fetch.
                if (isFirst && connection.Number <= Connections)
                {
                    allAsked.Signal();
                    allAsked.Wait(connection.Stopping);
                }

                if (connection.Number <= Volatile.Read(ref forgotten))
                    Interlocked.Increment(ref unanswered);
                else
                    connection.Send(Encoding.ASCII.GetBytes($"222 0 {id}\r\n{id}\r\n.\r\n"));
            }
        });
        var time = new ManualTimeProvider();
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = server.Port, UseTls = false, MaxConnections = Connections, PipeliningDepth = 1 };
        await using var pool = new ProviderPool([account], new NntpOptions { CloseGrace = TimeSpan.Zero, HedgeEnabled = false }, new GlobalOperationLimiter(), time, NullLoggerFactory.Instance);
        using var counters = new NntpListener(pool.Meter);
        await Task.WhenAll(Enumerable.Range(0, Connections).Select(i => FetchAsync(pool, $"a{i}@t")));
        Assert.Equal(Connections, server.Accepted);
        var before = counters.Now.Tries;
        Volatile.Write(ref forgotten, server.Accepted);
        time.Advance(TimeSpan.FromSeconds(30));
        var fetch = FetchAsync(pool, "b@t");
        await Eventually.HoldsAsync(() => Volatile.Read(ref unanswered) == 1, () => "the command did not come", Token);
        time.Advance(TimeSpan.FromSeconds(6));
        await fetch;
        Assert.Equal(2, counters.Now.Tries - before);
        Assert.Equal(1, unanswered);
        await Eventually.HoldsAsync(() => pool.Sockets(0) == 1, () => $"{pool.Sockets(0)} sockets", Token);
    }

    [Fact]
    public async Task F09_Idle_connections_get_DATE_while_playing_and_QUIT_after()
    {
        var time = new ManualTimeProvider();
        await using var host = await EngineHost.StartAsync(EngineHost.Film(4), nntpTime: time);
        await FetchAsync(host.Pool, host.Release.MessageId(0, 1));
        var (opened, received) = (host.Mock.Stats.Opened, host.Counters.BytesReceived);

        // Two minutes after the last article: three times 40 seconds, each less than a server's idle limit.
        for (var date = 1; date <= 3; date++)
        {
            time.Advance(TimeSpan.FromSeconds(39));
            time.Advance(TimeSpan.FromSeconds(2));
            var expected = Math.Min(date, 2);
            await Eventually.HoldsAsync(() => host.Mock.Stats.CommandCount("DATE") == expected, () => $"{host.Mock.Stats.CommandCount("DATE")} DATE", Token);
            await Eventually.HoldsAsync(() => host.Counters.BytesReceived >= received + (expected * "111 20260103100000\r\n".Length), () => "an answer is outstanding", Token);
        }

        Assert.Equal(0, host.Mock.Stats.CommandCount("QUIT"));
        time.Advance(TimeSpan.FromSeconds(4));
        await Eventually.HoldsAsync(() => host.Mock.Stats.CommandCount("QUIT") == opened && host.Pool.Sockets(0) == 0, () => $"{host.Mock.Stats.CommandCount("QUIT")} QUIT", Token);
        Assert.Equal(2, host.Mock.Stats.CommandCount("DATE"));
    }

    [Fact]
    public async Task Keep_alive_disabled_sends_no_DATE_and_closes_idle_sockets()
    {
        var time = new ManualTimeProvider();
        await using var host = await EngineHost.StartAsync(EngineHost.Film(4), nntp: new NntpOptions { KeepsWarm = false }, nntpTime: time);
        await FetchAsync(host.Pool, host.Release.MessageId(0, 1));
        time.Advance(TimeSpan.FromSeconds(41));
        time.Advance(TimeSpan.FromSeconds(4));
        await Eventually.HoldsAsync(
            () => host.Mock.Stats.CommandCount("QUIT") == host.Mock.Stats.Opened && host.Pool.Sockets(0) == 0, () => $"{host.Pool.Sockets(0)} sockets", Token);
        Assert.Equal(0, host.Mock.Stats.CommandCount("DATE"));
    }

    /// <summary>Each of these dials would hang forever; with a healthy second provider it costs only its deadline.</summary>
    [Theory]
    [InlineData(FaultKind.GreetingNone, 8)]
    [InlineData(FaultKind.ConnectBlackhole, 4)]
    public async Task F10_Hanging_dial_ends_at_its_deadline_without_a_permit(FaultKind kind, int seconds)
    {
        var time = new ManualTimeProvider();
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(4),
            new MockOptions { Providers = [new MockProvider(), new MockProvider()], Faults = [new MockFault { Kind = kind, Provider = 0 }] },
            nntpTime: time);
        var fetch = FetchAsync(host.Pool, host.Release.MessageId(0, 1));

        // The deadlines of fetch, login and connect; the last of them has ended if a connection was made.
        var deadlines = kind == FaultKind.ConnectBlackhole ? 3 : 2;
        await Eventually.HoldsAsync(() => time.Waiting == deadlines && (deadlines == 3 || host.Mock.Stats.Opened > 0), () => $"{time.Waiting} deadlines", Token);
        Assert.Equal(0, host.Limiter.InUse(OperationLane.Playback));
        await AssertStallAsync(time, seconds, fetch);
        Assert.Equal(0, host.Mock.ProviderStats[0].CommandCount("BODY"));
    }

    [Theory]
    [InlineData(true, 8)]
    [InlineData(false, 6)]
    public async Task F10_TLS_stall_and_silent_command_end_at_their_deadlines(bool tls, int seconds)
    {
        var asked = 0;
        await using var silent = new ScriptedServer(connection =>
        {
            if (!tls)
            {
                connection.Send("200 ready\r\n"u8);
                connection.ReadCommand();
            }

            Volatile.Write(ref asked, 1);
            while (true)
                connection.ReadCommand();
        });
        await using var healthy = await EngineHost.StartAsync(EngineHost.Film(4));
        var time = new ManualTimeProvider();
        ProviderOptions[] accounts =
        [
            new ProviderOptions { Name = "silent", Host = "127.0.0.1", Port = silent.Port, UseTls = tls, Priority = 0 },
            new ProviderOptions { Name = "healthy", Host = "127.0.0.1", Port = healthy.Mock.Ports[0], UseTls = false, Priority = 1 },
        ];
        var options = new NntpOptions { RetriesPerProvider = 0, CloseGrace = TimeSpan.Zero, HedgeEnabled = false };
        await using var pool = new ProviderPool(accounts, options, new GlobalOperationLimiter(), time, NullLoggerFactory.Instance);
        var fetch = FetchAsync(pool, healthy.Release.MessageId(0, 1));
        await Eventually.HoldsAsync(() => Volatile.Read(ref asked) == 1, () => "the server was not asked", Token);
        await AssertStallAsync(time, seconds, fetch);
    }

    /// <summary>The clock checks an idle connection just before a command; its next check must then apply the limit for a command.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F10_Silence_deadline_applies_despite_an_earlier_idle_check()
    {
        const int Rounds = 40;
        var asked = 0;
        await using var server = new ScriptedServer(connection =>
        {
            connection.Send("200 ready\r\n"u8);
            while (true)
            {
                var id = IdOf(connection.ReadCommand());
                if (id.StartsWith("<silent", StringComparison.Ordinal))
                    Interlocked.Increment(ref asked);
                else
                    connection.Send(Encoding.ASCII.GetBytes($"222 0 {id}\r\n{id}\r\n.\r\n"));
            }
        });
        var time = new ManualTimeProvider();
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = server.Port, UseTls = false, MaxConnections = 1 };
        var options = new NntpOptions { RetriesPerProvider = 0, CloseGrace = TimeSpan.Zero, HedgeEnabled = false, BreakerCooldown = TimeSpan.Zero };
        for (var round = 0; round < Rounds; round++)
        {
            await using var pool = new ProviderPool([account], options, new GlobalOperationLimiter(), time, NullLoggerFactory.Instance);
            await FetchAsync(pool, $"{round}@t");
            var before = Volatile.Read(ref asked);
            var fetch = FetchAsync(pool, $"silent{round}@t");
            time.Advance(options.PlaybackStall);
            await Eventually.HoldsAsync(() => Volatile.Read(ref asked) > before || fetch.IsCompleted, () => "the server was not asked", Token);
            time.Advance(options.PlaybackStall);
            await Assert.ThrowsAsync<NntpException>(() => fetch);
        }
    }

    /// <summary>Fails if the fetch ends before the deadline; after it the healthy provider must answer.</summary>
    private static async Task AssertStallAsync(ManualTimeProvider time, int seconds, Task fetch)
    {
        time.Advance(TimeSpan.FromSeconds(seconds - 1));
        Assert.False(fetch.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(1));
        await fetch.WaitAsync(TimeSpan.FromSeconds(30), TimeProvider.System, Token);
    }

    /// <summary>Returns the id in a BODY command; any other command is QUIT and ends the connection.</summary>
    private static string IdOf(ReadOnlySpan<byte> command) =>
        command.StartsWith("BODY "u8) ? Encoding.ASCII.GetString(command["BODY ".Length..]) : throw new EndOfStreamException();

    private static async Task FetchAsync(ProviderPool pool, string id)
    {
        var sink = new TextSink();
        var reply = await pool.FetchAsync(new ArticleRequest(MessageId.Parse(id), OperationLane.Playback, ExpectedBytes: 100), sink, Token);
        Assert.True(reply.IsFound);
        if (sink.Text.StartsWith('<'))
            Assert.Equal($"<{id}>\r\n.\r\n", sink.Text);
    }
}
