using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>The stream of a library file together with the list of message-ids that it reads from.</summary>
internal sealed class OpenedFileStream(ReadOnlyStream inner, IAsyncDisposable ids) : ReadOnlyStream
{
    private bool _isDisposed;

    /// <inheritdoc/>
    public override long Length => inner.Length;

    /// <inheritdoc/>
    public override long Position
    {
        get => inner.Position;
        set => inner.Position = value;
    }

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        inner.ReadAsync(buffer, cancellationToken);

    /// <inheritdoc/>
    public override async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, true))
            return;
        await inner.DisposeAsync();
        await ids.DisposeAsync();
        await base.DisposeAsync();
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        // Fetches that are under way have to be awaited before their list may go.
        if (disposing && !Volatile.Read(ref _isDisposed))
            throw new NotSupportedException("Dispose the stream asynchronously.");
        base.Dispose(disposing);
    }
}
