using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// A fetch can be given up at any moment of its way to the wire. The clock of the connection is driven by hand beside it, so
/// that each order of events can be had.
/// </summary>
public sealed class ConnectionDeadlinesTests : IAsyncLifetime
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
    private readonly Owner _owner = new();
    private NntpConnection _connection = null!;
    private ConnectionDeadlines _deadlines = null!;
    private TimeSpan _patience;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        // Its own clock stands still: what happens to it happens by the deadlines beside it, where a test does not move it.
        var standing = Shared(_standing);
        var account = new ProviderOptions { Name = "scripted", Host = "127.0.0.1", Port = _server.Port, UseTls = false };
        _connection = new NntpConnection(await ConnectAsync(), 0, new LineEstimate(standing.Time), new PipelineDepth(account, standing), standing, _owner);
        _connection.Start();
        _connection.Submit(_body);
        await Eventually.HoldsAsync(() => _connection.IsBusy, () => "nothing was sent", Token);

        var line = new LineEstimate(_clock);
        var policy = new StragglerPolicy(Options);
        _patience = policy.Patience(line);
        _deadlines = new ConnectionDeadlines(_connection, new ReplySilence(() => false, _sent, line, policy, Options, _clock), Shared(_clock));
        _deadlines.Expect(OperationLane.Playback);
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
        Assert.True(_sent.TryAdd(_body, out _));
        _deadlines.Begin();
        GiveUp();
        _deadlines.StartDrain();
        _deadlines.Expect(OperationLane.Playback);

        _clock.Advance(Options.PlaybackStall);

        Assert.Equal(NntpFault.Stalled, (await _owner.Reason).Fault);
    }

    [Fact(Timeout = 60_000)]
    public async Task F07_Silent_rest_that_holds_up_what_may_not_move_ends_long_before_the_stall_limit()
    {
        var awaited = Ask("b@t", new FetchUrgency(this, isHeadOfLine: true));
        _connection.Submit(awaited);
        Assert.True(_sent.TryAdd(_body, out _));
        Assert.True(_sent.TryAdd(awaited, out _));
        _deadlines.Begin();
        GiveUp();
        _deadlines.LookSoon();

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
        var meter = new NntpMeter(TimeProvider.System);
        await using var transport = await ConnectAsync();
        var sender = new CommandSender(transport, _sent, meter, clock);
        var takenBack = new List<PendingReply>();
        var body = Ask("b@t");

        // The last thing before a command is registered is a look at the clock.
        clock.Hook = () => Assert.True(body.TryAbandon(Token));
        Assert.True(sender.TrySubmit(body));
        sender.Stop();
        await sender.RunAsync(takenBack.Add, _ => Assert.Fail("Nothing has begun."));

        Assert.Equal([body], takenBack);
        Assert.True(_sent.IsEmpty);
        Assert.Equal(0, meter.Read().Commands);
    }

    public async ValueTask DisposeAsync()
    {
        await _deadlines.DisposeAsync();
        await _connection.DisposeAsync();
        await _server.DisposeAsync();
    }

    private void GiveUp() => Assert.True(_body.TryAbandon(Token));

    private async Task AssertClosedAsync()
    {
        Assert.Equal(NntpFault.ConnectionClosed, (await _owner.Reason).Fault);
        await _connection.Completion;
    }

    private static ArticleBody Ask(string id, FetchUrgency? urgency = null)
    {
        var body = new ArticleBody();
        body.Begin(new ArticleRequest(MessageId.Parse(id), OperationLane.Playback, Urgency: urgency), new CollectingSink(), 0);
        return body;
    }

    private async Task<NntpTransport> ConnectAsync()
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(IPAddress.Loopback, _server.Port, Token);
        return new NntpTransport(socket, new NetworkStream(socket), Options.ReceiveBufferBytes);
    }

    private static SharedResources Shared(TimeProvider time) =>
        new(Options, new GlobalOperationLimiter(), new HandshakeLimit(1, TimeProvider.System), new NntpMeter(time), new ProviderMemory(time), time, NullLogger.Instance);

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

    /// <summary>A pool of this one connection, which says why it has ended.</summary>
    private sealed class Owner : IConnectionOwner
    {
        private readonly TaskCompletionSource<NntpException> _reason = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task<NntpException> Reason => _reason.Task;

        public NntpConnection[] Idle() => [];

        public bool HasAnother(NntpConnection connection) => false;

        public void Changed()
        {
        }

        public void Missed(MessageId id)
        {
        }

        public void ReplyEnded(NntpConnection connection, PendingReply reply)
        {
        }

        public bool HasOnlyTheFloor => false;

        public bool TryRetire(NntpConnection connection, bool isStale) => false;

        public void Closing(NntpConnection connection, NntpException reason) => _reason.SetResult(reason);

        public Task LeaveAsync(Socket socket) => Task.CompletedTask;

        public void Closed(NntpConnection connection)
        {
        }
    }
}
