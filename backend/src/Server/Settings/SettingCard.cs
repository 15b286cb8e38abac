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

/// <summary>How a setting is explained to people.</summary>
/// <param name="Group">Where it is shown.</param>
/// <param name="Title">Its name, as a heading.</param>
/// <param name="Help">At most two sentences.</param>
internal sealed record SettingCard(SettingGroup Group, string Title, string Help)
{
    /// <summary>Unit of a number; null for a bare count.</summary>
    public string? Unit { get; init; }

    /// <summary>What 0, or an empty text, stands for; null where it has no meaning of its own.</summary>
    public string? ZeroMeans { get; init; }

    /// <summary>Among the few of the basic view; its text uses no words of the trade.</summary>
    public bool Basic { get; init; }
}
