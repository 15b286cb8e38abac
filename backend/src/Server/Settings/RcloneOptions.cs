namespace Sluice.Server.Settings;

/// <summary>The clients' mount, and the remote control of its rclone (<c>rclone.*</c>).</summary>
internal sealed record RcloneOptions
{
    /// <summary>Absolute path of the mount in the clients' file system, without a trailing slash.</summary>
    public required string MountDir { get; init; }

    public bool RcEnabled { get; init; }

    /// <summary>Address of the remote control, with a trailing slash; null if not set.</summary>
    public Uri? RcUrl { get; init; }

    public string RcUser { get; init; } = "";

    public string RcPassword { get; init; } = "";

    public static RcloneOptions Read(EffectiveSettings settings) => new()
    {
        MountDir = settings.Text("rclone.mount-dir"),
        RcEnabled = settings.Boolean("rclone.rc-enabled"),
        RcUrl = settings.Text("rclone.host") is { Length: > 0 } host ? new Uri(host + "/") : null,
        RcUser = settings.Text("rclone.user"),
        RcPassword = settings.Text("rclone.pass"),
    };

    /// <summary>Omits the credentials, so that logs cannot contain them.</summary>
    public override string ToString() => $"{nameof(RcloneOptions)} of {MountDir}, {RcUrl}";
}
