namespace Sluice.Usenet.Archives;

/// <summary>
/// Lists and locates the files in a 7z archive (7zFormat.txt of the LZMA SDK). The header is at the end: plain, packed or encrypted. Stored files
/// are plain byte ranges of the archive, or ranges of one ciphertext (IMP-59).
/// </summary>
public static class SevenZipReader
{
    /// <summary>Maximum number of times that a header may be packed.</summary>
    private const int MaxPackedHeaders = 4;

    /// <summary>Reads the header of an archive.</summary>
    /// <param name="joined">All volumes of the archive, joined; not owned. Trailing bytes are ignored.</param>
    /// <param name="keys">The passwords, used only if something is encrypted.</param>
    /// <param name="budget">A packed header is charged with its packed bytes and its unpacked size.</param>
    /// <returns>
    /// The files, with extents in volume 0, the joined file. Compressed files have no extents. If only data is encrypted, the archive cannot show which
    /// password fits, and the files have <see cref="ArchiveEntry.Candidates"/>.
    /// </returns>
    /// <exception cref="ArchiveException">The archive cannot be read; <see cref="ArchiveFault.Incomplete"/> if volumes at its end are missing.</exception>
    public static async Task<ArchiveMap> ReadAsync(
        IArchiveInput joined, ArchiveKeys keys, ArchiveBudget budget, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(joined);
        ArgumentNullException.ThrowIfNull(keys);
        ArgumentNullException.ThrowIfNull(budget);

        var window = new HeaderWindow(joined, budget);
        var head = await window.ReadAsync(0, SevenZipStart.Size, cancellationToken);
        if (SevenZipStart.Read(head.Span) is not { } start)
            throw new ArchiveException(ArchiveFault.Broken, "its first bytes are damaged");
        if (start.Length > joined.Length)
            throw new ArchiveException(ArchiveFault.Incomplete, "its end lies in a volume that is not there");
        if (start.HeaderSize == 0)
            return new ArchiveMap(ArchiveFormat.SevenZip, [], []);

        var bytes = await ReadAsync(window, start.HeaderOffset, start.HeaderSize, cancellationToken);
        if (!start.IsHeader(bytes.Span))
            throw new ArchiveException(ArchiveFault.Broken, "its header is damaged");

        var unpacker = new SevenZipUnpacker(keys, budget);
        for (var packings = 0; ; packings++)
        {
            var cursor = new SevenZipCursor(bytes);
            switch (cursor.ReadProperty())
            {
                case SevenZipProperty.Header:
                    return new SevenZipEntries(SevenZipHeader.Read(cursor, joined.Length, budget), keys, unpacker.Password).Map();
                case SevenZipProperty.EncodedHeader when packings < MaxPackedHeaders:
                    bytes = await UnpackAsync(window, SevenZipStreams.Read(cursor, joined.Length, new SevenZipLists(budget)), unpacker, cancellationToken);
                    break;
                case SevenZipProperty.EncodedHeader:
                    throw new ArchiveException(ArchiveFault.Unsupported, "its header is packed too often");
                default:
                    throw new ArchiveException(ArchiveFault.Broken, "its header is none");
            }
        }
    }

    private static async Task<ReadOnlyMemory<byte>> UnpackAsync(
        HeaderWindow window, SevenZipStreams streams, SevenZipUnpacker unpacker, CancellationToken cancellationToken)
    {
        if (streams is not { Packed: [var extent], Folders: [var folder] })
            throw new ArchiveException(ArchiveFault.Unsupported, "its header lies in several streams");
        return await unpacker.UnpackAsync(folder, await ReadAsync(window, extent.Offset, extent.Length, cancellationToken), cancellationToken);
    }

    private static ValueTask<ReadOnlyMemory<byte>> ReadAsync(HeaderWindow window, long offset, long length, CancellationToken cancellationToken)
    {
        // The budget always refuses a length beyond int.MaxValue, so the cast is safe.
        if (length > int.MaxValue)
            window.Budget.TakeBytes(length);
        return window.ReadAsync(offset, (int)length, cancellationToken);
    }
}
