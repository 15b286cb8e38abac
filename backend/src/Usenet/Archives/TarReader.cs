namespace Sluice.Usenet.Archives;

/// <summary>Reads what is in a tar, and where: v7, ustar, pax and GNU. Its headers lie in front of each file (IMP-59).</summary>
public static class TarReader
{
    /// <summary>Walks over the headers of an archive.</summary>
    /// <param name="input">The archive; not owned.</param>
    /// <param name="budget">
    /// What reading may cost. Each header is one read of 512 bytes, and long names and pax records add their length: with
    /// <see cref="ArchiveBudget.BaseBytes"/> a tar of more than 2,047 plain entries, or some 680 with pax records, is refused.
    /// </param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>Its files, whose extents lie in volume 0.</returns>
    /// <exception cref="ArchiveException">It cannot be read; <see cref="ArchiveFault.Unsupported"/> where a file in it is sparse.</exception>
    public static async Task<ArchiveMap> ReadAsync(IArchiveInput input, ArchiveBudget budget, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(input);
        ArgumentNullException.ThrowIfNull(budget);

        var window = new HeaderWindow(input, budget);
        var names = new TarNames();
        var entries = new List<ArchiveEntry>();
        var notes = new List<string>();
        // The end is two blocks of zeros; programs that leave them out end with the last file.
        for (long at = 0; at < window.Length;)
        {
            budget.TakeSteps();
            var block = await window.ReadAsync(at, TarHeader.Size, cancellationToken);
            if (TarHeader.IsEnd(block.Span))
                break;
            if (TarHeader.Read(block.Span) is not { } header)
                throw new ArchiveException(ArchiveFault.Broken, "a header in it is damaged");

            var data = at + TarHeader.Size;
            if (header.Kind is TarKind.LongName or TarKind.Pax or TarKind.GlobalPax)
            {
                CheckLength(header.Length, data, window.Length);
                // What no buffer can hold no budget can pay.
                if (header.Length > int.MaxValue)
                    budget.TakeBytes(header.Length);
                names.Add(header.Kind, (await window.ReadAsync(data, (int)header.Length, cancellationToken)).Span);
            }
            else
            {
                header = names.Apply(header);
                CheckLength(header.Length, data, window.Length);
                Add(header, data, entries, notes);
            }

            at = data + RoundUp(header.Length);
        }

        return new ArchiveMap(ArchiveFormat.Tar, entries, notes);
    }

    private static void Add(TarHeader header, long data, List<ArchiveEntry> entries, List<string> notes)
    {
        switch (header.Kind)
        {
            case TarKind.Sparse:
                throw new ArchiveException(ArchiveFault.Unsupported, "a file in it is sparse");
            case TarKind.Continuation:
                throw new ArchiveException(ArchiveFault.Unsupported, "it goes over several tapes");
            case TarKind.Special:
                notes.Add($"skipped a link or device: {header.Path}");
                break;
            case TarKind.File when header.Length > 0:
                entries.Add(new ArchiveEntry
                {
                    Path = header.Path,
                    Length = header.Length,
                    Extents = [new ArchiveExtent(0, data, header.Length)],
                });
                break;
        }
    }

    private static void CheckLength(long length, long data, long end)
    {
        if (length > end - data)
            throw new ArchiveException(ArchiveFault.Broken, "it is cut short");
    }

    // Not past the end of the longest file, because the data itself lies inside of the input.
    private static long RoundUp(long length) => length + ((TarHeader.Size - (length % TarHeader.Size)) % TarHeader.Size);
}
