using Sluice.Usenet.Primitives;

namespace Sluice.Server.Tests.Database;

/// <summary>So many zero bytes, without holding them; may break instead of ending.</summary>
internal sealed class ZeroStream(long length) : ForwardStream
{
    private long _left = length;

    public bool BreaksAtEnd { get; init; }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var take = (int)Math.Min(buffer.Length, _left);
        if (take == 0 && BreaksAtEnd)
            throw new EndOfStreamException();

        buffer[..take].Span.Clear();
        _left -= take;
        return new ValueTask<int>(take);
    }
}
