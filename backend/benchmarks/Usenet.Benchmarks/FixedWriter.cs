using System.Buffers;

namespace Sluice.Usenet.Benchmarks;

/// <summary>Hands out one array in blocks of 64 KiB, as the engine's segments do.</summary>
internal sealed class FixedWriter(int capacity) : IBufferWriter<byte>
{
    private const int Block = 64 * 1024;

    private readonly byte[] _memory = new byte[capacity];
    private int _written;

    public void Clear() => _written = 0;

    /// <summary>All of it, to be written over.</summary>
    public Span<byte> All => _memory;

    public void Advance(int count) => _written += count;

    public Memory<byte> GetMemory(int sizeHint = 0) => _memory.AsMemory(_written, Block - (_written % Block));

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;
}
