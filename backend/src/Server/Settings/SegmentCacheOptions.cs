namespace Sluice.Server.Settings;

/// <summary>Settings of the segment cache on disk (<c>usenet.segment-cache.*</c>).</summary>
internal sealed record SegmentCacheOptions
{
    private const long GiB = 1 << 30;

    /// <summary>Whether there is a cache. Counts from the next start.</summary>
    public required bool Enabled { get; init; }

    /// <summary>Whether segments from anywhere in a file are kept, not only those at its edges. Counts from the next start.</summary>
    public required bool KeepsAll { get; init; }

    /// <summary>Absolute path of the folder; null for the one in the data folder. Counts from the next start.</summary>
    public required string? Path { get; init; }

    /// <summary>Most bytes of files.</summary>
    public required long MaxBytes { get; init; }

    /// <summary>Takes the values in force.</summary>
    public static SegmentCacheOptions Read(EffectiveSettings settings) => new()
    {
        Enabled = settings.Boolean("usenet.segment-cache.enabled"),
        KeepsAll = settings.Text("usenet.segment-cache.mode") == "all",
        Path = settings.Text("usenet.segment-cache.path") is { Length: > 0 } path ? path : null,
        MaxBytes = settings.Number("usenet.segment-cache.max-gb") * GiB,
    };
}
