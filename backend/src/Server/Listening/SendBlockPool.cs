using System.Buffers;
using System.Collections.Concurrent;
using Microsoft.AspNetCore.Connections;

namespace Sluice.Server.Listening;

/// <summary>Gives the listener blocks of 64 KiB instead of 4 KiB, so that a long body needs fewer segments and system calls.</summary>
internal sealed class SendBlockPoolFactory : IMemoryPoolFactory<byte>
{
    public MemoryPool<byte> Create(MemoryPoolOptions? options = null) => new SendBlockPool();
}

/// <summary>A pool of pinned blocks of one size, for socket buffers.</summary>
/// <remarks>Thread-safe. Keeps up to 16 MiB of free blocks and leaves the rest to the garbage collector.</remarks>
internal sealed class SendBlockPool : MemoryPool<byte>
{
    /// <summary>Block size in bytes. It may exceed the large-object threshold, because pinned arrays have their own heap.</summary>
    public const int BlockBytes = 64 << 10;

    private const int MaxFree = (16 << 20) / BlockBytes;

    private readonly ConcurrentQueue<byte[]> _free = new();
    private int _freeCount;

    public override int MaxBufferSize => BlockBytes;

    public int Free => Volatile.Read(ref _freeCount);

    public override IMemoryOwner<byte> Rent(int minBufferSize = -1)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minBufferSize, BlockBytes);
        if (!_free.TryDequeue(out var block))
            return new Block(this, GC.AllocateUninitializedArray<byte>(BlockBytes, pinned: true));

        Interlocked.Decrement(ref _freeCount);
        return new Block(this, block);
    }

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
            // Disposing twice must not return the block twice, because then it would have two owners.
            if (Interlocked.Exchange(ref _bytes, null) is { } block)
                pool.Return(block);
        }
    }
}
