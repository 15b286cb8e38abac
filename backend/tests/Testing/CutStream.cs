using Sluice.Usenet.Primitives;

namespace Sluice.Testing;

/// <summary>Returns bytes in portions as a socket might: a first portion of a given size, then portions of another size.</summary>
/// <remarks>Forward only and asynchronous only; a synchronous read fails the test.</remarks>
public sealed class CutStream(ReadOnlyMemory<byte> bytes, int first, int rest = int.MaxValue) : ForwardStream
{
    private ReadOnlyMemory<byte> _bytes = bytes;
    private int _portion = first;

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        await Task.CompletedTask;
        cancellationToken.ThrowIfCancellationRequested();
        var portion = _portion > 0 ? _portion : rest;
        var count = Math.Min(Math.Min(buffer.Length, portion), _bytes.Length);
        _portion = rest;
        _bytes[..count].CopyTo(buffer);
        _bytes = _bytes[count..];
        return count;
    }
}
