using System.Buffers;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav;

/// <summary>
/// The content of one GET, opened and copied within deadlines. The first bytes arrive before the response starts, so that an unreadable file still
/// gets a status. For one request; disposal closes the stream.
/// </summary>
internal sealed class FileBody : IAsyncDisposable
{
    /// <summary>Bytes read before the headers are sent. Small, because they are copied once more.</summary>
    private const int FirstRead = 16 * 1024;

    /// <summary>Maximum bytes per write. Larger writes save system calls up to this size; beyond it they no longer pay.</summary>
    private const int LargestWrite = 256 * 1024;

    /// <summary>While a response has sent less, writes stay small, because a client may only probe the file and leave.</summary>
    private const int SlowStart = 1024 * 1024;

    /// <summary>Maximum bytes per write until <see cref="SlowStart"/> bytes are sent.</summary>
    private const int FirstWrites = 64 * 1024;

    /// <summary>Minimum buffer size: one block of the transport.</summary>
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
    /// Opens a part of a file and waits for its first bytes. Throws <see cref="ContentUnavailableException"/>, which is transient after a timeout;
    /// <see cref="OperationCanceledException"/> only if the client left.
    /// </summary>
    /// <param name="file">The file.</param>
    /// <param name="range">The part to read; not empty.</param>
    /// <param name="limit">Time for opening plus the first byte. Restarts with each article that arrives to locate that byte.</param>
    /// <param name="time">The clock of the deadlines.</param>
    /// <param name="sincePaced">See <see cref="DavOptions.SincePaced"/>.</param>
    /// <param name="aborted">Canceled when the client leaves.</param>
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
    /// Copies the rest into the response after its headers are set. Each read is flushed before the next, so that no stream buffer is held while a
    /// slow client drains the pipe.
    /// </summary>
    /// <param name="answer">The response.</param>
    /// <param name="limit">Time for each next byte.</param>
    /// <returns>False if the client left or timed out, so the response is incomplete.</returns>
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

                // Size the buffer by recent reads, because each block that waits for a slow client keeps all its memory.
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

    public async ValueTask DisposeAsync()
    {
        // Return the first buffer only once, otherwise two responses would share it.
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

    /// <summary>Cancels a wait that exceeds its limit. Time spent on the bandwidth limit does not count.</summary>
    /// <remarks>The timer may fire after the next wait has begun, so it always checks the current wait.</remarks>
    private sealed class BodyDeadline : IAsyncDisposable
    {
        private readonly CancellationTokenSource _cancel = new();
        private readonly TimeProvider _time;
        private readonly Func<TimeSpan> _sincePaced;
        private readonly ITimer _timer;

        private const long None = long.MinValue;

        // _since is a timestamp, _limit is in ticks. The request writes _limit first; Restart moves _since while it is set. The timer reads both and
        // reschedules itself for the time left.
        private long _limit;
        private long _since = None;

        public BodyDeadline(TimeProvider time, Func<TimeSpan> sincePaced)
        {
            (_time, _sincePaced) = (time, sincePaced);
            _timer = time.CreateTimer(static deadline => ((BodyDeadline)deadline!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
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

        /// <summary>Restarts the limit because the wait made progress. Does nothing after the wait has ended.</summary>
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

        private void OnTimer()
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
