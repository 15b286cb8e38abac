using System.Diagnostics;

namespace Sluice.Usenet.Streams;

/// <summary>
/// In Debug builds, catches whoever gives a block back twice, and whoever reads or writes one that he has given back: each loan
/// has a number of its own, and a free block is overwritten with a pattern that must still be there when it is lent again.
/// </summary>
/// <remarks>Thread-safe. Does nothing in other builds.</remarks>
internal sealed class BlockGuard
{
    private const byte Poison = 0xDB;

    private readonly Lock _gate = new();

    // The number of the loan that each known block is on; negative while it is free.
    private readonly Dictionary<byte[], int> _loans = [];
    private int _last;

    /// <summary>A block goes out.</summary>
    /// <returns>The number of the loan; 0 outside of Debug builds.</returns>
    public int Lend(byte[] bytes)
    {
        var loan = 0;
        LendInDebug(bytes, ref loan);
        return loan;
    }

    /// <summary>A block comes back.</summary>
    /// <exception cref="InvalidOperationException">It is not, or not any more, on this loan.</exception>
    [Conditional("DEBUG")]
    public void TakeBack(Block block)
    {
        lock (_gate)
        {
            Check(block);
            _loans[block.Bytes!] = -block.Loan;
        }

        block.Bytes.AsSpan().Fill(Poison);
    }

    /// <summary>A block goes to the collector.</summary>
    [Conditional("DEBUG")]
    public void Forget(byte[] bytes)
    {
        lock (_gate)
            _loans.Remove(bytes);
    }

    /// <summary>Whether whoever has just read from a block had it on loan all the time.</summary>
    /// <exception cref="InvalidOperationException">He had not.</exception>
    [Conditional("DEBUG")]
    public void Verify(Block block)
    {
        lock (_gate)
            Check(block);
    }

    [Conditional("DEBUG")]
    private void LendInDebug(byte[] bytes, ref int loan)
    {
        lock (_gate)
        {
            if (_loans.ContainsKey(bytes) && bytes.AsSpan().ContainsAnyExcept(Poison))
                throw new InvalidOperationException("A block was written after it had been given back.");
            _loans[bytes] = loan = ++_last;
        }
    }

    private void Check(Block block)
    {
        if (!_loans.TryGetValue(block.Bytes!, out var loan) || loan != block.Loan)
            throw new InvalidOperationException("A block was used, or given back, after it had been given back.");
    }
}
