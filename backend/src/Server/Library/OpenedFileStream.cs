using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>The stream of a library file together with the list of message-ids that it reads from.</summary>
internal sealed class OpenedFileStream(ReadOnlyStream inner, IDisposable ids) : ReadOnlyStream
{
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
    public override void HintSeek(long position) => inner.HintSeek(position);

    /// <inheritdoc/>
    protected override async ValueTask CloseAsync()
    {
        await inner.DisposeAsync();
        ids.Dispose();
    }
}
