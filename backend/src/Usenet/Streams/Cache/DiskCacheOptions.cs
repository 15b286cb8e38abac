namespace Sluice.Usenet.Streams.Cache;

/// <summary>Location and limits of the disk cache. Immutable.</summary>
/// <param name="Path">Absolute path of a folder that only the cache uses. Created when first needed; always safe to delete.</param>
public sealed record DiskCacheOptions(string Path)
{
    /// <summary>Maximum size of all files in bytes.</summary>
    public long MaxBytes { get; init; } = 2L << 30;

    /// <summary>Maximum number of files, enough for 700 GB of typical articles. Limited because each entry takes about 150 bytes of memory.</summary>
    public int MaxFiles { get; init; } = 1_000_000;

    /// <summary>Whether blocks from anywhere in a file are kept, not only those at its edges.</summary>
    public bool KeepsAll { get; init; }

    /// <summary>Size of each edge of a file. Edges are kept because containers have their headers and indexes at both ends.</summary>
    public long EdgeBytes { get; init; } = 4L << 20;

    /// <summary>Maximum bytes waiting to be written; blocks above this limit are not kept.</summary>
    public long MaxQueuedBytes { get; init; } = 32L << 20;
}
