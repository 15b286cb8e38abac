using System.IO.Pipelines;

namespace Sluice.Usenet.Primitives;

/// <summary>
/// Bytes of one owner, lent in place so that sending needs no copy. Lent blocks are neither reused nor returned to the system, even if their stream
/// closes. Used by one thread at a time, which returns a loan before it is reused.
/// </summary>
public sealed class BlockLoan
{
    private readonly List<ArraySegment<byte>> _blocks = [];
    private ILender? _owner;

    /// <summary>The bytes in order. Read-only, because other readers may share the blocks.</summary>
    public IReadOnlyList<ArraySegment<byte>> Blocks => _blocks;

    /// <summary>Whether bytes of this owner can be added.</summary>
    public bool Takes(ILender owner) => _owner is null || ReferenceEquals(_owner, owner);

    /// <summary>Adds bytes of one block of an owner that it <see cref="Takes"/>. The caller keeps the owner from releasing the block.</summary>
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

/// <summary>Memory lent block by block, so that a client stalled for hours keeps only the blocks being sent to it. Thread-safe.</summary>
public interface ILender
{
    /// <summary>Adds a loan of one block, which stays unchanged even if all others are released.</summary>
    void Lend(byte[] block);

    /// <summary>Ends a loan of the block.</summary>
    void TakeBack(byte[] block);
}

/// <summary>A stream that can lend its bytes in place instead of copying them.</summary>
public interface ILendingStream
{
    /// <summary>Lends available bytes and waits only if there are none.</summary>
    /// <remarks>Advances, throws and ends exactly like a read at the same position. After an exception the caller returns the loan.</remarks>
    /// <param name="loan">Empty; receives the bytes in order.</param>
    /// <param name="most">Maximum bytes to take, above 0.</param>
    /// <param name="cancellationToken">Ends the wait; the stream can still be read.</param>
    /// <returns>Bytes taken; 0 only at the end.</returns>
    ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken);
}

/// <summary>A connection that sends lent bytes in place. Used by the current response of the connection, in the order of its bytes.</summary>
public interface IBlockOutput
{
    /// <summary>Receives the next bytes to send. It is empty after each flush; the connection owns it until then.</summary>
    BlockLoan Loan { get; }

    /// <summary>Writes the loan through the writer of a response, which counts the bytes without copying them.</summary>
    void WriteLoan(PipeWriter response);

    /// <summary>Hints whether much of a partly sent response is left.</summary>
    /// <remarks>Unsent bytes in the system are wasted if the client leaves, but keeping them few costs a long response many calls.</remarks>
    void ExpectMuch(bool isLong);
}
