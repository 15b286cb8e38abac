using System.Buffers;
using System.Buffers.Binary;
using System.IO.Compression;

namespace Sluice.Usenet.Nzb;

/// <summary>
/// Writes the message-ids of many files to one compact list: Brotli frames of up to 1,024 segments, then a table with each frame's length and check value, then
/// a fixed-size trailer.
/// </summary>
/// <remarks>
/// Trailer, little-endian, 24 bytes: check value of the table (8), number of segments (4), number of frames (4), <c>SluiIds1</c> (8). Table row:
/// packed length (4), plain length (4), check value (8). Memory holds one frame and the table. Not thread-safe; the list is invalid until
/// <see cref="CompleteAsync"/> has returned.
/// </remarks>
public sealed class MessageIdListWriter
{
    internal const int RowLength = 16;
    internal const int TrailerLength = 24;

    private readonly Stream _output;
    private readonly ArrayBufferWriter<byte> _plain = new(80 << 10);
    private readonly ArrayBufferWriter<byte> _table = new();
    private int _framed;
    private bool _completed;

    /// <summary>Begins a list at the current position of <paramref name="output"/>, which stays open.</summary>
    public MessageIdListWriter(Stream output)
    {
        ArgumentNullException.ThrowIfNull(output);
        _output = output;
    }

    internal static ReadOnlySpan<byte> Magic => "SluiIds1"u8;

    /// <summary>Number of segments written so far, which is the index of the next file's first segment.</summary>
    public int Count { get; private set; }

    /// <summary>Appends the segments of a file, including holes, and returns the index of its first segment.</summary>
    /// <exception cref="InvalidOperationException">The list is complete.</exception>
    /// <exception cref="IOException">The output failed.</exception>
    public async ValueTask<int> AddAsync(NzbFile file, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(file);
        var first = Count;
        foreach (var segment in file.Segments)
            await AddAsync(segment.Ids, cancellationToken);
        return first;
    }

    /// <summary>Appends one segment; drops fallbacks beyond the third.</summary>
    /// <exception cref="InvalidOperationException">The list is complete.</exception>
    /// <exception cref="IOException">The output failed.</exception>
    public async ValueTask AddAsync(SegmentIds ids, CancellationToken cancellationToken)
    {
        if (_completed)
            throw new InvalidOperationException("The list is complete.");

        PackedIds.Write(_plain, ids);
        Count++;
        if (++_framed == MessageIdFrame.Capacity)
            await FlushFrameAsync(cancellationToken);
    }

    /// <summary>Writes the last frame, the table and the trailer. Flushes the output, but does not sync or close it.</summary>
    /// <exception cref="IOException">The output failed.</exception>
    public async ValueTask CompleteAsync(CancellationToken cancellationToken)
    {
        if (_completed)
            return;
        if (_framed > 0)
            await FlushFrameAsync(cancellationToken);
        _completed = true;

        var trailer = new byte[TrailerLength];
        BinaryPrimitives.WriteUInt64LittleEndian(trailer, MessageIdFrame.Check(_table.WrittenSpan));
        BinaryPrimitives.WriteInt32LittleEndian(trailer.AsSpan(8), Count);
        BinaryPrimitives.WriteInt32LittleEndian(trailer.AsSpan(12), _table.WrittenCount / RowLength);
        Magic.CopyTo(trailer.AsSpan(16));
        await _output.WriteAsync(_table.WrittenMemory, cancellationToken);
        await _output.WriteAsync(trailer, cancellationToken);
        await _output.FlushAsync(cancellationToken);
    }

    private async ValueTask FlushFrameAsync(CancellationToken cancellationToken)
    {
        var packed = ArrayPool<byte>.Shared.Rent(BrotliEncoder.GetMaxCompressedLength(_plain.WrittenCount));
        try
        {
            // Quality 1 is the fastest and suffices, because ids are random and higher levels save no more.
            if (!BrotliEncoder.TryCompress(_plain.WrittenSpan, packed, out var length, quality: 1, window: 22))
                throw new InvalidOperationException("Brotli needs more than its own bound.");

            var row = _table.GetSpan(RowLength);
            BinaryPrimitives.WriteInt32LittleEndian(row, length);
            BinaryPrimitives.WriteInt32LittleEndian(row[4..], _plain.WrittenCount);
            BinaryPrimitives.WriteUInt64LittleEndian(row[8..], MessageIdFrame.Check(packed.AsSpan(0, length)));
            _table.Advance(RowLength);
            await _output.WriteAsync(packed.AsMemory(0, length), cancellationToken);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(packed);
        }

        _plain.ResetWrittenCount();
        _framed = 0;
    }
}
