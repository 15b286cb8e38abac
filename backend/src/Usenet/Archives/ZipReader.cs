namespace Sluice.Usenet.Archives;

/// <summary>Lists and locates the files in a zip (APPNOTE.TXT 6.3), including zip64, split and self-extracting zips.</summary>
/// <remarks>The central directory at the end gives names and sizes; the local header of each stored file gives the data offset (IMP-59).</remarks>
public static class ZipReader
{
    /// <summary>Number of local headers read in parallel, because each may lie in a different article.</summary>
    private const int HeadersAtOnce = 16;

    /// <param name="joined">All volumes in the order <c>.z01</c> … <c>.zip</c>, joined; not owned.</param>
    /// <param name="disks">The real length of each volume in bytes; ignored for a zip split by a program without zip support.</param>
    /// <param name="budget">Charged with 1 KiB, or 64 KiB for a zip with a comment, plus about 80 bytes and two names for each entry.</param>
    /// <returns>The files, with extents in volume 0, the joined file. Compressed files have no extents.</returns>
    /// <exception cref="ArchiveException">The archive cannot be read; <see cref="ArchiveFault.Unsupported"/> if an entry is encrypted.</exception>
    public static async Task<ArchiveMap> ReadAsync(
        IArchiveInput joined, IReadOnlyList<long> disks, ArchiveBudget budget, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(joined);
        ArgumentNullException.ThrowIfNull(disks);
        ArgumentNullException.ThrowIfNull(budget);

        var window = new HeaderWindow(joined, budget);
        var (end, endOffset) = await ReadEndAsync(window, ZipEnd.UsualTail, cancellationToken)
            ?? await ReadEndAsync(window, ZipEnd.MaxTail, cancellationToken)
            ?? throw new ArchiveException(ArchiveFault.Broken, "its central directory is not at its end");
        var layout = new ZipLayout(end, endOffset, disks);
        var items = await ReadItemsAsync(window, layout, end.Entries, cancellationToken);
        if (items.Any(item => item.IsEncrypted))
            throw new ArchiveException(ArchiveFault.Unsupported, "it is encrypted");

        var files = items.Where(item => !item.IsSpecial && !item.IsFolder && item.Length > 0).ToList();
        var data = await FindDataAsync(window, layout, [.. files.Where(file => file.Method is null)], cancellationToken);
        return new ArchiveMap(
            ArchiveFormat.Zip,
            [.. files.Select(file => new ArchiveEntry
            {
                Path = file.Path,
                Length = file.Length,
                Method = file.Method,
                Crc32 = file.Crc,
                Extents = data.TryGetValue(file, out var extent) ? [extent] : [],
            })],
            [.. items.Where(item => item.IsSpecial).Select(item => $"skipped a link: {item.Path}")]);
    }

    private static async Task<(ZipEnd End, long Offset)?> ReadEndAsync(HeaderWindow window, int longest, CancellationToken cancellationToken)
    {
        var offset = Math.Max(0, window.Length - longest);
        var tail = await window.ReadAsync(offset, (int)(window.Length - offset), cancellationToken);
        return ZipEnd.Read(tail.Span, isAll: offset == 0) is { } end ? (end, offset + end.Begin) : null;
    }

    private static async Task<List<ZipItem>> ReadItemsAsync(HeaderWindow window, ZipLayout layout, long entries, CancellationToken cancellationToken)
    {
        // The budget always refuses a length beyond int.MaxValue, so the cast is safe.
        if (layout.DirectorySize > int.MaxValue)
            window.Budget.TakeBytes(layout.DirectorySize);
        var directory = await window.ReadAsync(layout.DirectoryOffset, (int)layout.DirectorySize, cancellationToken);
        var items = new List<ZipItem>();
        while (!directory.IsEmpty)
        {
            window.Budget.TakeSteps();
            items.Add(ZipItem.Read(ref directory));
        }

        // Compare only the low 16 bits of the entry count, because programs without zip64 store no more.
        return (items.Count & ushort.MaxValue) == (entries & ushort.MaxValue)
            ? items
            : throw new ArchiveException(ArchiveFault.Broken, "its central directory is not as long as its end says");
    }

    private static async Task<Dictionary<ZipItem, ArchiveExtent>> FindDataAsync(
        HeaderWindow window, ZipLayout layout, IReadOnlyList<ZipItem> files, CancellationToken cancellationToken)
    {
        var data = new Dictionary<ZipItem, ArchiveExtent>(ReferenceEqualityComparer.Instance);
        var taken = new List<(long Begin, long End)>();
        foreach (var batch in files.Chunk(HeadersAtOnce))
        {
            var places = batch.Select(file => layout.Place(file.Disk, file.Offset)).ToArray();
            var headers = await Task.WhenAll(
                batch.Zip(places, (file, place) => window.ReadAsync(place, file.LocalHeaderSize, cancellationToken).AsTask()));
            foreach (var (file, place, header) in batch.Zip(places, headers))
            {
                var offset = place + file.DataOffset(header.Span);
                if (file.PackedLength != file.Length || offset > layout.DirectoryOffset - file.Length)
                    throw new ArchiveException(ArchiveFault.Broken, "the data of an entry is not as long as the entry");
                data.Add(file, new ArchiveExtent(0, offset, file.Length));
                taken.Add((place, offset + file.Length));
            }
        }

        taken.Sort();
        if (taken.Zip(taken.Skip(1)).Any(pair => pair.First.End > pair.Second.Begin))
            throw new ArchiveException(ArchiveFault.Broken, "its entries overlap");
        return data;
    }
}
