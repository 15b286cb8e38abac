namespace Sluice.Server.Settings;

/// <summary>The part of the settings that a setting is shown in.</summary>
internal enum SettingGroup
{
    /// <summary>The news servers.</summary>
    Providers,

    /// <summary>How films are fetched and played.</summary>
    Streaming,

    /// <summary>The tree, its access and its mounts.</summary>
    Library,

    /// <summary>What programs that import see, and how the queue works.</summary>
    DownloadClient,

    /// <summary>Sonarr, Radarr and their kind.</summary>
    Arr,

    /// <summary>Checks and repair.</summary>
    Health,

    /// <summary>The server itself.</summary>
    System,
}

/// <summary>The presentation of a setting: its group, its heading, and at most two sentences of help.</summary>
internal sealed record SettingCard(SettingGroup Group, string Title, string Help)
{
    /// <summary>Unit of a number; null for a plain count.</summary>
    public string? Unit { get; init; }

    /// <summary>Meaning of 0 or an empty text; null if it has no special meaning.</summary>
    public string? ZeroMeans { get; init; }

    /// <summary>Whether the basic view shows it; its text must avoid jargon.</summary>
    public bool Basic { get; init; }
}
