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
    private readonly Func<bool> _giveWay;
    private readonly int _budget;
    private int _rented;

    /// <summary>Creates a pool.</summary>
    /// <param name="budgetBytes">Bytes of blocks that may be lent; free ones beyond it go to the collector.</param>
    /// <param name="giveWay">
    /// Called when more than that is lent: gives blocks back that nobody needs, and says whether there were any. Must not block.
    /// </param>
    public BlockPool(long budgetBytes, Func<bool>? giveWay = null)
    {
        _budget = (int)Math.Clamp(budgetBytes / BlockSize, 1, int.MaxValue);
        _giveWay = giveWay ?? (static () => false);
    }

    /// <summary>Blocks that are lent now.</summary>
    public int Rented => Volatile.Read(ref _rented);

    /// <summary>Lends a block of <see cref="BlockSize"/> bytes with arbitrary content.</summary>
    public byte[] Rent()
    {
        Interlocked.Increment(ref _rented);
        while (Rented > _budget && _giveWay())
        {
        }

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
            if (_free.Count < _budget)
                _free.Push(block);
        }
    }

    [Conditional("DEBUG")]
    private static void PoisonInDebug(byte[] block) => block.AsSpan().Fill(Poison);
}
