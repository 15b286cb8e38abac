namespace Sluice.Server.Settings;

/// <summary>The segment cache on disk (<c>usenet.segment-cache.*</c>).</summary>
internal sealed record SegmentCacheOptions
{
    private const long GiB = 1 << 30;

    public required bool Enabled { get; init; }

    /// <summary>Whether to keep segments of the whole file, not just of its beginning and end. Takes effect at the next startup.</summary>
    public required bool KeepsAll { get; init; }

    /// <summary>Absolute path of the cache; null for the default in the data folder. Takes effect at the next startup.</summary>
    public required string? Path { get; init; }

    public required long MaxBytes { get; init; }

    public static SegmentCacheOptions Read(EffectiveSettings settings) => new()
    {
        Enabled = settings.Boolean("usenet.segment-cache.enabled"),
        KeepsAll = settings.Text("usenet.segment-cache.mode") == "all",
        Path = settings.Text("usenet.segment-cache.path") is { Length: > 0 } path ? path : null,
        MaxBytes = settings.Number("usenet.segment-cache.max-gb") * GiB,
    };
}
