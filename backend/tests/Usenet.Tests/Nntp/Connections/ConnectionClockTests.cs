using Sluice.Testing;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// A fetch can be canceled at any moment on its way to the wire. The test drives a second clock of the connection manually, to produce
/// each order of events.
/// </summary>
public sealed class ConnectionClockTests : IAsyncLifetime
{
    // Without hedging there is no check before the stall limit, except that of a drain.
    private static readonly NntpOptions Options = new() { HedgeEnabled = false, CloseGrace = TimeSpan.Zero };

    private readonly ScriptedServer _server = new(connection =>
    {
        while (true)
            connection.ReadCommand();
    });
    private readonly ManualTimeProvider _clock = new();
    private readonly ManualTimeProvider _standing = new();
    private readonly PendingReplies _sent = new();
    private readonly ArticleBody _body = Ask("a@t");
    private NntpConnectionPool _pool = null!;
    private ConnectionLease _lease = null!;
    private NntpConnection _connection = null!;
    private ConnectionClock _deadlines = null!;
    private TimeSpan _patience;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        // The connection's own clock stands still unless a test moves it, so the second clock causes every event.
        (_pool, _lease) = await LeaseAsync(_standing);
        _connection = _lease.Connection!;
        _connection.Submit(_body);
        await Eventually.HoldsAsync(() => !_connection.Sent.IsEmpty, () => "nothing was sent", Token);
        Assert.True(_sent.TryAdd(_body, out _));

        var line = new LineEstimate(_clock);
        _patience = ConnectionClock.SilenceLimit(line, Options);
        _deadlines = new ConnectionClock(_sent, line, TestResources.Of(Options, _clock), hasUnread: () => false, isOfTheFloor: () => false, _connection.HandleDue);
        _deadlines.Expect(OperationLane.Playback, isWanted: true);
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Drain_started_before_the_command_ends_at_its_deadline()
    {
        GiveUp();
        _deadlines.StartDrain();
        _deadlines.Begin();

        _clock.Advance(Options.DrainTime);

        await AssertClosedAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Drain_started_after_the_command_ends_at_its_deadline()
    {
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();

        _clock.Advance(Options.DrainTime);

        await AssertClosedAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Further_abandoned_replies_do_not_extend_a_drain()
    {
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();
        _clock.Advance(Options.DrainTime / 2);
        _deadlines.StartDrain();

        _clock.Advance(Options.DrainTime / 2);

        await AssertClosedAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Wanted_reply_ends_the_drain_and_restores_the_stall_limit()
    {
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();
        _deadlines.Expect(OperationLane.Playback, isWanted: true);

        _clock.Advance(Options.PlaybackStall);

        Assert.Equal(NntpFault.Stalled, (await _connection.Completion).Fault);
    }

    /// <summary>The clock requests a keep-alive outside the lock: before it is sent, a fetch may have leased the connection and been canceled.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F07_Late_keep_alive_does_not_extend_a_drain()
    {
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();
        _deadlines.Expect(OperationLane.Playback, isWanted: false);

        _clock.Advance(Options.DrainTime);

        await AssertClosedAsync();
    }

    /// <summary>A server that does not close after QUIT must not occupy the socket and its slot forever.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F09_QUIT_crossed_by_a_keep_alive_closes_at_its_deadline()
    {
        Assert.True(_sent.TryRemove(_clock.GetTimestamp(), out _));
        _deadlines.StartLeaving();
        _deadlines.Expect(OperationLane.Playback, isWanted: false);

        _clock.Advance(Options.DrainTime);

        await AssertClosedAsync();
    }

    /// <summary>An idle connection sends its keep-alive long after the drain has ended.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F09_Keep_alive_after_a_finished_drain_gets_the_stall_limit()
    {
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();
        Assert.True(_sent.TryRemove(_clock.GetTimestamp(), out _));
        _clock.Advance(Options.KeepAliveInterval);

        var date = new KeepAlive { SentAt = _clock.GetTimestamp() };
        Assert.True(_sent.TryAdd(date, out _));
        _deadlines.Expect(OperationLane.Playback, date.IsWanted);
        _deadlines.Begin();
        _clock.Advance(Options.PlaybackStall);

        Assert.Equal(NntpFault.Stalled, (await _connection.Completion).Fault);
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Silent_abandoned_reply_blocking_a_reader_closes_early()
    {
        var awaited = Ask("b@t", new FetchUrgency(this, isHeadOfLine: true));
        _connection.Submit(awaited);
        Assert.True(_sent.TryAdd(awaited, out _));
        _deadlines.Begin();
        GiveUp();
        _deadlines.WatchSoon();

        _clock.Advance(_patience + Options.DrainTime);

        await AssertClosedAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Command_behind_an_abandoned_reply_is_watched_for_silence()
    {
        GiveUp();
        var awaited = Ask("b@t", new FetchUrgency(this, isHeadOfLine: true));
        _connection.Submit(awaited);
        await Eventually.HoldsAsync(() => awaited.SentBehindOthers, () => "nothing was sent", Token);

        _standing.Advance(_patience + Options.DrainTime);

        await AssertClosedAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Command_canceled_before_it_is_written_is_not_sent()
    {
        var clock = new HookedClock();
        var (pool, lease) = await LeaseAsync(clock);
        using var counted = new NntpListener(pool.Shared.Meter.Source);
        var connection = lease.Connection!;
        var body = Ask("b@t");

        // Reading the clock is the last step before a command is registered.
        clock.Hook = () => Assert.True(body.TryAbandon(Token));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => lease.AskAsync(body, Token).AsTask());
        lease.Dispose();

        await Eventually.HoldsAsync(() => connection.Load is { Commands: 0, Unwanted: 0 }, () => "the command was not given back", Token);
        Assert.Equal((0L, 0L), connection.Sent.Progress);
        Assert.Equal(0, counted.Now.Commands);
        await pool.DisposeAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _deadlines.DisposeAsync();
        _lease.Dispose();
        await _pool.DisposeAsync();
        await _server.DisposeAsync();
    }

    private void GiveUp() => Assert.True(_body.TryAbandon(Token));

    private async Task AssertClosedAsync() => Assert.Equal(NntpFault.ConnectionClosed, (await _connection.Completion).Fault);

    private static ArticleBody Ask(string id, FetchUrgency? urgency = null) =>
        new(new ConnectionLease(new ArticleRequest(MessageId.Parse(id), OperationLane.Playback, Urgency: urgency)), new CollectingSink());

    /// <summary>Creates a pool of one connection and leases that.</summary>
    private async Task<(NntpConnectionPool Pool, ConnectionLease Lease)> LeaseAsync(TimeProvider time)
    {
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = _server.Port, UseTls = false, MaxConnections = 1 };
        var pool = new NntpConnectionPool(account, TestResources.Of(Options, time, new GlobalOperationLimiter(1, time: time), TestResources.ConnectAsync));
        var lease = new ConnectionLease(new ArticleRequest(MessageId.Parse("a@t"), OperationLane.Playback));
        await pool.LeaseAsync(lease, Token);
        return (pool, lease);
    }

    /// <summary>Runs an action once, at the next reading of the time.</summary>
    private sealed class HookedClock : TimeProvider
    {
        public Action? Hook { get; set; }

        public override long GetTimestamp()
        {
            var hook = Hook;
            Hook = null;
            hook?.Invoke();
            return base.GetTimestamp();
        }
    }
}
