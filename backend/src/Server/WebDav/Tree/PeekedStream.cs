using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A body whose first byte is at hand, because only a read tells an empty one. Does not own what is below.</summary>
internal sealed class PeekedStream : ForwardStream
{
    private readonly Stream _body;
    private readonly byte _first;
    private bool _isTaken;

    private PeekedStream(Stream body, byte first)
    {
        _body = body;
        _first = first;
    }

    /// <summary>Waits for the first byte. Null when there is none.</summary>
    public static async Task<PeekedStream?> OpenAsync(Stream body, CancellationToken ct)
    {
        byte[] first = new byte[1];
        return await body.ReadAsync(first, ct) == 0 ? null : new PeekedStream(body, first[0]);
    }

    /// <inheritdoc />
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_isTaken || buffer.IsEmpty)
            return _body.ReadAsync(buffer, cancellationToken);
        _isTaken = true;
        buffer.Span[0] = _first;
        return ValueTask.FromResult(1);
    }
}
