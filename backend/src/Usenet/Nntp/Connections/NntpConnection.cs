using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nzb;

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
    private readonly PendingReplies _sent;
    private readonly ReplySilence _silence;
    private readonly CommandSender _sender;
    private readonly ReplyReceiver _receiver;

    // Read loop only, and once it has ended what tears the connection down.
    private readonly Queue<StepProof> _doubts = new();
    private NntpException? _failure;
    private volatile bool _retired;
    private volatile bool _disposed;
    private volatile bool _lostWhileSending;
    private bool _closedByServer;

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
        _sent = new PendingReplies(_time.GetTimestamp());
        _sender = new CommandSender(transport, _sent, shared.Meter, shared.Time);
        _silence = new ReplySilence(() => transport.HasUnread, _sent, Line, new StragglerPolicy(shared.Options), shared.Options, shared.Time);
        _receiver = new ReplyReceiver(_sent, _silence, shared.Options, Line, shared.Time);
        _deadlines = new ConnectionDeadlines(this, _silence, shared);
        Load = new ConnectionLoad(this, _sent) { Login = login };
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

    /// <summary>Whether replies are outstanding and none of them is wanted.</summary>
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

    /// <summary>Whether a reply is outstanding that is wanted: a sign of life is not.</summary>
    public bool IsAwaited => IsBusy && !OwesOnlyAbandoned;

    /// <summary>By the clock: the first reply is late. What the connection owes is asked for elsewhere, the first reply in a race with this one.</summary>
    public void BeLate()
    {
        _owner.Changed();
        if (_sent.TryPeekLate(out var first) && first.BeLate() is var lateness and not Lateness.Borne)
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
        var end = await ReadToEndAsync();
        var ours = Interlocked.CompareExchange(ref _failure, end, null);
        var reason = ours ?? end;
        try
        {
            TellOf(reason, isByServer: ours is { Fault: NntpFault.Stalled } || _lostWhileSending || (ours is null && end.Fault != NntpFault.Broken));
        }
        finally
        {
            _sender.Stop();
            _transport.Leave();
            await writing;
            FailOutstanding(reason);
            await _deadlines.DisposeAsync();

            // The server counts the socket until it has noticed; a replacement dialled before that would be one too many.
            if (!_closedByServer && !_disposed)
                await _owner.LeaveAsync(_transport.Socket);
            _transport.Abort();
            await _transport.DisposeAsync();
            _owner.Closed(this);
        }
    }

    private void TellOf(NntpException reason, bool isByServer)
    {
        var outstanding = isByServer ? _sent.Commands : 0;
        _depth.Broke(reason.Fault, outstanding);
        _owner.Closing(this, reason);
        if (outstanding > 0 && _silence.IsFirstAfter(_options.StaleAfter))
            RetireOthersLikeThis();
    }

    /// <summary>Reads until the connection ends. Whatever ends it comes out as the reason why; nothing is thrown.</summary>
    private async Task<NntpException> ReadToEndAsync()
    {
        try
        {
            await ReadLoopAsync();
            _closedByServer = Volatile.Read(ref _failure) is null;
            return new NntpException(NntpFault.ConnectionClosed, "The server closed the connection.");
        }
        catch (NntpException error)
        {
            return error;
        }
        catch (Exception error)
        {
            return Lost(error);
        }
    }

    private async Task WriteLoopAsync()
    {
        try
        {
            await _sender.RunAsync(GiveBack, Begun);
        }
        catch (Exception error)
        {
            var reason = Lost(error);
            _lostWhileSending = reason.Fault == NntpFault.ConnectionClosed;
            Abort(reason);
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

            // After QUIT nothing is outstanding, and what the server says to it does not matter.
            if (_retired)
                buffer = buffer.Slice(buffer.End);
            else
                _receiver.Process(ref buffer, arrived - left, ended);
            if (_sent.TakeRevived())
                _owner.Changed();
            left = buffer.Length;
            _meter.Received(arrived - left);
            reader.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
                return;
        }
    }

    private void Ended(PendingReply reply)
    {
        Believe();

        // It took no lease, and no fetch waits for it.
        if (reply is KeepAlive)
            return;

        var outcome = ReplyOutcome.Delivered;
        if (reply is ArticleBody body)
        {
            _meter.Replied(body);
            if (body.MissCode != 0)
                outcome = new ReplyOutcome(body.MissCode, DoubtOf(body.Request.Id));
        }
        else if (reply is StatBatch { HasMisses: true })
        {
            outcome = new ReplyOutcome(0, DoubtOf(default));
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

    /// <summary>A miss has come. What is outstanding by now may show yet that it was the answer to another command.</summary>
    /// <param name="id">What the provider does not have; empty where that is not to be remembered.</param>
    /// <returns>Whether it may be believed; null when nothing is outstanding.</returns>
    private StepProof? DoubtOf(MessageId id)
    {
        var (ended, added) = _sent.Progress;
        var doubt = new StepProof(id, added);
        if (ended < added)
        {
            _doubts.Enqueue(doubt);
            return doubt;
        }

        Believe(doubt);
        return null;
    }

    /// <summary>A reply has ended in its order: the misses are believed behind which nothing is outstanding any more that was by then.</summary>
    private void Believe()
    {
        if (_doubts.Count == 0)
            return;
        var (ended, _) = _sent.Progress;
        while (_doubts.TryPeek(out var doubt) && doubt.Until <= ended)
            Believe(_doubts.Dequeue());
    }

    private void Believe(StepProof doubt)
    {
        if (!doubt.Id.IsEmpty)
            _owner.Missed(doubt.Id);
        doubt.Settle(isProved: true);
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
            if (other._silence.Rest >= _options.StaleAfter)
                other.Retire(isStale: true);
        }
    }

    private void FailOutstanding(NntpException reason)
    {
        // What failed in this process failed in the first reply, and says nothing about those behind it.
        var behind = reason.Fault == NntpFault.Broken ? new NntpException(NntpFault.GivenUp, reason.Message, reason) : reason;
        for (var of = reason; _sent.TryRemove(_time.GetTimestamp(), out var reply); of = behind)
        {
            _meter.Unanswered(reply);
            reply.Fail(of);
        }

        while (_sender.TryTakeUnsent(out var reply))
            reply.Fail(behind);

        while (_doubts.TryDequeue(out var doubt))
            doubt.Settle(isProved: false);
        NntpLog.ConnectionClosed(_logger, reason.Fault, reason.Message);
    }

    // What a stream throws when its socket ends says that; anything else has its cause in this process.
    private static NntpException Lost(Exception error) => error is IOException or ObjectDisposedException or InvalidOperationException
        ? new(NntpFault.ConnectionClosed, "The connection was lost.", error)
        : new(NntpFault.Broken, $"A connection was given up because of a failure in this process: {error.GetType().Name}.", error);
}
