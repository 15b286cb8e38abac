using System.Buffers;
using System.Threading.Channels;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// One logged-in socket. Commands go out through one write loop, which sends all that are ready in one flush; replies come in
/// through one read loop, which matches them to the commands in order and lends body bytes to their sinks.
/// </summary>
/// <remarks>
/// Thread-safe. Any thread may send, by one hop to the write loop; one pool owns it and is told of every reply and of its end. Ended by
/// <see cref="Abort"/>, <see cref="Retire"/> or the server; <see cref="Completion"/> follows.
/// </remarks>
internal sealed class NntpConnection : IAsyncDisposable
{
    private readonly NntpTransport _transport;
    private readonly NntpConnectionPool _pool;
    private readonly SharedResources _shared;
    private readonly NntpOptions _options;
    private readonly NntpMeter _meter;
    private readonly TimeProvider _time;
    private readonly PendingReplies _sent;
    private readonly ConnectionClock _clock;
    private readonly Channel<PendingReply> _unsent = Channel.CreateUnbounded<PendingReply>(new() { SingleReader = true });

    // Read loop only, and once it has ended what tears the connection down: misses that are not proved, and the reply whose body goes on
    // in the next stretch.
    private readonly Queue<StepProof> _doubts = new();
    private PendingReply? _body;

    // Why it has ended, or is about to; set once.
    private NntpException? _failure;
    private volatile bool _retired;
    private volatile bool _disposed;
    private volatile bool _lostWhileSending;
    private bool _closedByServer;

    /// <param name="transport">Logged in; owned.</param>
    /// <param name="login">Which login of its account it was opened with.</param>
    /// <param name="pool">To which it belongs.</param>
    public NntpConnection(NntpTransport transport, int login, NntpConnectionPool pool)
    {
        (_transport, _pool, _shared) = (transport, pool, pool.Shared);
        (_options, _meter, _time) = (_shared.Options, _shared.Meter, _shared.Time);
        Line = new LineEstimate(_time, pool.Line);
        _sent = new PendingReplies(_time.GetTimestamp());
        _clock = new ConnectionClock(_sent, Line, _shared, () => transport.HasUnread, () => pool.HasOnlyTheFloor, Obey);
        Load = new ConnectionLoad(this, _sent) { Login = login };
        Completion = Task.FromResult(new NntpException(NntpFault.ConnectionClosed, "The connection was not started."));
    }

    /// <summary>Ends when both loops have ended and the socket is closed, and says why. Never fails.</summary>
    public Task<NntpException> Completion { get; private set; }

    /// <summary>Round trip, rate and silences that this connection has shown.</summary>
    public LineEstimate Line { get; }

    /// <summary>Scheduling state, used under the lock of the pool.</summary>
    public ConnectionLoad Load { get; }

    /// <summary>What stands for the connection where it is remembered, which keeps nothing of it alive.</summary>
    public object Identity { get; } = new();

    /// <summary>Starts the loops. Called once.</summary>
    public void Start() => Completion = RunAsync();

    /// <summary>Sends commands as soon as the socket takes them. Their reply fails when the connection has ended.</summary>
    public void Submit(PendingReply reply)
    {
        _clock.Expect(reply.Request.Lane, reply.IsWanted);
        if (!_unsent.Writer.TryWrite(reply))
            Fail(reply, _failure ?? new NntpException(NntpFault.ConnectionClosed, "The connection was closed."));
    }

    /// <summary>Commands whose replies the connection owes.</summary>
    internal PendingReplies Sent => _sent;

    /// <summary>Whether a reply is outstanding that is wanted: a sign of life is not.</summary>
    public bool IsAwaited => !_sent.IsEmpty && !_sent.OnlyAbandoned;

    /// <summary>
    /// Decides what becomes of replies that are not wanted any more: read to their end when that is cheap, else a new socket. While a
    /// fetch waits behind the unwanted bytes they are read, whatever they cost.
    /// </summary>
    public void Reconsider()
    {
        if (_sent.AbandonedBytes is not { } remaining)
        {
            if (_sent.IsHeldUpByAbandoned)
                _clock.LookSoon();
            return;
        }

        // The fetch that comes next waits for the end of the rest or for a handshake, unless another connection takes it: then the
        // rest is worth its socket as long as the line is through with it in time.
        var drainSeconds = Line.TimeFor(remaining) + (Line.RoundTrip / 2);
        var limit = _options.DrainTime.TotalSeconds;
        if (!_pool.HasAnother(this))
            limit = Math.Min(limit, Line.Handshake);
        if (remaining <= _options.DrainBytes || (Line.BytesPerSecond > 0 && drainSeconds <= limit))
            _clock.StartDrain();
        else
            Abort(new NntpException(NntpFault.ConnectionClosed, "The rest of an unwanted article was too much to read."));
    }

    /// <summary>Closes a connection that is silent still, when its article has come elsewhere: what it will send is worth less than its socket.</summary>
    /// <returns>False when bytes have come of late.</returns>
    public bool TryGiveUp()
    {
        if (!_clock.IsUnusual)
            return false;
        _clock.GivenUp();
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
    /// <returns>False when the pool has not.</returns>
    public bool Retire(bool isStale = false)
    {
        if (!_pool.TryRetire(this, isStale))
            return false;

        // Before the write loop is stopped, which says QUIT where it sees this.
        _retired = true;
        _clock.StartLeaving();
        _unsent.Writer.TryComplete();
        return true;
    }

    /// <summary>Closes the socket and waits for both loops. No connection will take its place.</summary>
    public async ValueTask DisposeAsync()
    {
        _disposed = true;
        Abort(new NntpException(NntpFault.ConnectionClosed, "The connection pool was closed."));
        await Completion;
    }

    private async Task<NntpException> RunAsync()
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
            _unsent.Writer.TryComplete();
            _transport.Leave();
            await writing;
            FailOutstanding(reason);
            await _clock.DisposeAsync();

            // The server counts the socket until it has noticed; a replacement dialled before that would be one too many.
            if (!_closedByServer && !_disposed)
                await _pool.LeaveAsync(_transport.Socket);
            _transport.Abort();
            await _transport.DisposeAsync();
            _pool.SocketGone();
        }

        return reason;
    }

    /// <summary>By the clock.</summary>
    internal void Obey(ConnectionDue due)
    {
        if (due.IsLate)
            BeLate();
        if (due.Failure is not null)
            Abort(due.Failure);
        else if (due.IsIdle)
            Retire();
        else if (due.NeedsKeepAlive)
            Submit(new KeepAlive());
    }

    /// <summary>The first reply is late: what the connection owes is asked for elsewhere, the first reply in a race with this one.</summary>
    private void BeLate()
    {
        // What waits may go elsewhere.
        _pool.Pump();
        if (_sent.TryPeekLate(out var first) && first.BeLate() is var lateness and not Lateness.Borne)
            _sent.SendElsewhere(first, lateness == Lateness.Left);
    }

    private void TellOf(NntpException reason, bool isByServer)
    {
        var outstanding = isByServer ? _sent.Commands : 0;
        _pool.Depth.Broke(reason.Fault, outstanding);
        _pool.Closing(this, reason);
        if (outstanding > 0 && _clock.IsFirstAfter(_options.StaleAfter))
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

    /// <summary>Sends until it is stopped: commands that are ready together leave in one flush.</summary>
    private async Task WriteLoopAsync()
    {
        var buffer = new ArrayBufferWriter<byte>(1024);
        var commands = _unsent.Reader;
        try
        {
            while (await commands.WaitToReadAsync())
            {
                while (commands.TryRead(out var reply))
                {
                    if (!TryRegister(reply, buffer))
                        GiveBack(reply);
                }

                if (buffer.WrittenCount == 0)
                    continue;
                _meter.Flushed();
                await _transport.Stream.WriteAsync(buffer.WrittenMemory);
                buffer.ResetWrittenCount();
            }

            if (!_retired)
                return;
            NntpCommandWriter.WriteQuit(buffer);
            _meter.CommandSent();
            await _transport.Stream.WriteAsync(buffer.WrittenMemory);
            _transport.FinishSending();
        }
        catch (Exception error)
        {
            var reason = Lost(error);
            _lostWhileSending = reason.Fault == NntpFault.ConnectionClosed;
            Abort(reason);
        }
    }

    /// <summary>Every command is pending before it is flushed: its answer can overtake the end of the flush.</summary>
    /// <returns>False when it is not wanted any more and must not be sent.</returns>
    private bool TryRegister(PendingReply reply, ArrayBufferWriter<byte> buffer)
    {
        reply.SentAt = _time.GetTimestamp();
        if (!_sent.TryAdd(reply, out var isOnly))
            return false;

        reply.SentBehindOthers = !isOnly;
        if (isOnly)
            _clock.Begin();
        else if (_sent.IsHeldUpByAbandoned)
            _clock.LookSoon();

        reply.WriteCommands(buffer);
        _meter.CommandsSent(reply.Commands, isBody: reply is ArticleBody, isStat: reply is StatBatch);
        return true;
    }

    private async Task ReadLoopAsync()
    {
        var reader = _transport.Input;
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
                Process(ref buffer, arrived - left);
            if (_sent.TakeRevived())
                _pool.Pump();
            left = buffer.Length;
            _meter.Received(arrived - left);
            _pool.Traffic.Received(arrived - left);
            reader.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
                return;
        }
    }

    /// <summary>By the read loop: takes as many replies as the buffer holds, in the order of their commands, and cuts off what they used.</summary>
    /// <param name="buffer">Lent.</param>
    /// <param name="arrived">How many of its bytes are new.</param>
    /// <exception cref="NntpException">What came fits no command.</exception>
    internal void Process(ref ReadOnlySequence<byte> buffer, long arrived)
    {
        // Told before the body is given on, because its sink may take longer than the connection may be silent.
        if (_body is not null)
            _clock.Received(arrived, _time.GetTimestamp());
        while (!buffer.IsEmpty)
        {
            if (_body is null)
            {
                if (!NntpResponseReader.TryRead(ref buffer, _options.MaxLineBytes, out var response))
                    return;
                TakeLine(response);
                continue;
            }

            var isWhole = _body.Write(buffer.FirstSpan, out var consumed);
            buffer = buffer.Slice(consumed);
            if (_body.Received > _options.MaxArticleBytes)
                throw new NntpException(NntpFault.ArticleTooLarge, "The server sent more than an article may hold.");
            if (isWhole)
                End(_body);
        }
    }

    private void TakeLine(in NntpResponse response)
    {
        if (!_sent.TryPeek(out var reply) || response.Code == NntpResponseCode.ServiceUnavailable)
            throw Unsolicited(response);

        // The first answer on a connection that was idle measures the round trip.
        if (!reply.SentBehindOthers && reply.Unanswered == reply.Commands)
            Line.ObserveRoundTrip(reply.SentAt);
        var now = _time.GetTimestamp();
        _clock.Heard(now);
        switch (reply.Take(response, now))
        {
            case ReplyStep.Body:
                _body = reply;
                break;
            case ReplyStep.End:
                End(reply);
                break;
        }
    }

    private void End(PendingReply reply)
    {
        _body = null;
        reply.Measure(Line);
        if (reply.BodyStartedAt != 0)
            _clock.Ended();
        _sent.TryRemove(_time.GetTimestamp(), out _);
        Believe();

        // It took no lease, and no fetch waits for it.
        if (reply is KeepAlive)
        {
            _shared.Bandwidth.Count(reply.Remaining);
            return;
        }

        var outcome = OutcomeOf(reply);
        _pool.Depth.Answered(reply);

        // Decided first, so that a reply that was given up is counted as such.
        var isWanted = reply.TryClose();
        GiveBack(reply);

        // Unwanted replies behind a wanted one were left alone for its sake.
        Reconsider();

        // Told last: the fetch goes on in this call, and the replies behind this one wait until it returns.
        if (isWanted)
            reply.Complete(outcome);
    }

    private ReplyOutcome OutcomeOf(PendingReply reply)
    {
        switch (reply)
        {
            case ArticleBody { MissCode: not 0 } body:
                _meter.Missed();
                _pool.Traffic.Answered(isFound: false);
                return new ReplyOutcome(body.MissCode, DoubtOf(body.Request.Id));
            case ArticleBody:
                _meter.Delivered();
                _pool.Traffic.Answered(isFound: true);
                return ReplyOutcome.Delivered;
            case StatBatch { HasMisses: true }:
                return new ReplyOutcome(0, DoubtOf(default));
            default:
                return ReplyOutcome.Delivered;
        }
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
            _shared.Memory.RememberMissing(_pool.Id, doubt.Id);
        doubt.Settle(isProved: true);
    }

    private void GiveBack(PendingReply reply)
    {
        if (reply.IsAbandoned)
            Load.UnwantedEnded();
        _pool.EndCommand(this, reply.Request, reply);
    }

    // The first command after a long rest has broken it: the next try gets a fresh connection and not the next stale one.
    private void RetireOthersLikeThis()
    {
        foreach (var other in _pool.Idle)
        {
            if (other._clock.Rest >= _options.StaleAfter)
                other.Retire(isStale: true);
        }
    }

    private void FailOutstanding(NntpException reason)
    {
        // What failed in this process failed in the first reply, and says nothing about those behind it.
        var behind = reason.Fault == NntpFault.Broken ? new NntpException(NntpFault.GivenUp, reason.Message, reason) : reason;
        for (var of = reason; _sent.TryRemove(_time.GetTimestamp(), out var reply); of = behind)
        {
            _meter.Unanswered(reply.Unanswered);
            Fail(reply, of);
        }

        while (_unsent.Reader.TryRead(out var reply))
            Fail(reply, behind);

        while (_doubts.TryDequeue(out var doubt))
            doubt.Settle(isProved: false);
        NntpLog.ConnectionClosed(_shared.Logger, reason.Fault, reason.Message);
    }

    /// <summary>There will be no reply: what has not begun will not come, and does not count towards the limit of bandwidth.</summary>
    private void Fail(PendingReply reply, NntpException reason)
    {
        if (reply is ArticleBody { BodyStartedAt: 0 })
            _shared.Bandwidth.Settle(reply.Request, received: 0);
        reply.Fail(reason);
    }

    /// <summary>A line that came while nothing was outstanding, or that ends the session.</summary>
    private static NntpException Unsolicited(in NntpResponse response) => response.Code switch
    {
        NntpResponseCode.ServiceUnavailable or NntpResponseCode.PermanentlyUnavailable =>
            new(NntpFault.ConnectionClosed, $"The server ended the session: {response.Code} {response.PrintableText()}"),
        _ => new(NntpFault.MalformedReply, "The server sent a reply that nobody asked for."),
    };

    // What a stream throws when its socket ends says that; anything else has its cause in this process.
    private static NntpException Lost(Exception error) => error is IOException or ObjectDisposedException or InvalidOperationException
        ? new(NntpFault.ConnectionClosed, "The connection was lost.", error)
        : new(NntpFault.Broken, $"A connection was given up because of a failure in this process: {error.GetType().Name}.", error);
}
