namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// Catches a holder that gives a block back twice, and one that reads or writes a block which it has given back: each loan has a number of its
/// own, and a free block is overwritten with a pattern that must still be there when it is lent again.
/// </summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="misused">Called with what was found. Does not return: it throws, or ends the process.</param>
internal sealed class BlockGuard(Action<string> misused)
{
    private const byte Poison = 0xDB;

    private readonly Lock _gate = new();

    // The number of the loan that each known block is on; negative while it is free.
    private readonly Dictionary<byte[], int> _loans = [];
    private int _last;

    /// <summary>A block goes out.</summary>
    /// <returns>The number of the loan.</returns>
    public int Lend(byte[] bytes)
    {
        lock (_gate)
        {
            if (_loans.ContainsKey(bytes) && bytes.AsSpan().ContainsAnyExcept(Poison))
                misused("A block was written after it had been given back.");
            return _loans[bytes] = ++_last;
        }
    }

    /// <summary>A block comes back; it must still be on this loan.</summary>
    public void TakeBack(Block block)
    {
        lock (_gate)
        {
            Check(block);
            _loans[block.Bytes!] = -block.Loan;
        }

        block.Bytes.AsSpan().Fill(Poison);
    }

    /// <summary>The memory of a block goes back to the system, or the block to the collector.</summary>
    public void Forget(byte[] bytes)
    {
        lock (_gate)
            _loans.Remove(bytes);
    }

    /// <summary>A holder has just read from a block; it must have had the block on loan all the time.</summary>
    public void Verify(Block block)
    {
        lock (_gate)
            Check(block);
    }

    private void Check(Block block)
    {
        if (!_loans.TryGetValue(block.Bytes!, out var loan) || loan != block.Loan)
            misused("A block was used, or given back, after it had been given back.");
    }
}
