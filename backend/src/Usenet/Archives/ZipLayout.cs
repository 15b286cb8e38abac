namespace Sluice.Usenet.Archives;

/// <summary>Maps disk numbers and offsets of a zip to offsets in the joined file.</summary>
internal sealed class ZipLayout
{
    // Offsets in the joined file. A zip in one piece has one disk, which begins after any prepended data.
    private readonly long[] _diskStarts;

    /// <summary>Locates the central directory.</summary>
    /// <exception cref="ArchiveException">The records contradict each other, or disks are missing.</exception>
    public ZipLayout(ZipEnd end, long endOffset, IReadOnlyList<long> disks)
    {
        if (end.DirectorySize < 0 || end.DirectorySize > endOffset || end.DirectoryOffset < 0 || end.DirectoryOffset > endOffset)
            throw Broken();
        DirectorySize = end.DirectorySize;
        if (end.Disk == 0)
        {
            // The directory ends where the end record begins, so any excess over the stated offset is prepended data, such as a self-extractor.
            DirectoryOffset = endOffset - DirectorySize;
            _diskStarts = [DirectoryOffset - end.DirectoryOffset];
            if (_diskStarts[0] < 0)
                throw Broken();
            return;
        }

        if (end.Disk >= disks.Count)
        {
            throw new ArchiveException(ArchiveFault.Incomplete, "it continues in volumes that are not there")
            {
                Volumes = (int)Math.Min(end.Disk + 1, int.MaxValue),
            };
        }

        _diskStarts = new long[disks.Count];
        for (var i = 1; i < disks.Count; i++)
            _diskStarts[i] = _diskStarts[i - 1] + disks[i - 1];
        DirectoryOffset = Place(end.DirectoryDisk, end.DirectoryOffset);
        if (end.Disk + 1 != disks.Count || DirectoryOffset > endOffset - DirectorySize)
            throw Broken();
    }

    /// <summary>Offset of the central directory in the joined file.</summary>
    public long DirectoryOffset { get; }

    public long DirectorySize { get; }

    /// <summary>Returns the offset in the joined file.</summary>
    /// <exception cref="ArchiveException">The disk or offset does not exist.</exception>
    public long Place(long disk, long offset)
    {
        if (disk < 0 || disk >= _diskStarts.Length || offset < 0 || offset > long.MaxValue - _diskStarts[disk])
            throw Broken();
        return _diskStarts[disk] + offset;
    }

    private static ArchiveException Broken() => new(ArchiveFault.Broken, "its central directory is not where its end says");
}
