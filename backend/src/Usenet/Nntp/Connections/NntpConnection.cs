using System.Buffers;
using System.Threading.Channels;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>One logged-in socket. A write loop sends all ready commands in one flush; a read loop matches replies in order and feeds the sinks.</summary>
/// <remarks>
/// Thread-safe. Any thread may send; the write loop does the work. The owning pool is notified of every reply and of the end. <see cref="Abort"/>,
/// <see cref="Retire"/> or the server end the connection; then <see cref="Completion"/> completes.
/// </remarks>
internal sealed class NntpConnection : ILeasedConnection, IAsyncDisposable
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

    // Used by the read loop and the teardown after it: unconfirmed misses, the reply whose body is arriving, and the bytes read but not yet counted.
    private readonly Queue<StepProof> _doubts = new();
    private PendingReply? _body;
    private long _unclaimed;

    // Why the connection ends; set once.
    private NntpException? _failure;
    private volatile bool _retired;
    private volatile bool _disposed;
    private volatile bool _lostWhileSending;
    private bool _closedByServer;

    public NntpConnection(NntpTransport transport, int login, NntpConnectionPool pool)
    {
        (_transport, _pool, _shared) = (transport, pool, pool.Shared);
        (_options, _meter, _time) = (_shared.Options, _shared.Meter, _shared.Time);
        Line = new LineEstimate(_time, pool.Line);
        _sent = new PendingReplies(_time.GetTimestamp());
        _clock = new ConnectionClock(_sent, Line, _shared, () => transport.HasUnread, () => pool.HasOnlyTheFloor, HandleDue);
        transport.ReportGathered(_clock.Gathered);
        Load = new ConnectionLoad(this) { Login = login };
        Completion = Task.FromResult(new NntpException(NntpFault.ConnectionClosed, "The connection was not started."));
    }

    /// <summary>Completes once both loops have ended and the socket is closed; the result is the reason. Never fails.</summary>
    public Task<NntpException> Completion { get; private set; }

    public LineEstimate Line { get; }
    public ConnectionLoad Load { get; }
    public object Identity { get; } = new();
    public bool IsLate => _sent.IsLate;

    public void Start() => Completion = RunAsync();

    /// <summary>Queues commands for the write loop. Their reply fails if the connection has ended.</summary>
    public void Submit(PendingReply reply)
    {
        _clock.Expect(reply.Request.Lane, reply.IsWanted);
        if (!_unsent.Writer.TryWrite(reply))
            Fail(reply, _failure ?? new NntpException(NntpFault.ConnectionClosed, "The connection was closed."));
    }

    internal PendingReplies Sent => _sent;

    private Payer FirstPayer => _sent.TryPeek(out var first) ? first.Payer : Payer.Other;

    /// <summary>Whether a fetch waits for a reply; a keep-alive does not count.</summary>
    public bool IsAwaited => !_sent.IsEmpty && !_sent.OnlyAbandoned;

    /// <summary>Drains abandoned replies if that is cheap, otherwise closes the socket. Always drains them if a fetch waits behind them.</summary>
    public void Reconsider()
    {
        if (_sent.AbandonedBytes is not { } remaining)
        {
            if (_sent.IsHeldUpByAbandoned)
                _clock.WatchSoon();
            return;
        }

        // The next fetch waits for this drain or for a handshake, unless another connection can serve it. If one can, draining pays off as long as it ends
        // within the drain time.
        var drainSeconds = Line.TimeFor(remaining) + (Line.RoundTrip / 2);
        var limit = _options.DrainTime.TotalSeconds;
        if (!_pool.HasAnother(this))
            limit = Math.Min(limit, Line.Handshake);
        if (remaining <= _options.DrainBytes || (Line.BytesPerSecond > 0 && drainSeconds <= limit))
            _clock.StartDrain();
        else
            Abort(new NntpException(NntpFault.ConnectionClosed, "The rest of an abandoned article was too long to read."));
    }

    /// <summary>Closes a silent connection whose article has arrived elsewhere, because a free slot is worth more than the late reply.</summary>
    /// <returns>False if bytes have arrived recently.</returns>
    public bool TryGiveUp()
    {
        if (!_clock.IsUnusual)
            return false;
        _clock.GivenUp();
        Abort(new NntpException(NntpFault.GivenUp, "The connection stayed silent until its article arrived elsewhere."));
        return true;
    }

    /// <summary>Closes the socket from this side. All outstanding replies fail with the reason.</summary>
    public void Abort(NntpException reason)
    {
        if (Interlocked.CompareExchange(ref _failure, reason, null) is null)
            _transport.Leave();
    }

    /// <summary>Retires the connection: sends QUIT and lets the server close. False if the pool still needs this connection.</summary>
    public bool Retire(bool isStale = false)
    {
        if (!_pool.TryRetire(this, isStale))
            return false;

        // Set before the write loop stops, because the loop sends QUIT only if it sees this flag.
        _retired = true;
        _clock.StartLeaving();
        _unsent.Writer.TryComplete();
        return true;
    }

    /// <summary>Closes the socket and waits for both loops. The pool is closing, so no connection will replace this one.</summary>
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
        var payer = _body?.Payer ?? FirstPayer;
        _pool.Traffic.Received(payer, _unclaimed + _transport.HeldByTls);
        var ours = Interlocked.CompareExchange(ref _failure, end, null);
        var reason = ours ?? end;
        try
        {
            ReportEnd(reason, isByServer: ours is { Fault: NntpFault.Stalled } || _lostWhileSending || (ours is null && end.Fault != NntpFault.Broken));
        }
        finally
        {
            _unsent.Writer.TryComplete();
            _transport.Leave();
            await writing;
            FailOutstanding(reason);
            await _clock.DisposeAsync();

            // The server counts the socket until it notices the close, so an immediate replacement would be one too many.
            if (!_closedByServer && !_disposed)
                await _pool.LeaveAsync(_transport.Socket, payer);
            _pool.Traffic.Received(payer, _transport.Socket.Unread());
            _transport.Abort();
            await _transport.DisposeAsync();
            _pool.SocketGone();
        }

        return reason;
    }

    internal void HandleDue(ConnectionDue due)
    {
        if (due.IsLate)
            OnLate();
        if (due.Failure is not null)
            Abort(due.Failure);
        else if (due.IsIdle)
            Retire();
        else if (due.NeedsKeepAlive)
            Submit(new KeepAlive());
    }

    /// <summary>Handles a late first reply: its fetch hedges, and the fetches behind it move to other connections.</summary>
    private void OnLate()
    {
        // Waiting fetches may get another connection.
        _pool.Pump();
        if (_sent.TryPeekLate(out var first) && first.OnLate() is var lateness and not Lateness.Tolerated)
            _sent.SendElsewhere(first, lateness == Lateness.Abandoned);
    }

    private void ReportEnd(NntpException reason, bool isByServer)
    {
        var outstanding = isByServer ? _sent.Commands : 0;
        _pool.Depth.Broke(reason.Fault, outstanding);
        _pool.Closing(this, reason);
        if (outstanding > 0 && _clock.IsFirstAfter(_options.StaleAfter))
            RetireOthersLikeThis();
    }

    /// <summary>Reads until the connection ends. Returns the reason, and never throws.</summary>
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

    /// <summary>Sends until the channel completes. Commands ready at the same time share one flush.</summary>
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

    /// <summary>Registers a command before it is flushed, because the reply can overtake the end of the flush.</summary>
    private bool TryRegister(PendingReply reply, ArrayBufferWriter<byte> buffer)
    {
        reply.SentAt = _time.GetTimestamp();
        if (!_sent.TryAdd(reply, out var isOnly))
            return false;

        reply.SentBehindOthers = !isOnly;
        if (isOnly)
            _clock.Begin();
        else if (_sent.IsHeldUpByAbandoned)
            _clock.WatchSoon();

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
            var buffer = result.Buffer;
            _unclaimed = buffer.Length;

            // This side has closed the connection.
            if (result.IsCanceled)
                return;

            // Nothing is outstanding after QUIT, so the server's reply to it does not matter.
            if (_retired)
            {
                buffer = buffer.Slice(buffer.End);
                Claim(_unclaimed, Payer.Other);
            }
            else
            {
                Process(ref buffer, _unclaimed - left);
            }

            if (_sent.TakeRevived())
                _pool.Pump();
            left = buffer.Length;
            reader.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
                return;
            _transport.Expect(_body?.StillToCome ?? 0, Line.BytesPerSecond);
        }
    }

    /// <summary>Processes as many replies as the buffer holds, in command order, and removes their bytes. Read loop only.</summary>
    /// <exception cref="NntpException">The bytes do not answer the next command.</exception>
    internal void Process(ref ReadOnlySequence<byte> buffer, long arrived)
    {
        // Reported before the bytes are passed on, because the sink may take longer than the connection may stay silent. Bytes gathered before a silence count
        // as of its start, so that gathering does not delay the hedge.
        if (_body is not null)
            _clock.Received(arrived, _transport.SilentSince ?? _time.GetTimestamp(), _transport.HasGathered);
        while (!buffer.IsEmpty)
        {
            if (_body is null)
            {
                var before = buffer.Length;
                if (!NntpResponseReader.TryRead(ref buffer, _options.MaxLineBytes, out var response))
                    return;
                Claim(before - buffer.Length, FirstPayer);
                TakeLine(response);
                continue;
            }

            var isWhole = _body.Write(buffer.FirstSpan, out var consumed);
            buffer = buffer.Slice(consumed);
            Claim(consumed, _body.Payer);
            if (_body.Received > _options.MaxArticleBytes)
                throw new NntpException(NntpFault.ArticleTooLarge, "The server sent more than an article may hold.");
            if (isWhole)
                End(_body);
        }
    }

    /// <summary>Counts bytes for the payer of their reply.</summary>
    private void Claim(long bytes, Payer payer)
    {
        _unclaimed -= bytes;
        _pool.Traffic.Received(payer, bytes);
    }

    private void TakeLine(in NntpResponse response)
    {
        if (!_sent.TryPeek(out var reply) || response.Code == NntpResponseCode.ServiceUnavailable)
            throw Unsolicited(response);

        // Only the first reply of an idle connection measures the round trip, because later ones queue behind it.
        if (!reply.SentBehindOthers && reply.Unanswered == reply.Commands)
            Line.ObserveRoundTrip(reply.SentAt);
        var now = _time.GetTimestamp();
        _clock.Heard(now);
        switch (reply.Take(response, now))
        {
            case ReplyStep.Body:
                _body = reply;
                if (!reply.SentBehindOthers)
                    _pool.Traffic.FirstBytes.Record(_time.GetElapsedTime(reply.SentAt, now));
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
        Confirm();

        // A keep-alive took no lease, and no fetch waits for it.
        if (reply is KeepAlive)
        {
            _shared.Bandwidth.Count(reply.Remaining);
            return;
        }

        var outcome = OutcomeOf(reply);
        _pool.Depth.Answered(reply.WasPipelined);

        // Closed first, so that a reply abandoned in the meantime counts as abandoned.
        var isWanted = reply.TryClose();
        GiveBack(reply);

        // Abandoned replies are read at any cost only while a wanted reply is outstanding.
        Reconsider();

        // Completed last, because the fetch continues in this call and delays the replies behind it.
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

    /// <summary>Records a miss that could still be the reply to another command. The replies outstanding now will confirm or refute it.</summary>
    /// <param name="id">The missing article; empty if the miss must not be remembered.</param>
    /// <returns>The pending proof; null if nothing is outstanding, so that the miss is already confirmed.</returns>
    private StepProof? DoubtOf(MessageId id)
    {
        var (ended, added) = _sent.Progress;
        var doubt = new StepProof(id, added);
        if (ended < added)
        {
            _doubts.Enqueue(doubt);
            return doubt;
        }

        Confirm(doubt);
        return null;
    }

    /// <summary>Confirms each miss once all commands that were in flight at its arrival are answered. Until then replies could be off by one.</summary>
    private void Confirm()
    {
        if (_doubts.Count == 0)
            return;
        var (ended, _) = _sent.Progress;
        while (_doubts.TryPeek(out var doubt) && doubt.Until <= ended)
            Confirm(_doubts.Dequeue());
    }

    private void Confirm(StepProof doubt)
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

    // The first command after a long idle time broke this connection, so a retry must not use another stale one.
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
        // A failure of this process concerns the first reply only, and says nothing about the replies behind it.
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

    /// <summary>Fails a reply. A body that has not begun will not arrive, so it does not count toward the bandwidth limit.</summary>
    private void Fail(PendingReply reply, NntpException reason)
    {
        if (reply is ArticleBody { BodyStartedAt: 0 })
            _shared.Bandwidth.Settle(reply.Request, received: 0);
        reply.Fail(reason);
    }

    private static NntpException Unsolicited(in NntpResponse response) => response.Code switch
    {
        NntpResponseCode.ServiceUnavailable or NntpResponseCode.PermanentlyUnavailable =>
            new(NntpFault.ConnectionClosed, $"The server ended the session: {response.Code} {response.PrintableText()}"),
        _ => new(NntpFault.MalformedReply, "The server sent an unsolicited reply."),
    };

    // A stream throws these exceptions when its socket ends. Any other exception is a fault of this process.
    private static NntpException Lost(Exception error) => error is IOException or ObjectDisposedException or InvalidOperationException
        ? new(NntpFault.ConnectionClosed, "The connection was lost.", error)
        : new(NntpFault.Broken, $"A connection was given up because of a failure in this process: {error.GetType().Name}.", error);
}
