using System.Buffers;

namespace Sluice.Testing;

/// <summary>A buffer writer that allocates all its memory at the start, in blocks of one size, and nothing while it is written.</summary>
/// <param name="capacity">Most bytes that fit.</param>
/// <param name="blockSize">No span crosses a multiple of this, so spans may be as short as one byte.</param>
public sealed class ReusedBuffer(int capacity, int blockSize = 64 * 1024) : IBufferWriter<byte>
{
    private readonly byte[] _bytes = new byte[capacity];

    /// <summary>The bytes written since the last <see cref="Clear"/>.</summary>
    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    public int Length { get; private set; }

    /// <summary>Number of requests for memory.</summary>
    public int Requests { get; private set; }

    /// <summary>The largest size hint so far.</summary>
    public int LargestHint { get; private set; }

    /// <summary>Runs before memory is handed out.</summary>
    public Action? OnRequest { get; set; }

    /// <summary>Drops the written bytes.</summary>
    public void Clear()
    {
        Length = 0;
        Requests = 0;
    }

    /// <inheritdoc/>
    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, Room);
        Length += count;
    }

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        OnRequest?.Invoke();
        Requests++;
        LargestHint = Math.Max(LargestHint, sizeHint);
        if (Length == _bytes.Length)
            throw new InvalidOperationException("More was written than the test expects.");
        return _bytes.AsMemory(Length, Room);
    }

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    private int Room => Math.Min(blockSize - (Length % blockSize), _bytes.Length - Length);
}
