using System.Buffers;
using System.Threading.Channels;
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
    private readonly LineEstimate _line;
    private readonly NntpMeter _meter;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly IConnectionOwner _owner;
    private readonly Channel<ArticleBody> _unsent = Channel.CreateUnbounded<ArticleBody>(new() { SingleReader = true });
    private readonly ConnectionDeadlines _deadlines;

    private readonly PendingReplies _sent = new();
    private NntpException? _failure;
    private volatile bool _retired;
    private volatile bool _disposed;

    public NntpConnection(NntpTransport transport, int provider, LineEstimate line, SharedResources shared, IConnectionOwner owner)
    {
        _transport = transport;
        Provider = provider;
        _options = shared.Options;
        _line = line;
        _meter = shared.Meter;
        _time = shared.Time;
        _logger = shared.Logger;
        _owner = owner;
        _deadlines = new ConnectionDeadlines(this, shared.Options, shared.Time);
        Load = new ConnectionLoad(this);
        Completion = Task.CompletedTask;
    }

    /// <summary>Index of the provider in its pool.</summary>
    public int Provider { get; }

    /// <summary>Ends when both loops have ended and the socket is closed. Never fails.</summary>
    public Task Completion { get; private set; }

    /// <summary>Scheduling state; guarded by the lock of the owning pool.</summary>
    public ConnectionLoad Load { get; }

    /// <summary>Starts the loops. Called once.</summary>
    public void Start() => Completion = RunAsync();

    /// <summary>Sends a command as soon as the socket takes it.</summary>
    /// <returns>False when the connection has ended; the body has failed then.</returns>
    public bool Submit(ArticleBody body, OperationLane lane)
    {
        _deadlines.Expect(lane);
        if (_unsent.Writer.TryWrite(body))
            return true;

        body.Fail(_failure ?? new NntpException(NntpFault.ConnectionClosed, "The connection was closed."));
        return false;
    }

    /// <summary>Whether replies are outstanding.</summary>
    public bool IsBusy => !_sent.IsEmpty;

    /// <summary>Whether replies are outstanding and nobody wants any of them.</summary>
    public bool OwesOnlyAbandoned => _sent.OnlyAbandoned;

    /// <summary>
    /// Decides what becomes of replies nobody wants: read to their end when that is cheap, else a new socket. While somebody waits
    /// behind the unwanted bytes they are read, whatever they cost.
    /// </summary>
    public void Reconsider()
    {
        if (_sent.AbandonedBytes is not { } remaining)
            return;
        var drainSeconds = _line.TimeFor(remaining) + (_line.RoundTrip / 2);
        if (remaining <= _options.DrainBytes || (_line.BytesPerSecond > 0 && drainSeconds <= Math.Min(_options.DrainTime.TotalSeconds, _line.Handshake)))
            _deadlines.StartDrain();
        else
            Abort(new NntpException(NntpFault.ConnectionClosed, "The rest of an unwanted article was too much to read."));
    }

    /// <summary>Whether the body under way has come in more slowly than the least allowed, for at least this long.</summary>
    public bool IsTrickling(TimeSpan atLeast)
    {
        if (!_sent.TryPeek(out var body) || body.FirstByteAt == 0)
            return false;
        var elapsed = _time.GetElapsedTime(body.FirstByteAt);
        return elapsed >= atLeast && body.Received < elapsed.TotalSeconds * _options.MinimumBytesPerSecond;
    }

    /// <summary>Closes the socket at once; everything outstanding fails with the reason.</summary>
    public void Abort(NntpException reason)
    {
        if (Interlocked.CompareExchange(ref _failure, reason, null) is null)
            _transport.Abort();
    }

    /// <summary>Says QUIT and waits for the server to close, when the pool has agreed to let an idle connection go.</summary>
    public void Retire()
    {
        if (!_owner.TryRetire(this))
            return;
        _retired = true;
        _deadlines.StartLeaving();
        _unsent.Writer.TryComplete();
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
            closedByServer = true;
            reason = new NntpException(NntpFault.ConnectionClosed, "The server closed the connection.");
        }
        catch (NntpException error)
        {
            reason = error;
        }
        catch (Exception error) when (error is IOException or ObjectDisposedException or InvalidOperationException)
        {
            reason = new NntpException(NntpFault.ConnectionClosed, "The connection was lost.", error);
        }

        reason = Interlocked.CompareExchange(ref _failure, reason, null) ?? reason;
        _owner.Closing(this, reason);
        _unsent.Writer.TryComplete();
        _transport.Abort();
        await writing;
        FailOutstanding(reason);
        await _deadlines.DisposeAsync();

        // The server counts the socket until it has noticed; a replacement dialled before that would be one too many.
        if (!closedByServer && !_disposed)
            await Task.Delay(_options.CloseGrace, _time);
        await _transport.DisposeAsync();
        _owner.Closed(this);
    }

    private async Task WriteLoopAsync()
    {
        var buffer = new ArrayBufferWriter<byte>(1024);
        var commands = _unsent.Reader;
        try
        {
            while (await commands.WaitToReadAsync())
            {
                while (commands.TryRead(out var body))
                    Register(body, buffer);

                if (buffer.WrittenCount == 0)
                    continue;
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
        catch (Exception error) when (error is IOException or ObjectDisposedException or InvalidOperationException)
        {
            Abort(new NntpException(NntpFault.ConnectionClosed, "The connection was lost.", error));
        }
    }

    private void Register(ArticleBody body, ArrayBufferWriter<byte> buffer)
    {
        if (body.IsAbandoned)
        {
            _owner.ReplyEnded(this, body);
            return;
        }

        if (_sent.Add(body))
            body.SentOnIdleAt = _time.GetTimestamp();
        NntpCommandWriter.WriteBody(buffer, body.Id);
        _meter.BodySent();
    }

    private async Task ReadLoopAsync()
    {
        ArticleBody? current = null;
        var reader = _transport.Input;
        while (true)
        {
            var result = await reader.ReadAsync();
            var buffer = result.Buffer;
            var arrived = buffer.Length;
            _deadlines.Received();
            current = Process(ref buffer, current);
            _meter.Received(arrived - buffer.Length);
            reader.AdvanceTo(buffer.Start, buffer.End);
            if (result.IsCompleted)
                return;
        }
    }

    /// <summary>Takes as many replies as the buffer holds.</summary>
    /// <returns>The body that goes on in the next read, or null between replies.</returns>
    private ArticleBody? Process(ref ReadOnlySequence<byte> buffer, ArticleBody? current)
    {
        while (!buffer.IsEmpty)
        {
            if (current is null)
            {
                if (!NntpResponseReader.TryRead(ref buffer, _options.MaxLineBytes, out var response))
                    return null;
                current = Begin(response);
                continue;
            }

            var ended = current.Write(buffer.FirstSpan, out var consumed);
            buffer = buffer.Slice(consumed);
            if (current.Received > _options.MaxArticleBytes)
                throw new NntpException(NntpFault.ArticleTooLarge, "The server sent more than an article may hold.");

            if (ended)
            {
                _line.ObserveTransfer(current.Received, current.FirstByteAt);
                End(current, BodyOutcome.Delivered);
                current = null;
            }
        }

        return current;
    }

    /// <returns>The body that follows the line, or null when the line was the whole reply.</returns>
    private ArticleBody? Begin(in NntpResponse response)
    {
        if (_retired)
            return null;

        if (!_sent.TryPeek(out var body) || response.Code == NntpResponseCode.ServiceUnavailable)
            throw ReplyFaults.Unsolicited(response);

        if (body.SentOnIdleAt != 0)
            _line.ObserveRoundTrip(body.SentOnIdleAt);
        if (response.Code == NntpResponseCode.Body)
        {
            ReplyFaults.CheckEcho(response, body);
            body.FirstByteAt = _time.GetTimestamp();
            body.Start();
            return body;
        }

        if (!NntpResponseCode.IsMiss(response.Code))
            throw ReplyFaults.Refused(response);
        End(body, new BodyOutcome(response.Code));
        return null;
    }

    private void End(ArticleBody body, BodyOutcome outcome)
    {
        _sent.TryRemove(out _);
        _meter.Replied(outcome);
        body.Complete(outcome);
        _owner.ReplyEnded(this, body);

        // Unwanted replies behind a wanted one were left alone for its sake.
        Reconsider();
    }

    private void FailOutstanding(NntpException reason)
    {
        while (_unsent.Reader.TryRead(out var body))
            body.Fail(reason);
        while (_sent.TryRemove(out var body))
        {
            _meter.Unanswered();
            body.Fail(reason);
        }

        NntpLog.ConnectionClosed(_logger, reason.Fault, reason.Message);
    }
}
