namespace Sluice.Server.Settings;

internal enum SettingGroup
{
    Providers,

    Streaming,

    /// <summary>The tree, its access and its mounts.</summary>
    Library,

    /// <summary>The SABnzbd API, imports and the queue.</summary>
    DownloadClient,

    /// <summary>Sonarr, Radarr and similar programs.</summary>
    Arr,

    Health,

    Backups,

    System,
}

/// <summary>The presentation of a setting: its group, its heading, and at most two sentences of help.</summary>
internal sealed record SettingCard(SettingGroup Group, string Title, string Help)
{
    /// <summary>Unit of a number; null for a plain count.</summary>
    public string? Unit { get; init; }

    /// <summary>Meaning of 0 or an empty text; null if it has no special meaning.</summary>
    public string? ZeroMeans { get; init; }

    /// <summary>Whether the basic view shows it. The text must then avoid jargon, because beginners read it.</summary>
    public bool Basic { get; init; }
}
