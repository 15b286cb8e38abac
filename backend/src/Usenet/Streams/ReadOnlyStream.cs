using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Streams;

/// <summary>A seekable file that can only be read, and only asynchronously.</summary>
/// <remarks>
/// For one reader at a time. A read of 0 bytes means the end and nothing else; whatever goes wrong throws. Dispose it
/// asynchronously: fetches that are under way have to be awaited.
/// </remarks>
public abstract class ReadOnlyStream : Stream, ILendingStream, IProvingStream
{
    private bool _isDisposed;

    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => true;

    /// <inheritdoc/>
    public override bool CanWrite => false;

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public abstract override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default);

    /// <inheritdoc/>
    public abstract ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken);

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => Position = origin switch
    {
        SeekOrigin.Begin => offset,
        SeekOrigin.Current => Position + offset,
        _ => Length + offset,
    };

    /// <summary>
    /// Says that reading will probably go on at another position soon, so that fetching can begin there while this one is still
    /// read. Promises nothing: a position out of range is ignored, and a wrong hint costs one segment.
    /// </summary>
    /// <param name="position">0-based offset.</param>
    public virtual void HintSeek(long position)
    {
    }

    /// <inheritdoc/>
    public virtual void WatchProof(Action headArrived)
    {
    }

    /// <summary>How reading gets on right now, for those who look on: on any thread, and at no cost while they do not. Null where nothing is known.</summary>
    public virtual StreamSnapshot? Look() => null;

    /// <summary>Not supported: a synchronous read would block a thread for a round trip.</summary>
    public sealed override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Read asynchronously.");

    /// <inheritdoc/>
    public sealed override void Flush()
    {
    }

    /// <inheritdoc/>
    public sealed override void SetLength(long value) => throw new NotSupportedException("The stream is read-only.");

    /// <inheritdoc/>
    public sealed override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("The stream is read-only.");

    /// <summary>Closes the stream once; later calls do nothing.</summary>
    public sealed override async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, true))
            return;
        await CloseAsync();
        await base.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    /// <summary>Gives back what the stream holds. Called once.</summary>
    protected abstract ValueTask CloseAsync();

    /// <summary>Not supported before <see cref="DisposeAsync"/>: a synchronous dispose could not wait for fetches.</summary>
    protected sealed override void Dispose(bool disposing)
    {
        if (disposing && !Volatile.Read(ref _isDisposed))
            throw new NotSupportedException("Dispose the stream asynchronously.");
        base.Dispose(disposing);
    }
}
