namespace Sluice.Usenet.Archives;

/// <summary>Where the disks of a zip begin in the joined file, and with them everything that the zip places by disk and offset.</summary>
internal sealed class ZipLayout
{
    // In the joined file. A zip in one piece has one disk, which begins behind whatever was put in front.
    private readonly long[] _diskStarts;

    /// <summary>Finds the central directory.</summary>
    /// <param name="end">The end of the zip.</param>
    /// <param name="endOffset">First byte of that in the joined file.</param>
    /// <param name="disks">The real length of each volume in bytes.</param>
    /// <exception cref="ArchiveException">It contradicts itself, or disks lack.</exception>
    public ZipLayout(ZipEnd end, long endOffset, IReadOnlyList<long> disks)
    {
        if (end.DirectorySize < 0 || end.DirectorySize > endOffset || end.DirectoryOffset < 0 || end.DirectoryOffset > endOffset)
            throw Broken();
        DirectorySize = end.DirectorySize;
        if (end.Disk == 0)
        {
            // The directory ends where the end begins: what is more than the offset says was put in front, as a program that unpacks it.
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

    /// <summary>First byte of the central directory in the joined file.</summary>
    public long DirectoryOffset { get; }

    /// <summary>Bytes of the central directory.</summary>
    public long DirectorySize { get; }

    /// <summary>Where something lies in the joined file.</summary>
    /// <param name="disk">Number of its disk.</param>
    /// <param name="offset">Its first byte on it, 0-based.</param>
    /// <exception cref="ArchiveException">There is no such disk, or no such place.</exception>
    public long Place(long disk, long offset)
    {
        if (disk < 0 || disk >= _diskStarts.Length || offset < 0 || offset > long.MaxValue - _diskStarts[disk])
            throw Broken();
        return _diskStarts[disk] + offset;
    }

    private static ArchiveException Broken() => new(ArchiveFault.Broken, "its central directory is not where its end says");
}
