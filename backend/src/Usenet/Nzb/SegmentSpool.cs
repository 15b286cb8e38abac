using System.Buffers.Binary;

namespace Sluice.Usenet.Nzb;

/// <summary>The segments of one file while its NZB is read. A scratch file holds all but a few megabytes, because one file may be the whole NZB.</summary>
/// <remarks>
/// A segment is stored as its number (4 bytes, 0 if none), its size in the NZB (4) and its <see cref="PackedIds"/>. Segments fill blocks in order; a position
/// is a block and an offset. Reused for one file after another. Not thread-safe.
/// </remarks>
/// <param name="scratch">Creates the seekable scratch file, owned by the spool; null keeps everything in memory.</param>
internal sealed class SegmentSpool(Func<Stream>? scratch) : IDisposable
{
    // 64 KiB, so that a block stays off the large object heap.
    private const int BlockBits = 16;
    private const int BlockLength = 1 << BlockBits;

    // 4 MiB, enough for a film of 50 GB.
    private const int MaxBlocksInMemory = 64;

    private const int HeadLength = 8;
    private const int MaxRecordLength = HeadLength + PackedIds.MaxLength;
    private const int NoBlock = -1;

    // Number of bytes used in each block. The first blocks are in memory, the others in the scratch file.
    private readonly List<int> _used = [];
    private readonly List<byte[]> _blocks = [];
    private Stream? _file;

    // The buffered bytes of one scratch block at their offset: all bytes written so far, or a part read back.
    private byte[] _window = [];
    private int _windowBlock = NoBlock;
    private int _windowStart;
    private int _windowEnd;

    public int Count { get; private set; }

    /// <summary>The position after the last segment.</summary>
    public long End => (long)_used.Count << BlockBits;

    /// <summary>The number added last; 0 before the first segment.</summary>
    public int LastNumber { get; private set; }

    /// <summary>Whether numbers are strictly ascending.</summary>
    public bool IsSorted { get; private set; } = true;

    public void Clear()
    {
        _used.Clear();
        _windowBlock = NoBlock;
        (Count, LastNumber, IsSorted) = (0, 0, true);
    }

    /// <summary>Adds a segment. Reading requires <see cref="Complete"/>.</summary>
    public void Add(int number, int bytes, ReadOnlySpan<byte> packedIds)
    {
        var length = HeadLength + packedIds.Length;
        if (_used.Count == 0 || _used[^1] + length > BlockLength)
            BeginBlock();

        var block = _used.Count - 1;
        var record = (IsInMemory(block) ? _blocks[block] : _window).AsSpan(_used[block], length);
        BinaryPrimitives.WriteInt32LittleEndian(record, number);
        BinaryPrimitives.WriteInt32LittleEndian(record[4..], bytes);
        packedIds.CopyTo(record[HeadLength..]);
        _used[block] += length;
        Count++;
        IsSorted &= number > LastNumber;
        LastNumber = number;
    }

    /// <summary>Ends writing, so that reading may begin.</summary>
    public void Complete()
    {
        var block = _used.Count - 1;
        if (block < 0 || IsInMemory(block))
            return;
        _file ??= scratch!();
        _file.Position = (long)block << BlockBits;
        _file.Write(_window, 0, _used[block]);
        (_windowBlock, _windowStart, _windowEnd) = (block, 0, _used[block]);
    }

    /// <summary>Returns the segment at a position: 0, or another segment's <see cref="SpooledSegment.Next"/>. Valid until the next call.</summary>
    public SpooledSegment Read(long place)
    {
        var (block, offset) = ((int)(place >> BlockBits), (int)(place & (BlockLength - 1)));
        var record = IsInMemory(block) ? _blocks[block].AsSpan(offset, _used[block] - offset) : ReadScratch(block, offset);
        var ids = record[HeadLength..];
        ids = ids[..(PackedIds.Measure(ids) ?? throw new IOException("The scratch file of an NZB is damaged."))];
        var next = HeadLength + ids.Length;
        return new SpooledSegment(
            BinaryPrimitives.ReadInt32LittleEndian(record),
            BinaryPrimitives.ReadInt32LittleEndian(record[4..]),
            ids,
            offset + next < _used[block] ? place + next : (block + 1L) << BlockBits);
    }

    public void Dispose() => _file?.Dispose();

    private bool IsInMemory(int block) => scratch is null || block < MaxBlocksInMemory;

    private void BeginBlock()
    {
        Complete();
        _used.Add(0);
        if (!IsInMemory(_used.Count - 1))
            _window = _window.Length > 0 ? _window : new byte[BlockLength];
        else if (_blocks.Count < _used.Count)
            _blocks.Add(new byte[BlockLength]);
    }

    // A read at the start of a block loads the whole block, because most reads are sequential; any other read loads one segment.
    private ReadOnlySpan<byte> ReadScratch(int block, int offset)
    {
        var most = _used[block];
        if (_windowBlock != block || offset < _windowStart || Math.Min(offset + MaxRecordLength, most) > _windowEnd)
        {
            var end = offset == 0 ? most : Math.Min(offset + MaxRecordLength, most);
            _windowBlock = NoBlock;
            _file!.Position = ((long)block << BlockBits) + offset;
            _file.ReadExactly(_window, 0, end - offset);
            (_windowBlock, _windowStart, _windowEnd) = (block, offset, end);
        }

        return _window.AsSpan(offset - _windowStart, _windowEnd - offset);
    }
}

/// <summary>A segment in a spool. The number is 0 if unknown; <c>next</c> is the position of the next segment.</summary>
internal readonly ref struct SpooledSegment(int number, int bytes, ReadOnlySpan<byte> packedIds, long next)
{
    public int Number { get; } = number;

    public int Bytes { get; } = bytes;

    public ReadOnlySpan<byte> PackedIds { get; } = packedIds;

    public long Next { get; } = next;
}
