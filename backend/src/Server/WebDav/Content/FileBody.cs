using System.Buffers;
using System.IO.Pipelines;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Content;

/// <summary>
/// The content of one GET, opened and copied with timeouts. The first bytes are read before the response starts, so that an unreadable file still gets an error
/// status. Serves one request. Disposal closes the stream.
/// </summary>
internal sealed class FileBody : IAsyncDisposable
{
    /// <summary>Bytes read before the headers are sent. Only a few, because these bytes are copied twice.</summary>
    private const int FirstRead = 16 * 1024;

    /// <summary>Maximum bytes per write. Larger writes save system calls, but the gain beyond this size is negligible.</summary>
    private const int LargestWrite = 256 * 1024;

    /// <summary>Writes stay small until this many bytes are sent, because a client may only probe the file and then disconnect.</summary>
    private const int SlowStart = 1024 * 1024;

    /// <summary>Maximum bytes per write until <see cref="SlowStart"/> is reached.</summary>
    private const int FirstWrites = 64 * 1024;

    /// <summary>Minimum buffer size: one block of the transport.</summary>
    private const int SmallestWrite = 4 * 1024;

    private readonly IStoreFile _file;
    private readonly CancellationToken _aborted;
    private readonly BodyDeadline _deadline;
    private readonly CancellationTokenRegistration _registration;
    private readonly byte[] _first;
    private Stream? _stream;
    private int _firstLength;
    private long _remaining;
    private bool _isDisposed;

    private FileBody(IStoreFile file, long length, TimeProvider time, Func<TimeSpan> sincePaced, CancellationToken aborted)
    {
        _file = file;
        _aborted = aborted;
        _remaining = length;
        _deadline = new BodyDeadline(time, sincePaced);
        _registration = aborted.UnsafeRegister(static deadline => ((BodyDeadline)deadline!).Cancel(), _deadline);
        _first = ArrayPool<byte>.Shared.Rent(FirstRead);
    }

    /// <summary>
    /// Opens a part of a file and waits for its first bytes. Throws a transient <see cref="ContentUnavailableException"/> after a timeout, and <see
    /// cref="OperationCanceledException"/> only if the client disconnected.
    /// </summary>
    /// <param name="range">The part to read; not empty.</param>
    /// <param name="limit">Timeout for opening plus the first byte. Each article that arrives while that byte is being located restarts the timeout.</param>
    /// <param name="sincePaced">See <see cref="DavOptions.SincePaced"/>.</param>
    public static async Task<FileBody> OpenAsync(
        IStoreFile file, ByteRange range, TimeSpan limit, TimeProvider time, Func<TimeSpan> sincePaced, CancellationToken aborted)
    {
        var body = new FileBody(file, range.Length, time, sincePaced, aborted);
        try
        {
            body._deadline.Begin(limit);
            await body.OpenAsync(range);
            body._deadline.End();
            return body;
        }
        catch (Exception failure)
        {
            await body.DisposeAsync();
            aborted.ThrowIfCancellationRequested();
            if (body.Explain(failure) is { } known)
                throw known;
            throw;
        }
    }

    /// <summary>Copies the rest after the headers. Flushes each read before the next one, so that a slow client holds no stream buffers.</summary>
    /// <param name="direct">The connection, if it can send the stream's blocks without copying; otherwise null.</param>
    /// <param name="limit">Timeout of each read.</param>
    /// <returns>False if the client disconnected or timed out, so that the response is incomplete.</returns>
    public async Task<bool> CopyToAsync(PipeWriter output, IBlockOutput? direct, ClientProgress client, TimeSpan limit)
    {
        output.Write(_first.AsSpan(0, _firstLength));
        var takes = await client.FlushAsync(output);
        var read = _firstLength;
        long sent = read;
        try
        {
            while (_remaining > 0 && takes)
            {
                var isStart = sent < SlowStart;
                if (!isStart && sent - read < SlowStart)
                    direct?.ExpectMuch(isLong: true);

                // Size the buffer by recent reads, because a block that waits for a slow client keeps all its memory.
                var most = (int)Math.Min(_remaining, isStart ? FirstWrites : LargestWrite);
                var pending = direct is not null && _stream is ILendingStream lending
                    ? LendAsync(lending, direct, output, most)
                    : ReadAsync(output, Math.Max(2 * read, SmallestWrite), most);
                read = pending.IsCompletedSuccessfully ? Count(await pending) : await WaitAsync(pending, limit);
                sent += read;
                takes = await client.FlushAsync(output);
            }
        }
        finally
        {
            if (sent >= SlowStart)
                direct?.ExpectMuch(isLong: false);
        }

        return _remaining == 0;
    }

    public async ValueTask DisposeAsync()
    {
        // Return the first buffer only once, because otherwise two responses would share the buffer.
        if (_isDisposed)
            return;
        _isDisposed = true;
        await _registration.DisposeAsync();
        if (_stream is not null)
            await _stream.DisposeAsync();
        await _deadline.DisposeAsync();
        ArrayPool<byte>.Shared.Return(_first);
    }

    private async Task OpenAsync(ByteRange range)
    {
        _stream = await _file.OpenAsync(range.Offset, range.Length, _deadline.Token);
        (_stream as IProvingStream)?.WatchProof(_deadline.Restart);
        var first = _first.AsMemory(0, (int)Math.Min(_first.Length, _remaining));
        _firstLength = Count(await _stream.ReadAsync(first, _deadline.Token));
    }

    /// <summary>Sends the blocks of one read without copying.</summary>
    private async ValueTask<int> LendAsync(ILendingStream stream, IBlockOutput direct, PipeWriter output, int most)
    {
        try
        {
            var read = await stream.LendAsync(direct.Loan, most, _deadline.Token);
            direct.WriteLoan(output);
            return read;
        }
        catch
        {
            direct.Loan.Return();
            throw;
        }
    }

    /// <summary>Copies one read into a response buffer.</summary>
    private async ValueTask<int> ReadAsync(PipeWriter output, int room, int most)
    {
        var memory = output.GetMemory(Math.Min(most, room));
        var read = await _stream!.ReadAsync(memory.Length > most ? memory[..most] : memory, _deadline.Token);
        output.Advance(read);
        return read;
    }

    private async ValueTask<int> WaitAsync(ValueTask<int> pending, TimeSpan limit)
    {
        _deadline.Begin(limit);
        try
        {
            return Count(await pending);
        }
        catch (Exception failure) when (Explain(failure) is { } known)
        {
            _aborted.ThrowIfCancellationRequested();
            throw known;
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

    /// <summary>Maps a failure to an exception for the client; null if it is a bug.</summary>
    private ContentUnavailableException? Explain(Exception failure) => failure switch
    {
        ContentUnavailableException known => known,
        OperationCanceledException => new(ContentFault.Transient, "The content did not arrive in time.", failure),
        _ => _file.Explain(failure),
    };
}
