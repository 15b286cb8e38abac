namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// Detects a holder that returns a block twice, or uses a block after returning it. Records the holder of each block, and fills free blocks with a pattern that
/// must be intact when they are lent again.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the records.</remarks>
/// <param name="misused">Called with a description. Must not return: it throws, or ends the process.</param>
internal sealed class BlockGuard(Action<string> misused)
{
    private const byte Poison = 0xDB;

    private readonly Lock _gate = new();

    // The holder of each known block; null while the block is free.
    private readonly Dictionary<byte[], object?> _holders = [];

    public void Lend(byte[] block, object holder)
    {
        lock (_gate)
        {
            if (_holders.ContainsKey(block) && block.AsSpan().ContainsAnyExcept(Poison))
                misused("A block was written after it had been given back.");
            _holders[block] = holder;
        }
    }

    /// <summary>Takes back a block, which must still be on loan to this holder.</summary>
    public void TakeBack(byte[] block, object holder)
    {
        lock (_gate)
        {
            Check(block, holder);
            _holders[block] = null;
        }

        block.AsSpan().Fill(Poison);
    }

    /// <summary>Stops tracking a block, before its memory is released to the system or the garbage collector.</summary>
    public void Forget(byte[] block)
    {
        lock (_gate)
            _holders.Remove(block);
    }

    /// <summary>Checks that a block which a holder has just read is still on loan to it.</summary>
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
