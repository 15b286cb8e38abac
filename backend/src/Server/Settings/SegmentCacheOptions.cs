namespace Sluice.Server.Settings;

/// <summary>The segment cache on disk (<c>usenet.segment-cache.*</c>).</summary>
internal sealed record SegmentCacheOptions
{
    private const long GiB = 1 << 30;

    public required bool Enabled { get; init; }

    /// <summary>Whether segments from the whole file are kept, not only from its edges. Applies at the next start.</summary>
    public required bool KeepsAll { get; init; }

    /// <summary>Absolute path of the folder; null for the data folder's default. Applies at the next start.</summary>
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
