namespace Sluice.Server.Settings;

internal enum SettingGroup
{
    Providers,

    Streaming,

    /// <summary>The library tree, access to it, and its mounts.</summary>
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
    /// <summary>Unit of a number; null for a count.</summary>
    public string? Unit { get; init; }

    /// <summary>Meaning of 0 or empty text; null if neither is special.</summary>
    public string? ZeroMeans { get; init; }

    /// <summary>Whether the basic view shows the setting. Its text must avoid jargon, because beginners read it.</summary>
    public bool Basic { get; init; }
}
