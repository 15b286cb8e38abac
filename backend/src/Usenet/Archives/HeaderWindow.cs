namespace Sluice.Usenet.Archives;

/// <summary>What reading the headers of one archive, all volumes together, may cost at most (IMP-56).</summary>
/// <remarks>Not thread-safe: one archive is read by one reader at a time.</remarks>
/// <param name="maxBytes">Bytes of headers.</param>
/// <param name="maxSteps">Headers and other things that are looked at.</param>
public sealed class ArchiveBudget(long maxBytes = ArchiveBudget.DefaultBytes, int maxSteps = ArchiveBudget.DefaultSteps)
{
    /// <summary>1 MiB.</summary>
    public const long DefaultBytes = 1 << 20;

    /// <summary>Ten thousand.</summary>
    public const int DefaultSteps = 10_000;

    /// <summary>Bytes of headers that were read.</summary>
    public long Bytes { get; private set; }

    /// <summary>Steps that were taken.</summary>
    public int Steps { get; private set; }

    /// <summary>Pays for bytes before they are read.</summary>
    /// <exception cref="ArchiveException">They are too many.</exception>
    public void TakeBytes(long count)
    {
        if (count < 0 || count > maxBytes - Bytes)
            throw new ArchiveException(ArchiveFault.Unsupported, "its headers are too long");
        Bytes += count;
    }

    /// <summary>Pays for a step before it is taken.</summary>
    /// <exception cref="ArchiveException">They are too many.</exception>
    public void TakeStep()
    {
        if (++Steps > maxSteps)
            throw new ArchiveException(ArchiveFault.Unsupported, "it has too many headers");
    }
}

/// <summary>The headers of one input, read within a budget: no length that an input claims reaches past its end.</summary>
/// <remarks>Not thread-safe, because its budget is not.</remarks>
/// <param name="input">Where they are read; not owned.</param>
/// <param name="budget">What they may cost; shared by all volumes of an archive.</param>
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
