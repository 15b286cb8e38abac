using System.Buffers;
using System.Runtime.CompilerServices;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// The decoded bytes of one segment: a reference-counted list of blocks. One writer appends; readers see bytes that the writer has announced elsewhere. Blocks
/// return to the pool when the last reference is released; lent blocks when their last loan ends.
/// </summary>
/// <remarks>
/// Created with one reference, owned by its creator; each reference has one holder, which releases it once. One thread at a time may append. Any
/// thread with a reference may copy out.
/// </remarks>
internal sealed class SegmentBuffer : CachePlace, IBufferWriter<byte>, ILender
{
    private readonly BlockPool _pool;
    private readonly int _count;

    // The blocks of a typical part and their loans are stored inline; a longer part needs arrays.
    private readonly ManyBlocks? _many;
    private FewBlocks _few;
    private FewLoans _fewLoans;
    private byte[]? _overflow;
    private int _written;
    private int _references = 1;

    // Written before the cache's reference can be the last one. The reference count's fence makes the write visible to the release that leaves only the cache's
    // reference.
    private SegmentCache? _cache;

    /// <summary>Creates a buffer for a segment of <paramref name="length"/> decoded bytes. Bytes written beyond its blocks are dropped.</summary>
    public SegmentBuffer(BlockPool pool, int length)
    {
        _pool = pool;
        _count = Math.Max(1, (length + BlockPool.BlockSize - 1) / BlockPool.BlockSize);
        _many = _count > FewBlocks.Most ? new ManyBlocks(_count) : null;
    }

    public int Written => Volatile.Read(ref _written);

    /// <summary>Total size of all blocks of the segment, present or not, in bytes.</summary>
    public long BlockBytes => (long)_count * BlockPool.BlockSize;

    /// <summary>Length of the posted file as the article claims it; null if read from disk. Set before another thread sees the buffer.</summary>
    public long? ClaimedLength { get; set; }

    public bool HasOneCount => Volatile.Read(ref _references) == 1;

    /// <summary>Registers the cache, which holds a reference and is notified when its reference may be the last.</summary>
    public void AttachTo(SegmentCache cache) => _cache = cache;

    public bool IsWhole => HeldEnd(0) == BlockBytes;

    /// <summary>Total size of its present blocks, in bytes.</summary>
    public int KeptBytes
    {
        get
        {
            var kept = 0;
            for (var index = 0; index < _count; index++)
                kept += HoldsBlock(index) ? BlockPool.BlockSize : 0;
            return kept;
        }
    }

    public bool HoldsBlock(int index) => Blocks[index] is not null;

    /// <summary>Returns a block's memory, to fill a buffer that may have gaps. Call it before another thread sees the buffer.</summary>
    public Memory<byte> BlockToFill(int index) => Blocks[index] ??= _pool.Rent(this);

    /// <summary>Returns the bytes of a present block; valid while the caller has a reference.</summary>
    public ReadOnlyMemory<byte> BlockMemory(int index) => BlockAt(index);

    /// <summary>Returns the end of the contiguous blocks from an offset on; the offset itself if its block is missing.</summary>
    public int HeldEnd(int offset)
    {
        var index = offset / BlockPool.BlockSize;
        while (index < _count && HoldsBlock(index))
            index++;
        return Math.Max(offset, index * BlockPool.BlockSize);
    }

    /// <summary>Adds a reference; the caller already has one.</summary>
    public void Retain()
    {
        if (Interlocked.Increment(ref _references) <= 1)
            throw new InvalidOperationException("The buffer has been given back.");
    }

    public void Release()
    {
        var left = Interlocked.Decrement(ref _references);
        if (left > 0)
        {
            if (left == 1)
                _cache?.NoteIdle(this);
            return;
        }

        if (left < 0)
            throw new InvalidOperationException("The buffer has been given back twice.");

        for (var index = 0; index < _count; index++)
        {
            if (HoldsBlock(index))
                ReleaseBlock(index);
        }

        GiveBack(ref _overflow);
    }

    public void Lend(byte[] block) => Change(ref Loans[IndexOf(block)], 1);

    public void TakeBack(byte[] block) => ReleaseBlock(IndexOf(block));

    /// <summary>Discards the written bytes before any other thread has seen them.</summary>
    public void Rewind() => _written = 0;

    /// <summary>Copies decoded bytes from an offset in the segment; all must have been written. Fills the destination completely.</summary>
    public void CopyTo(int offset, Span<byte> destination)
    {
        while (!destination.IsEmpty)
        {
            var (block, at) = Math.DivRem(offset, BlockPool.BlockSize);
            var lent = BlockAt(block);
            var source = lent.AsSpan(at);
            if (source.Length > destination.Length)
                source = source[..destination.Length];
            source.CopyTo(destination);
            _pool.Verify(lent, this);
            destination = destination[source.Length..];
            offset += source.Length;
        }
    }

    /// <summary>Lends decoded bytes from an offset in the segment; all must have been written.</summary>
    public void LendTo(BlockLoan loan, int offset, int count)
    {
        while (count > 0)
        {
            var (block, at) = Math.DivRem(offset, BlockPool.BlockSize);
            var lent = BlockAt(block);
            var some = Math.Min(BlockPool.BlockSize - at, count);
            _pool.Verify(lent, this);
            loan.Add(this, new ArraySegment<byte>(lent, at, some));
            (offset, count) = (offset + some, count - some);
        }
    }

    /// <summary>Returns the CRC-32 of the bytes between two offsets; all must have been written.</summary>
    public uint ChecksumOf(int from, int to)
    {
        var crc = 0u;
        while (from < to)
        {
            var (block, at) = Math.DivRem(from, BlockPool.BlockSize);
            var count = Math.Min(BlockPool.BlockSize - at, to - from);
            crc = Crc32Kernel.Append(crc, BlockAt(block).AsSpan(at, count));
            from += count;
        }

        return crc;
    }

    public void Advance(int count) => Volatile.Write(ref _written, Math.Min(_written + count, Capacity));

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        if (_written >= Capacity)
            return _overflow ??= _pool.Rent(this);
        var (block, at) = Math.DivRem(_written, BlockPool.BlockSize);
        return (Blocks[block] ??= _pool.Rent(this)).AsMemory(at);
    }

    private int Capacity => _count * BlockPool.BlockSize;

    // Loan count of each block, minus one after the last reference is released. The call that reaches −1 returns the block.
    private Span<short> Loans => _many is { } many ? many.Loans : ((Span<short>)_fewLoans)[.._count];

    private Span<byte[]?> Blocks => _many is { } many ? many.Blocks : ((Span<byte[]?>)_few)[.._count];

    private byte[] BlockAt(int index) =>
        Blocks[index] ?? throw new InvalidOperationException("The block has not been written, or has been given back.");

    private int IndexOf(byte[] block)
    {
        for (var index = 0; index < _count; index++)
        {
            if (ReferenceEquals(Blocks[index], block))
                return index;
        }

        throw new InvalidOperationException("The block is of another buffer, or has been given back.");
    }

    private void ReleaseBlock(int index)
    {
        if (Change(ref Loans[index], -1) < 0)
            GiveBack(ref Blocks[index]);
    }

    // short saves memory in many small buffers, and suffices because few clients are sent the same block at once.
    private static short Change(ref short count, int by)
    {
        var seen = Volatile.Read(ref count);
        while (true)
        {
            var changed = checked((short)(seen + by));
            var before = Interlocked.CompareExchange(ref count, changed, seen);
            if (before == seen)
                return changed;
            seen = before;
        }
    }

    private void GiveBack(ref byte[]? block)
    {
        if (block is not null)
            _pool.Return(block, this);
        block = null;
    }

    // Twelve blocks, 768 KiB.
    [InlineArray(Most)]
    private struct FewBlocks
    {
        public const int Most = 12;

        private byte[]? _first;
    }

    private sealed class ManyBlocks(int count)
    {
        public byte[]?[] Blocks { get; } = new byte[count][];

        public short[] Loans { get; } = new short[count];
    }

    [InlineArray(FewBlocks.Most)]
    private struct FewLoans
    {
        private short _first;
    }
}
