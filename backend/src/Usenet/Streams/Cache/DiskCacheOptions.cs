namespace Sluice.Usenet.Streams.Cache;

/// <summary>What the disk cache keeps, and where.</summary>
/// <remarks>Immutable.</remarks>
/// <param name="Path">Folder of its own, absolute. Made when it is first needed; always safe to delete.</param>
public sealed record DiskCacheOptions(string Path)
{
    /// <summary>Bytes of files at most.</summary>
    public long MaxBytes { get; init; } = 2L << 30;

    /// <summary>Files at most: 700 GB of usual articles. The entry of a file takes some 150 bytes of memory.</summary>
    public int MaxFiles { get; init; } = 1_000_000;

    /// <summary>Keeps blocks that were read anywhere in a file, not only at its edges.</summary>
    public bool KeepsAll { get; init; }

    /// <summary>How far from its beginning and its end a file's edges reach: containers have their headers and indexes there.</summary>
    public long EdgeBytes { get; init; } = 4L << 20;

    /// <summary>Bytes that may wait to be written; blocks that come while so many wait are not kept.</summary>
    public long MaxQueuedBytes { get; init; } = 32L << 20;
}
