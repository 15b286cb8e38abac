using Sluice.Testing;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// A fetch can be given up at any moment of its way to the wire. The clock of the connection is driven by hand beside it, so
/// that each order of events can be had.
/// </summary>
public sealed class ConnectionClockTests : IAsyncLifetime
{
    // Nothing is hedged, so that nobody looks before the stall limit unless the drain says so.
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
        // Its own clock stands still: what happens to it happens by the clock beside it, where a test does not move it.
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
    public async Task F07_Drain_that_begins_before_the_command_counts_as_begun_ends_in_its_own_time()
    {
        GiveUp();
        _deadlines.StartDrain();
        _deadlines.Begin();

        _clock.Advance(Options.DrainTime);

        await AssertClosedAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Drain_that_begins_after_it_ends_in_its_own_time()
    {
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();

        _clock.Advance(Options.DrainTime);

        await AssertClosedAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Drain_is_not_put_off_by_further_replies_that_are_given_up()
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
    public async Task F07_Drain_ends_where_something_is_wanted_again_and_the_stall_limit_counts()
    {
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();
        _deadlines.Expect(OperationLane.Playback, isWanted: true);

        _clock.Advance(Options.PlaybackStall);

        Assert.Equal(NntpFault.Stalled, (await _connection.Completion).Fault);
    }

    /// <summary>The clock asks for a sign of life under no lock: by the time it is sent, the connection may have been leased and given up.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F07_Drain_is_not_put_off_by_a_sign_of_life_that_comes_late()
    {
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();
        _deadlines.Expect(OperationLane.Playback, isWanted: false);

        _clock.Advance(Options.DrainTime);

        await AssertClosedAsync();
    }

    /// <summary>A server that does not close after a goodbye must not keep the socket, and its place, for good.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F09_Goodbye_that_a_sign_of_life_has_crossed_ends_in_its_own_time()
    {
        Assert.True(_sent.TryRemove(_clock.GetTimestamp(), out _));
        _deadlines.StartLeaving();
        _deadlines.Expect(OperationLane.Playback, isWanted: false);

        _clock.Advance(Options.DrainTime);

        await AssertClosedAsync();
    }

    /// <summary>What was drained is long over when a connection that rests is asked for a sign of life.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F09_Sign_of_life_after_a_drain_that_has_ended_has_its_own_time()
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
    public async Task F07_Silent_rest_that_holds_up_what_may_not_move_ends_long_before_the_stall_limit()
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
    public async Task F07_Command_that_is_sent_behind_an_unwanted_one_has_its_silence_looked_for()
    {
        GiveUp();
        var awaited = Ask("b@t", new FetchUrgency(this, isHeadOfLine: true));
        _connection.Submit(awaited);
        await Eventually.HoldsAsync(() => awaited.SentBehindOthers, () => "nothing was sent", Token);

        _standing.Advance(_patience + Options.DrainTime);

        await AssertClosedAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Command_that_is_given_up_on_its_way_to_the_wire_is_not_sent()
    {
        var clock = new HookedClock();
        var (pool, lease) = await LeaseAsync(clock);
        using var counted = new NntpListener(pool.Shared.Meter.Source);
        var connection = lease.Connection!;
        var body = Ask("b@t");

        // The last thing before a command is registered is a look at the clock.
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
        new(new ConnectionLease(new ArticleRequest(MessageId.Parse(id), OperationLane.Playback, Urgency: urgency)), new CollectingSink(), 0);

    /// <summary>A pool of one connection, and the right to its first command.</summary>
    private async Task<(NntpConnectionPool Pool, ConnectionLease Lease)> LeaseAsync(TimeProvider time)
    {
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = _server.Port, UseTls = false, MaxConnections = 1 };
        var pool = new NntpConnectionPool(account, TestResources.Of(Options, time, new GlobalOperationLimiter(1, time: time), TestResources.ConnectAsync));
        var lease = new ConnectionLease(new ArticleRequest(MessageId.Parse("a@t"), OperationLane.Playback));
        await pool.LeaseAsync(lease, Token);
        return (pool, lease);
    }

    /// <summary>Runs something once, when it is first asked for the time.</summary>
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
