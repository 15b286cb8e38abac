using Sluice.Usenet.Primitives;

namespace Sluice.Server.Tests.Database;

/// <summary>A stream of this many zero bytes, which are not held in memory. It may throw at its end.</summary>
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
