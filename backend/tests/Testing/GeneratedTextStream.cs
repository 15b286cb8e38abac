using System.Text;
using Sluice.Usenet.Primitives;

namespace Sluice.Testing;

/// <summary>A text of any length, generated while it is read, so it is never in memory as a whole.</summary>
public sealed class GeneratedTextStream(IEnumerable<string> pieces) : ForwardStream
{
    private readonly IEnumerator<string> _pieces = pieces.GetEnumerator();
    private byte[] _piece = [];
    private int _taken;

    public long BytesRead { get; private set; }

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
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
            _piece.AsMemory(_taken, count).CopyTo(buffer[written..]);
            _taken += count;
            written += count;
        }

        BytesRead += written;
        return new ValueTask<int>(written);
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
            _pieces.Dispose();
        base.Dispose(disposing);
    }
}
