namespace Sluice.Server.Settings;

/// <summary>How clients see the tree through a mount, and the remote control of the rclone that keeps it (<c>rclone.*</c>).</summary>
internal sealed record RcloneOptions
{
    /// <summary>Absolute path of the mounted root on the clients' side, without a slash at its end.</summary>
    public required string MountDir { get; init; }

    /// <summary>Whether rclone is told of changes.</summary>
    public bool RcEnabled { get; init; }

    /// <summary>Address of its remote control, with a slash at its end; null when none is set.</summary>
    public Uri? RcUrl { get; init; }

    /// <summary>User of the remote control; empty for none.</summary>
    public string RcUser { get; init; } = "";

    /// <summary>Its password. Secret: never logged.</summary>
    public string RcPassword { get; init; } = "";

    /// <summary>Takes the values in force.</summary>
    public static RcloneOptions Read(EffectiveSettings settings) => new()
    {
        MountDir = settings.Text("rclone.mount-dir"),
        RcEnabled = settings.Boolean("rclone.rc-enabled"),
        RcUrl = settings.Text("rclone.host") is { Length: > 0 } host ? new Uri(host + "/") : null,
        RcUser = settings.Text("rclone.user"),
        RcPassword = settings.Text("rclone.pass"),
    };

    /// <summary>The mount and the address only.</summary>
    public override string ToString() => $"{nameof(RcloneOptions)} of {MountDir}, {RcUrl}";
}
