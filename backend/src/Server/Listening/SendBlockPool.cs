using System.Buffers;
using System.Collections.Concurrent;
using Microsoft.AspNetCore.Connections;

namespace Sluice.Server.Listening;

/// <summary>
/// Gives the listener blocks of 64 KiB in place of 4 KiB: a long body then costs a sixteenth of the segments, and each call
/// of the system sends more of it.
/// </summary>
internal sealed class SendBlockPoolFactory : IMemoryPoolFactory<byte>
{
    /// <inheritdoc/>
    public MemoryPool<byte> Create(MemoryPoolOptions? options = null) => new SendBlockPool();
}

/// <summary>Pinned blocks of one size for the buffers of sockets.</summary>
/// <remarks>Thread-safe. Keeps up to 16 MiB of free blocks; blocks returned beyond that go to the collector.</remarks>
internal sealed class SendBlockPool : MemoryPool<byte>
{
    /// <summary>Bytes of a block; below the large-object threshold is of no matter here, because pinned arrays have a heap of their own.</summary>
    public const int BlockBytes = 64 << 10;

    private const int MaxFree = (16 << 20) / BlockBytes;

    private readonly ConcurrentQueue<byte[]> _free = new();
    private int _freeCount;

    /// <inheritdoc/>
    public override int MaxBufferSize => BlockBytes;

    /// <summary>Free blocks that are kept.</summary>
    public int Free => Volatile.Read(ref _freeCount);

    /// <inheritdoc/>
    public override IMemoryOwner<byte> Rent(int minBufferSize = -1)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minBufferSize, BlockBytes);
        if (!_free.TryDequeue(out var block))
            return new Block(this, GC.AllocateUninitializedArray<byte>(BlockBytes, pinned: true));

        Interlocked.Decrement(ref _freeCount);
        return new Block(this, block);
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        while (_free.TryDequeue(out _))
            Interlocked.Decrement(ref _freeCount);
    }

    private void Return(byte[] block)
    {
        if (Interlocked.Increment(ref _freeCount) <= MaxFree)
            _free.Enqueue(block);
        else
            Interlocked.Decrement(ref _freeCount);
    }

    private sealed class Block(SendBlockPool pool, byte[] bytes) : IMemoryOwner<byte>
    {
        private byte[]? _bytes = bytes;

        public Memory<byte> Memory => _bytes ?? throw new ObjectDisposedException(nameof(Block));

        public void Dispose()
        {
            // A second dispose must not give the block to two owners.
            if (Interlocked.Exchange(ref _bytes, null) is { } block)
                pool.Return(block);
        }
    }
}
