using System.IO.Pipelines;

namespace Sluice.Usenet.Primitives;

/// <summary>
/// Bytes of one owner, lent as they lie in its blocks: what is sent from there is not copied before. While they are lent the blocks are
/// neither reused nor given back to the system, whatever becomes of the stream that they are from.
/// </summary>
/// <remarks>For one thread at a time, which returns a loan before it is used for the next one.</remarks>
public sealed class BlockLoan
{
    private readonly List<ArraySegment<byte>> _blocks = [];
    private ILender? _owner;

    /// <summary>The bytes, in their order. Read-only: other readers may have the same ones.</summary>
    public IReadOnlyList<ArraySegment<byte>> Blocks => _blocks;

    /// <summary>Whether bytes of an owner can be added.</summary>
    public bool Takes(ILender owner) => _owner is null || ReferenceEquals(_owner, owner);

    /// <summary>Adds bytes that lie in one block of an owner whose bytes it <see cref="Takes"/>; the caller keeps that owner from giving it back.</summary>
    public void Add(ILender owner, ArraySegment<byte> bytes)
    {
        owner.Lend(bytes.Array!);
        _owner = owner;
        _blocks.Add(bytes);
    }

    /// <summary>Gives the blocks back; nothing reads from them any more. Does nothing for an empty loan.</summary>
    public void Return()
    {
        foreach (var bytes in _blocks)
            _owner!.TakeBack(bytes.Array!);
        _blocks.Clear();
        _owner = null;
    }
}

/// <summary>Memory whose blocks are lent one by one: a client that takes nothing for hours keeps the blocks that it is sent, and no others.</summary>
/// <remarks>Thread-safe.</remarks>
public interface ILender
{
    /// <summary>One of its blocks is lent once more, and stays as it is whatever becomes of the others.</summary>
    void Lend(byte[] block);

    /// <summary>A loan of the block has ended.</summary>
    void TakeBack(byte[] block);
}

/// <summary>A stream whose bytes can be taken where they lie, instead of being copied into memory of the reader.</summary>
public interface ILendingStream
{
    /// <summary>
    /// Takes the bytes that are there, as a read does, and lends them. Waits only if there are none; goes on behind them, and throws and ends
    /// as a read at the same place would. After an exception the caller returns the loan.
    /// </summary>
    /// <param name="loan">Empty; holds the bytes after this, in their order.</param>
    /// <param name="most">Most bytes to take, above 0.</param>
    /// <param name="cancellationToken">Gives the wait up; the stream can be read on.</param>
    /// <returns>Bytes taken; 0 at the end only.</returns>
    ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken);
}

/// <summary>A connection that sends lent bytes where they lie.</summary>
/// <remarks>Used by the answer that the connection is at, in the order of its bytes.</remarks>
public interface IBlockOutput
{
    /// <summary>For the bytes that are sent next. It is empty after each flush, and belongs to the connection until then.</summary>
    BlockLoan Loan { get; }

    /// <summary>Writes the bytes of the loan through the writer of a response, which counts them and lets them pass uncopied.</summary>
    void WriteLoan(PipeWriter response);

    /// <summary>
    /// Says whether much is left of an answer whose beginning was taken. What lies in the system unsent when the client leaves has been
    /// fetched for nothing, and to keep that small costs a long answer many calls.
    /// </summary>
    void ExpectMuch(bool isLong);
}
