using System.Buffers;

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
    private readonly CancellationTokenSource _deadline;
    private readonly CancellationTokenRegistration _registration;
    private readonly byte[] _first;
    private Stream? _stream;
    private int _firstLength;
    private long _remaining;
    private bool _isDisposed;

    private FileBody(TimeProvider time, long length, CancellationToken aborted)
    {
        _aborted = aborted;
        _remaining = length;
        _deadline = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        _registration = aborted.UnsafeRegister(static source => ((CancellationTokenSource)source!).Cancel(), _deadline);
        _first = ArrayPool<byte>.Shared.Rent(FirstRead);
    }

    /// <summary>
    /// Opens a part of a file and waits for its first bytes. Throws <see cref="ContentUnavailableException"/>, transient also when
    /// the time is over; <see cref="OperationCanceledException"/> only when the client left.
    /// </summary>
    /// <param name="file">The file.</param>
    /// <param name="range">Which part of it; not empty.</param>
    /// <param name="limit">How long opening and the first byte may take together.</param>
    /// <param name="time">The clock of the deadlines.</param>
    /// <param name="aborted">Cancelled when the client leaves.</param>
    public static async Task<FileBody> OpenAsync(IStoreFile file, ByteRange range, TimeSpan limit, TimeProvider time, CancellationToken aborted)
    {
        var body = new FileBody(time, range.Length, aborted);
        try
        {
            body._deadline.CancelAfter(limit);
            await body.OpenAsync(file, range);
            body._deadline.CancelAfter(Timeout.InfiniteTimeSpan);
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
        while (_remaining > 0 && takes)
        {
            // The buffer asked for follows the size of the reads: each block that waits for a slow client holds its whole memory.
            var size = Math.Clamp(2 * read, SmallestWrite, sent < SlowStart ? FirstWrites : LargestWrite);
            var memory = output.GetMemory((int)Math.Min(_remaining, size));
            read = await ReadAsync(memory, limit);
            output.Advance(read);
            sent += read;
            takes = await answer.FlushAsync();
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
        _deadline.Dispose();
        ArrayPool<byte>.Shared.Return(_first);
    }

    private async Task OpenAsync(IStoreFile file, ByteRange range)
    {
        _stream = await file.OpenAsync(range.Offset, range.Length, _deadline.Token);
        _firstLength = Count(await _stream.ReadAsync(Limit(_first), _deadline.Token));
    }

    private async ValueTask<int> ReadAsync(Memory<byte> memory, TimeSpan limit)
    {
        var pending = _stream!.ReadAsync(Limit(memory), _deadline.Token);
        if (pending.IsCompletedSuccessfully)
            return Count(await pending);

        _deadline.CancelAfter(limit);
        try
        {
            return Count(await pending);
        }
        catch (OperationCanceledException cause) when (!_aborted.IsCancellationRequested)
        {
            throw TooLate(cause);
        }
        finally
        {
            _deadline.CancelAfter(Timeout.InfiniteTimeSpan);
        }
    }

    private Memory<byte> Limit(Memory<byte> memory) =>
        memory.Length > _remaining ? memory[..(int)_remaining] : memory;

    private int Count(int read)
    {
        if (read == 0)
            throw new ContentUnavailableException(ContentFault.Transient, "The content ended before its length.");
        _remaining -= read;
        return read;
    }

    private static ContentUnavailableException TooLate(OperationCanceledException cause) =>
        new(ContentFault.Transient, "The content did not arrive in time.", cause);
}
