namespace Sluice.Usenet.Archives;

/// <summary>Lists and locates the files in a tar: v7, ustar, pax and GNU (IMP-59).</summary>
public static class TarReader
{
    /// <param name="input">The archive; not owned.</param>
    /// <param name="budget">
    /// Charged with 512 bytes for each header plus the length of long names and pax records. With <see cref="ArchiveBudget.BaseBytes"/> a tar of more than
    /// 2,047 plain entries, or about 680 with pax records, is refused.
    /// </param>
    /// <returns>The files, with extents in volume 0.</returns>
    /// <exception cref="ArchiveException">The archive cannot be read; <see cref="ArchiveFault.Unsupported"/> if it contains a sparse file.</exception>
    public static async Task<ArchiveMap> ReadAsync(IArchiveInput input, ArchiveBudget budget, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(input);
        ArgumentNullException.ThrowIfNull(budget);

        var window = new HeaderWindow(input, budget);
        var names = new TarNames();
        var entries = new List<ArchiveEntry>();
        var notes = new List<string>();
        // Two blocks of zeros mark the end. The end of the file counts too, because some programs omit these blocks.
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
                // The budget always refuses a length beyond int.MaxValue, so the cast is safe.
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

    // Cannot overflow, because the data lies inside the input.
    private static long RoundUp(long length) => length + ((TarHeader.Size - (length % TarHeader.Size)) % TarHeader.Size);
}
