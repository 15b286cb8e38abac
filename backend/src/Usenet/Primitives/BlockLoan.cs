using System.IO.Pipelines;

namespace Sluice.Usenet.Primitives;

/// <summary>
/// Bytes that one owner lends in place, so that sending them needs no copy. Lent blocks are neither reused nor freed, even if their stream closes. Used by one
/// thread at a time, which returns the blocks before it reuses the loan.
/// </summary>
public sealed class BlockLoan
{
    private readonly List<ArraySegment<byte>> _blocks = [];
    private ILender? _owner;

    /// <summary>The bytes in order. Read-only, because other readers may share the blocks.</summary>
    public IReadOnlyList<ArraySegment<byte>> Blocks => _blocks;

    /// <summary>Whether the loan accepts bytes from this owner, because it is empty or holds only bytes from the same owner.</summary>
    public bool Takes(ILender owner) => _owner is null || ReferenceEquals(_owner, owner);

    /// <summary>Adds bytes from one block of an owner that it <see cref="Takes"/>. The caller keeps the owner from releasing that block.</summary>
    public void Add(ILender owner, ArraySegment<byte> bytes)
    {
        owner.Lend(bytes.Array!);
        _owner = owner;
        _blocks.Add(bytes);
    }

    /// <summary>Returns the blocks, which must not be read afterwards. Does nothing for an empty loan.</summary>
    public void Return()
    {
        foreach (var bytes in _blocks)
            _owner!.TakeBack(bytes.Array!);
        _blocks.Clear();
        _owner = null;
    }
}

/// <summary>Lends memory block by block, so that a client stalled for hours ties up only the blocks being sent to it. Thread-safe.</summary>
public interface ILender
{
    /// <summary>Lends one block, which stays unchanged even if all others are released.</summary>
    void Lend(byte[] block);

    /// <summary>Takes back a block lent by <see cref="Lend"/>.</summary>
    void TakeBack(byte[] block);
}

/// <summary>A stream that can lend its bytes in place instead of copying them.</summary>
public interface ILendingStream
{
    /// <summary>Lends available bytes and waits only if there are none.</summary>
    /// <remarks>Advances, throws and ends exactly like a read at the same position. After an exception the caller returns the loan.</remarks>
    /// <param name="loan">Empty; receives the bytes in order.</param>
    /// <param name="most">Maximum number of bytes to lend; above 0.</param>
    /// <param name="cancellationToken">Ends the wait; the stream can still be read.</param>
    /// <returns>Number of bytes lent; 0 only at the end.</returns>
    ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken);
}

/// <summary>A connection that sends lent bytes in place. Only the connection's current response may use it, in byte order.</summary>
public interface IBlockOutput
{
    /// <summary>The loan for the next bytes to send. The connection owns the loan until the next flush, which leaves it empty.</summary>
    BlockLoan Loan { get; }

    /// <summary>Writes the loan through a response's writer, which counts the bytes without copying them.</summary>
    void WriteLoan(PipeWriter response);

    /// <summary>Hints whether a partly sent response still has much left to send.</summary>
    /// <remarks>Unsent bytes in the kernel are wasted if the client disconnects, but a low limit on them costs a long response many system calls.</remarks>
    void ExpectMuch(bool isLong);
}
