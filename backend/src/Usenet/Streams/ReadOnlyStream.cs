using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Streams;

/// <summary>A seekable file that can only be read, and only asynchronously.</summary>
/// <remarks>For one reader at a time. Reads 0 bytes only at the end; errors throw. Dispose it asynchronously, because closing waits for fetches.</remarks>
public abstract class ReadOnlyStream : Stream, ILendingStream, IProvingStream
{
    private bool _isDisposed;

    public override bool CanRead => true;

    public override bool CanSeek => true;

    public override bool CanWrite => false;

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public abstract override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default);

    public abstract ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken);

    public override long Seek(long offset, SeekOrigin origin) => Position = origin switch
    {
        SeekOrigin.Begin => offset,
        SeekOrigin.Current => Position + offset,
        _ => Length + offset,
    };

    /// <summary>Hints that the reader will probably continue at another position soon, so that fetching can begin there early.</summary>
    /// <remarks>Only a hint: an out-of-range position is ignored, and a wrong guess costs one segment.</remarks>
    /// <param name="position">0-based offset.</param>
    public virtual void HintSeek(long position)
    {
    }

    public virtual void WatchProof(Action headArrived)
    {
    }

    /// <summary>Returns the current state of the stream, or null if it is unknown. Callable on any thread; costs nothing unless called.</summary>
    public virtual StreamSnapshot? Snapshot() => null;

    /// <summary>Not supported: a synchronous read would block a thread for a round trip.</summary>
    public sealed override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Read asynchronously.");

    public sealed override void Flush()
    {
    }

    public sealed override void SetLength(long value) => throw new NotSupportedException("The stream is read-only.");

    public sealed override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("The stream is read-only.");

    public sealed override async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, true))
            return;
        await CloseAsync();
        await base.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    /// <summary>Releases the stream's resources. Called once.</summary>
    protected abstract ValueTask CloseAsync();

    /// <summary>Not supported before <see cref="DisposeAsync"/>: a synchronous dispose could not wait for fetches.</summary>
    protected sealed override void Dispose(bool disposing)
    {
        if (disposing && !Volatile.Read(ref _isDisposed))
            throw new NotSupportedException("Dispose the stream asynchronously.");
        base.Dispose(disposing);
    }
}
