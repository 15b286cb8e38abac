namespace Sluice.Usenet.Archives;

/// <summary>The headers of one input, read within a budget: no length that an input claims reaches past its end.</summary>
/// <remarks>Thread-safe, as input and budget are.</remarks>
/// <param name="input">Where they are read; not owned.</param>
/// <param name="budget">What they may cost; the one of the release.</param>
public sealed class HeaderWindow(IArchiveInput input, ArchiveBudget budget)
{
    /// <summary>Length of the input in bytes.</summary>
    public long Length => input.Length;

    /// <summary>What reading may cost.</summary>
    public ArchiveBudget Budget => budget;

    /// <summary>Reads bytes that have to be there.</summary>
    /// <param name="offset">0-based place of the first one.</param>
    /// <param name="count">Number of bytes.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="ArchiveException">They lie outside of the input, or cost too much.</exception>
    public async ValueTask<ReadOnlyMemory<byte>> ReadAsync(long offset, int count, CancellationToken cancellationToken)
    {
        if (offset < 0 || count < 0 || offset > Length - count)
            throw new ArchiveException(ArchiveFault.Broken, "it is cut short");
        budget.TakeBytes(count);
        var bytes = new byte[count];
        await input.ReadAsync(offset, bytes, cancellationToken);
        return bytes;
    }
}
