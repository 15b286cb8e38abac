namespace Sluice.Usenet.Archives;

/// <summary>Reads headers of one input within a budget. A length claimed by a header cannot reach past the end of the input.</summary>
/// <remarks>Thread-safe if the input is.</remarks>
/// <param name="input">The input; not owned.</param>
public sealed class HeaderWindow(IArchiveInput input, ArchiveBudget budget)
{
    public long Length => input.Length;

    public ArchiveBudget Budget => budget;

    /// <summary>Reads exactly <paramref name="count"/> bytes at the 0-based <paramref name="offset"/>.</summary>
    /// <exception cref="ArchiveException">The range exceeds the input or the budget.</exception>
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
