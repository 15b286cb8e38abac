namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// Catches a holder that gives a block back twice, and one that reads or writes a block which it has given back: it is noted which holder has
/// each block on loan, and a free block is overwritten with a pattern that must still be there when it is lent again.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the notes.</remarks>
/// <param name="misused">Called with what was found. Does not return: it throws, or ends the process.</param>
internal sealed class BlockGuard(Action<string> misused)
{
    private const byte Poison = 0xDB;

    private readonly Lock _gate = new();

    // The holder of each known block; null while the block is free.
    private readonly Dictionary<byte[], object?> _holders = [];

    /// <summary>A block goes out.</summary>
    public void Lend(byte[] block, object holder)
    {
        lock (_gate)
        {
            if (_holders.ContainsKey(block) && block.AsSpan().ContainsAnyExcept(Poison))
                misused("A block was written after it had been given back.");
            _holders[block] = holder;
        }
    }

    /// <summary>A block comes back; it must still be on loan to this holder.</summary>
    public void TakeBack(byte[] block, object holder)
    {
        lock (_gate)
        {
            Check(block, holder);
            _holders[block] = null;
        }

        block.AsSpan().Fill(Poison);
    }

    /// <summary>The memory of a block goes back to the system, or the block to the collector.</summary>
    public void Forget(byte[] block)
    {
        lock (_gate)
            _holders.Remove(block);
    }

    /// <summary>A holder has just read from a block, which must still be on loan to it.</summary>
    public void Verify(byte[] block, object holder)
    {
        lock (_gate)
            Check(block, holder);
    }

    private void Check(byte[] block, object holder)
    {
        if (_holders.GetValueOrDefault(block) != holder)
            misused("A block was used, or given back, after it had been given back.");
    }
}
