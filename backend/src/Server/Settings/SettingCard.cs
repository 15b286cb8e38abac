namespace Sluice.Server.Settings;

internal enum SettingGroup
{
    Providers,

    Streaming,

    /// <summary>The library tree, access to the tree, and its mounts.</summary>
    Library,

    /// <summary>SABnzbd API, imports and queue.</summary>
    DownloadClient,

    /// <summary>Sonarr, Radarr and similar programs.</summary>
    Arr,

    Health,

    Backups,

    System,
}

/// <summary>How the UI presents a setting: group, title, and at most two sentences of help.</summary>
internal sealed record SettingCard(SettingGroup Group, string Title, string Help)
{
    /// <summary>Unit of a number; null if the number is a count.</summary>
    public string? Unit { get; init; }

    /// <summary>What 0 or empty text means; null if neither has a special meaning.</summary>
    public string? ZeroMeans { get; init; }

    /// <summary>Whether the basic view shows the setting. Its text must avoid jargon, because beginners read it.</summary>
    public bool Basic { get; init; }
}
