using Microsoft.Extensions.Logging;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// One logged-in socket. Commands go out through one write loop, which sends all that are ready in one flush; replies come in
/// through one read loop, which matches them to the commands in order and lends body bytes to their sinks.
/// </summary>
/// <remarks>Thread-safe. Ended by <see cref="Abort"/>, <see cref="Retire"/> or the server; <see cref="Completion"/> follows.</remarks>
internal sealed class NntpConnection : IAsyncDisposable
{
    private readonly NntpTransport _transport;
    private readonly NntpOptions _options;
    private readonly PipelineDepth _depth;
    private readonly NntpMeter _meter;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly IConnectionOwner _owner;
    private readonly ConnectionDeadlines _deadlines;
    private readonly PendingReplies _sent = new();
    private readonly ReplySilence _silence;
    private readonly CommandSender _sender;
    private readonly ReplyReceiver _receiver;
    private NntpException? _failure;
    private volatile bool _retired;
    private volatile bool _disposed;
    private volatile bool _lostWhileSending;

    public NntpConnection(NntpTransport transport, int login, LineEstimate line, PipelineDepth depth, SharedResources shared, IConnectionOwner owner)
    {
        _transport = transport;
        _options = shared.Options;
        _depth = depth;
        Line = new LineEstimate(shared.Time, line);
        _meter = shared.Meter;
        _time = shared.Time;
        _logger = shared.Logger;
        _owner = owner;
        _sender = new CommandSender(transport, _sent, shared.Meter, shared.Time);
        _silence = new ReplySilence(() => transport.HasUnread, _sent, Line, new StragglerPolicy(shared.Options), shared.Time);
        _receiver = new ReplyReceiver(_sent, _silence, shared.Options, Line, shared.Time);
        _deadlines = new ConnectionDeadlines(this, _silence, shared);
        Load = new ConnectionLoad(this) { Login = login };
        Completion = Task.CompletedTask;
    }

    /// <summary>Ends when both loops have ended and the socket is closed. Never fails.</summary>
    public Task Completion { get; private set; }

    /// <summary>What this connection has shown.</summary>
    public LineEstimate Line { get; }

    /// <summary>Scheduling state; guarded by the lock of the owning pool.</summary>
    public ConnectionLoad Load { get; }

    /// <summary>Starts the loops. Called once.</summary>
    public void Start() => Completion = RunAsync();

    /// <summary>Sends commands as soon as the socket takes them. Their reply fails when the connection has ended.</summary>
    public void Submit(PendingReply reply)
    {
        _deadlines.Expect(reply.Request.Lane);
        if (!_sender.TrySubmit(reply))
            reply.Fail(_failure ?? new NntpException(NntpFault.ConnectionClosed, "The connection was closed."));
    }

    /// <summary>Whether replies are outstanding.</summary>
    public bool IsBusy => !_sent.IsEmpty;

    /// <summary>Whether the provider would have fewer connections than it always shall without this one.</summary>
    public bool IsOfTheFloor => _owner.HasOnlyTheFloor;

    /// <summary>Whether replies are outstanding and nobody wants any of them.</summary>
    public bool OwesOnlyAbandoned => _sent.OnlyAbandoned;

    /// <summary>
    /// Decides what becomes of replies nobody wants: read to their end when that is cheap, else a new socket. While somebody waits
    /// behind the unwanted bytes they are read, whatever they cost.
    /// </summary>
    public void Reconsider()
    {
        if (_sent.AbandonedBytes is not { } remaining)
        {
            if (_sent.IsHeldUpByAbandoned)
                _deadlines.LookSoon();
            return;
        }

        // Whoever comes next waits for the end of the rest or for a handshake, unless another connection takes him: then the
        // rest is worth its socket as long as the line is through with it in time.
        var drainSeconds = Line.TimeFor(remaining) + (Line.RoundTrip / 2);
        var limit = _options.DrainTime.TotalSeconds;
        if (!_owner.HasAnother(this))
            limit = Math.Min(limit, Line.Handshake);
        if (remaining <= _options.DrainBytes || (Line.BytesPerSecond > 0 && drainSeconds <= limit))
            _deadlines.StartDrain();
        else
            Abort(new NntpException(NntpFault.ConnectionClosed, "The rest of an unwanted article was too much to read."));
    }

    /// <summary>Whether somebody waits for a reply that has been asked for.</summary>
    public bool IsAwaited => IsBusy && !OwesOnlyAbandoned;

    /// <summary>By the clock: the connection is silent. What it owes is asked for elsewhere, the first reply in a race with this one.</summary>
    public void BeLate()
    {
        Load.IsSuspect = true;
        if (_sent.TryPeek(out var first) && first.BeLate() is var lateness and not Lateness.Borne)
            _sent.SendElsewhere(first, lateness == Lateness.Left);
    }

    /// <summary>Closes a connection that is silent still, when its article has come elsewhere: what it will send is worth less than its socket.</summary>
    /// <returns>False when bytes have come of late.</returns>
    public bool TryGiveUp()
    {
        if (!_silence.IsUnusual)
            return false;
        _silence.GivenUp();
        Abort(new NntpException(NntpFault.GivenUp, "The connection was silent until its article had come elsewhere."));
        return true;
    }

    /// <summary>Closes the socket from this side; everything outstanding fails with the reason.</summary>
    public void Abort(NntpException reason)
    {
        if (Interlocked.CompareExchange(ref _failure, reason, null) is null)
            _transport.Leave();
    }

    /// <summary>Says QUIT and waits for the server to close, when the pool has agreed to let an idle connection go.</summary>
    /// <param name="isStale">Whether it is of no use any more.</param>
    public void Retire(bool isStale = false)
    {
        if (!_owner.TryRetire(this, isStale))
            return;
        _retired = true;
        _deadlines.StartLeaving();
        _sender.StopWithQuit();
    }

    /// <summary>Closes the socket and waits for both loops. No connection will take its place.</summary>
    public async ValueTask DisposeAsync()
    {
        _disposed = true;
        Abort(new NntpException(NntpFault.ConnectionClosed, "The connection pool was closed."));
        await Completion;
    }

    private async Task RunAsync()
    {
        await Task.Yield();
        var writing = WriteLoopAsync();
        NntpException reason;
        var closedByServer = false;
        try
        {
            await ReadLoopAsync();
            closedByServer = Volatile.Read(ref _failure) is null;
            reason = new NntpException(NntpFault.ConnectionClosed, "The server closed the connection.");
        }
        catch (NntpException error)
        {
            reason = error;
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException or InvalidOperationException)
        {
            reason = Lost(error);
        }

        var ours = Interlocked.CompareExchange(ref _failure, reason, null);
        reason = ours ?? reason;
        var outstanding = ours is null or { Fault: NntpFault.Stalled } || _lostWhileSending ? _sent.Commands : 0;
        _depth.Broke(reason.Fault, outstanding);
        _owner.Closing(this, reason);
        if (outstanding > 0 && _deadlines.WasStale(_options.StaleAfter))
            RetireOthersLikeThis();
        _sender.Stop();
        _transport.Leave();
        await writing;
        FailOutstanding(reason);
        await _deadlines.DisposeAsync();

        // The server counts the socket until it has noticed; a replacement dialled before that would be one too many.
        if (!closedByServer && !_disposed)
            await _owner.LeaveAsync(_transport.Socket);
        _transport.Abort();
        await _transport.DisposeAsync();
        _owner.Closed(this);
    }

    private async Task WriteLoopAsync()
    {
        try
        {
            await _sender.RunAsync(GiveBack, Begun);
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException or InvalidOperationException)
        {
            _lostWhileSending = true;
            Abort(Lost(error));
        }
    }

    private void Begun(bool isOnly)
    {
        if (isOnly)
            _deadlines.Begin();
        else if (_sent.IsHeldUpByAbandoned)
            _deadlines.LookSoon();
    }

    private async Task ReadLoopAsync()
    {
        var reader = _transport.Input;
        Action<PendingReply> ended = Ended;
        long left = 0;
        while (true)
        {
            var result = await reader.ReadAsync();

            // We have closed the connection; nothing has come.
            if (result.IsCanceled)
                return;
            var buffer = result.Buffer;
            var arrived = buffer.Length;
            var now = _time.GetTimestamp();
            _deadlines.Received(now);
            _silence.Received(arrived - left, now);

            // After QUIT nothing is outstanding, and what the server says to it does not matter.
            if (_retired)
                buffer = buffer.Slice(buffer.End);
            else
                _receiver.Process(ref buffer, ended);
            left = buffer.Length;
            _meter.Received(arrived - left);
            reader.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
                return;
        }
    }

    private void Ended(PendingReply reply)
    {
        // Nobody waits for a sign of life, and it took no lease.
        if (reply is KeepAlive)
            return;

        var outcome = ReplyOutcome.Delivered;
        if (reply is ArticleBody body)
        {
            _meter.Replied(body);
            outcome = new ReplyOutcome(body.MissCode);
        }

        _depth.Answered(reply);
        // Decided first, so that a reply that was given up is counted as such.
        var isWanted = reply.TryClose();
        GiveBack(reply);

        // Unwanted replies behind a wanted one were left alone for its sake.
        Reconsider();

        // Told last, because from here on it may be the reply to something else.
        if (isWanted)
            reply.Complete(outcome);
    }

    private void GiveBack(PendingReply reply)
    {
        if (reply.IsAbandoned)
            Load.UnwantedEnded();
        _owner.ReplyEnded(this, reply);
    }

    // The first command after a long rest has broken it: the next try gets a fresh connection and not the next stale one.
    private void RetireOthersLikeThis()
    {
        foreach (var other in _owner.Idle())
        {
            if (other._deadlines.Silence >= _options.StaleAfter)
                other.Retire(isStale: true);
        }
    }

    private void FailOutstanding(NntpException reason)
    {
        while (_sender.TryTakeUnsent(out var reply))
            reply.Fail(reason);
        while (_sent.TryRemove(_time.GetTimestamp(), out var reply))
        {
            _meter.Unanswered(reply);
            reply.Fail(reason);
        }

        NntpLog.ConnectionClosed(_logger, reason.Fault, reason.Message);
    }

    private static NntpException Lost(Exception error) => new(NntpFault.ConnectionClosed, "The connection was lost.", error);
}
