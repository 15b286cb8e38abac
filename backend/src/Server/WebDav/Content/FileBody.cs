using System.Buffers;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav;

/// <summary>
/// The bytes of one GET: opened, waited for and copied within deadlines. The first bytes are at hand before the answer starts, so
/// that a file which cannot be read is still answered with a status. Used by one request; disposal closes the stream.
/// </summary>
internal sealed class FileBody : IAsyncDisposable
{
    /// <summary>Bytes asked of the stream before the headers; copied once more, so no more than starts a response.</summary>
    private const int FirstRead = 16 * 1024;

    /// <summary>Most bytes handed to the transport at a time: larger writes cost fewer system calls, and beyond this no longer pay.</summary>
    private const int LargestWrite = 256 * 1024;

    /// <summary>As long as no more than this was sent, the client may be one that looks and leaves, and little is written ahead of it.</summary>
    private const int SlowStart = 1024 * 1024;

    /// <summary>Most bytes handed to the transport at a time until then.</summary>
    private const int FirstWrites = 64 * 1024;

    /// <summary>Least memory asked for at a time: a block of the transport.</summary>
    private const int SmallestWrite = 4 * 1024;

    private readonly CancellationToken _aborted;
    private readonly BodyDeadline _deadline;
    private readonly CancellationTokenRegistration _registration;
    private readonly byte[] _first;
    private Stream? _stream;
    private int _firstLength;
    private long _remaining;
    private bool _isDisposed;

    private FileBody(TimeProvider time, Func<TimeSpan> sincePaced, long length, CancellationToken aborted)
    {
        _aborted = aborted;
        _remaining = length;
        _deadline = new BodyDeadline(time, sincePaced);
        _registration = aborted.UnsafeRegister(static deadline => ((BodyDeadline)deadline!).Cancel(), _deadline);
        _first = ArrayPool<byte>.Shared.Rent(FirstRead);
    }

    /// <summary>
    /// Opens a part of a file and waits for its first bytes. Throws <see cref="ContentUnavailableException"/>, transient also when
    /// the time is over; <see cref="OperationCanceledException"/> only when the client left.
    /// </summary>
    /// <param name="file">The file.</param>
    /// <param name="range">Which part of it; not empty.</param>
    /// <param name="limit">How long opening and the first byte may take together; again from each article that arrives to prove where the byte lies.</param>
    /// <param name="time">The clock of the deadlines.</param>
    /// <param name="sincePaced">As in <see cref="DavOptions.SincePaced"/>.</param>
    /// <param name="aborted">Cancelled when the client leaves.</param>
    public static async Task<FileBody> OpenAsync(
        IStoreFile file, ByteRange range, TimeSpan limit, TimeProvider time, Func<TimeSpan> sincePaced, CancellationToken aborted)
    {
        var body = new FileBody(time, sincePaced, range.Length, aborted);
        try
        {
            body._deadline.Begin(limit);
            await body.OpenAsync(file, range);
            body._deadline.End();
            return body;
        }
        catch (OperationCanceledException cause) when (!aborted.IsCancellationRequested)
        {
            await body.DisposeAsync();
            throw TooLate(cause);
        }
        catch
        {
            await body.DisposeAsync();
            aborted.ThrowIfCancellationRequested();
            throw;
        }
    }

    /// <summary>
    /// Copies everything into the answer, whose headers are set. Read by read: the bytes of a read are flushed before the next one
    /// waits, and nothing of the stream is held while a slow client takes them.
    /// </summary>
    /// <param name="answer">Where to.</param>
    /// <param name="limit">How long each next byte may take.</param>
    /// <returns>False when the client left or was given up, so that the answer is not complete.</returns>
    public async Task<bool> CopyToAsync(AnswerPipe answer, TimeSpan limit)
    {
        var output = answer.Output;
        output.Write(_first.AsSpan(0, _firstLength));
        var takes = await answer.FlushAsync();
        var read = _firstLength;
        long sent = read;
        try
        {
            while (_remaining > 0 && takes)
            {
                var isStart = sent < SlowStart;
                if (!isStart && sent - read < SlowStart)
                    answer.ExpectMuch(isLong: true);

                // The memory asked for follows the size of the reads: each block that waits for a slow client holds all of its memory.
                var most = (int)Math.Min(_remaining, isStart ? FirstWrites : LargestWrite);
                read = await ReadAsync(answer, most, Math.Max(2 * read, SmallestWrite), limit);
                sent += read;
                takes = await answer.FlushAsync();
            }
        }
        finally
        {
            if (sent >= SlowStart)
                answer.ExpectMuch(isLong: false);
        }

        return _remaining == 0;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        // The memory of the first bytes goes back once, or two answers would share it.
        if (_isDisposed)
            return;
        _isDisposed = true;
        await _registration.DisposeAsync();
        if (_stream is not null)
            await _stream.DisposeAsync();
        await _deadline.DisposeAsync();
        ArrayPool<byte>.Shared.Return(_first);
    }

    private async Task OpenAsync(IStoreFile file, ByteRange range)
    {
        _stream = await file.OpenAsync(range.Offset, range.Length, _deadline.Token);
        (_stream as IProvingStream)?.WatchProof(_deadline.Restart);
        var first = _first.AsMemory(0, (int)Math.Min(_first.Length, _remaining));
        _firstLength = Count(await _stream.ReadAsync(first, _deadline.Token));
    }

    private async ValueTask<int> ReadAsync(AnswerPipe answer, int most, int room, TimeSpan limit)
    {
        var pending = answer.TakeAsync(_stream!, most, room, _deadline.Token);
        if (pending.IsCompletedSuccessfully)
            return Count(await pending);

        _deadline.Begin(limit);
        try
        {
            return Count(await pending);
        }
        catch (OperationCanceledException cause) when (!_aborted.IsCancellationRequested)
        {
            throw TooLate(cause);
        }
        catch (ContentUnavailableException) when (_aborted.IsCancellationRequested)
        {
            throw new OperationCanceledException(_aborted);
        }
        finally
        {
            _deadline.End();
        }
    }

    private int Count(int read)
    {
        if (read == 0)
            throw new ContentUnavailableException(ContentFault.Transient, "The content ended before its length.");
        _remaining -= read;
        return read;
    }

    private static ContentUnavailableException TooLate(OperationCanceledException cause) =>
        new(ContentFault.Transient, "The content did not arrive in time.", cause);

    /// <summary>Cancels one wait after the other that takes too long, but for the time in which reads waited for the limit of bandwidth.</summary>
    /// <remarks>The timer may fire when the next wait has begun already: it looks at the wait that there is then.</remarks>
    private sealed class BodyDeadline : IAsyncDisposable
    {
        private readonly CancellationTokenSource _cancel = new();
        private readonly TimeProvider _time;
        private readonly Func<TimeSpan> _sincePaced;
        private readonly ITimer _timer;

        private const long None = long.MinValue;

        // When the wait began, in ticks of the time provider, and how long it may last. Written by the request, the limit first, and moved on by
        // Restart while it is set; read by the timer, which sets itself again for what is left.
        private long _limit;
        private long _since = None;

        public BodyDeadline(TimeProvider time, Func<TimeSpan> sincePaced)
        {
            (_time, _sincePaced) = (time, sincePaced);
            _timer = time.CreateTimer(static deadline => ((BodyDeadline)deadline!).Look(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }

        public CancellationToken Token => _cancel.Token;

        public void Begin(TimeSpan limit)
        {
            Volatile.Write(ref _limit, limit.Ticks);
            Volatile.Write(ref _since, _time.GetTimestamp());
            _timer.Change(limit, Timeout.InfiniteTimeSpan);
        }

        public void End()
        {
            Volatile.Write(ref _since, None);
            _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }

        /// <summary>The wait has made progress: its time begins again. Does nothing once the wait has ended.</summary>
        public void Restart()
        {
            if (Volatile.Read(ref _since) is var since and not None)
                Interlocked.CompareExchange(ref _since, _time.GetTimestamp(), since);
        }

        public void Cancel() => _cancel.Cancel();

        public async ValueTask DisposeAsync()
        {
            await _timer.DisposeAsync();
            _cancel.Dispose();
        }

        private void Look()
        {
            var since = Volatile.Read(ref _since);
            if (since == None)
                return;
            var (waited, paced) = (_time.GetElapsedTime(since), _sincePaced());
            var rest = TimeSpan.FromTicks(Volatile.Read(ref _limit)) - (paced < waited ? paced : waited);
            if (rest > TimeSpan.Zero)
                _timer.Change(rest, Timeout.InfiniteTimeSpan);
            else
                _cancel.Cancel();
        }
    }
}
