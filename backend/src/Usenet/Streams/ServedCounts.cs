namespace Sluice.Usenet.Streams;

/// <summary>Where the segments served to readers came from, since the process started.</summary>
/// <param name="Memory">Segments from memory.</param>
/// <param name="Disk">Segments from disk.</param>
/// <param name="Fetched">Segments from a provider.</param>
public readonly record struct ServedCounts(long Memory, long Disk, long Fetched, long CachedBytes)
{
    public long Cached => Memory + Disk;
}
