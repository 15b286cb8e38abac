using System.Diagnostics;

namespace Sluice.Usenet.Streams;

/// <summary>Lends the 64 KiB blocks that hold decoded bytes, so that steady streaming allocates none.</summary>
/// <remarks>
/// Thread-safe. Renting never waits: how much may be in use is decided by <see cref="ByteBudget"/>, before a fetch begins.
/// In Debug builds a returned block is overwritten, so that whoever still reads it delivers visible nonsense.
/// </remarks>
public sealed class BlockPool
{
    /// <summary>Bytes of a block: below the large-object threshold, and eleven hold a usual part almost without waste.</summary>
    public const int BlockSize = 64 * 1024;

    private const byte Poison = 0xDB;

    private readonly Lock _gate = new();
    private readonly Stack<byte[]> _free = new();
    private readonly int _mostFree;
    private int _rented;

    /// <summary>Creates a pool.</summary>
    /// <param name="keepBytes">Bytes of free blocks that are kept for later; what comes back beyond it goes to the collector.</param>
    public BlockPool(long keepBytes) => _mostFree = (int)Math.Clamp(keepBytes / BlockSize, 1, int.MaxValue);

    /// <summary>Blocks that are lent now.</summary>
    public int Rented => Volatile.Read(ref _rented);

    /// <summary>Lends a block of <see cref="BlockSize"/> bytes with arbitrary content.</summary>
    public byte[] Rent()
    {
        Interlocked.Increment(ref _rented);
        lock (_gate)
        {
            if (_free.TryPop(out var block))
                return block;
        }

        return GC.AllocateUninitializedArray<byte>(BlockSize);
    }

    /// <summary>Takes a block back; the caller does not touch it again.</summary>
    public void Return(byte[] block)
    {
        Debug.Assert(block.Length == BlockSize, "The block is not from this pool.");
        PoisonInDebug(block);
        Interlocked.Decrement(ref _rented);
        lock (_gate)
        {
            if (_free.Count < _mostFree)
                _free.Push(block);
        }
    }

    [Conditional("DEBUG")]
    private static void PoisonInDebug(byte[] block) => block.AsSpan().Fill(Poison);
}
