using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Cache;

/// <summary>Notes what a reader takes of one segment at the edge of a file, and offers it to the disk in the end.</summary>
/// <remarks>For the one reader of a slot.</remarks>
internal sealed class ReadBlocks(DiskSegmentCache disk, DiskKey key, int length)
{
    private int _from = int.MaxValue;
    private int _to;

    /// <summary>Bytes were taken.</summary>
    public void Note(int offset, int count)
    {
        if (count == 0)
            return;
        _from = Math.Min(_from, offset);
        _to = Math.Max(_to, offset + count);
    }

    /// <summary>The reader has done with the segment, which is proved.</summary>
    public void Offer(SegmentBuffer proved)
    {
        if (_to > 0)
            disk.Offer(key, proved, length, _from, _to);
    }
}
