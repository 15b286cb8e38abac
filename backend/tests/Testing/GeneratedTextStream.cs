using System.Text;

namespace Sluice.Testing;

/// <summary>A text of any length that is never held in memory: it is made while it is read.</summary>
/// <remarks>Forward only.</remarks>
public sealed class GeneratedTextStream(IEnumerable<string> pieces) : Stream
{
    private readonly IEnumerator<string> _pieces = pieces.GetEnumerator();
    private byte[] _piece = [];
    private int _taken;
    private long _read;

    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => false;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <summary>Bytes read so far.</summary>
    public override long Position
    {
        get => _read;
        set => throw new NotSupportedException();
    }

    /// <inheritdoc/>
    public override int Read(Span<byte> buffer)
    {
        var written = 0;
        while (written < buffer.Length)
        {
            if (_taken == _piece.Length)
            {
                if (!_pieces.MoveNext())
                    break;
                _piece = Encoding.UTF8.GetBytes(_pieces.Current);
                _taken = 0;
            }

            var count = Math.Min(buffer.Length - written, _piece.Length - _taken);
            _piece.AsSpan(_taken, count).CopyTo(buffer[written..]);
            _taken += count;
            written += count;
        }

        _read += written;
        return written;
    }

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return new ValueTask<int>(Read(buffer.Span));
    }

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public override void Flush() => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _pieces.Dispose();
        base.Dispose(disposing);
    }
}
