namespace Sluice.Server.Settings;

/// <summary>How clients see the tree through a mount (<c>rclone.*</c>).</summary>
internal sealed record RcloneOptions
{
    /// <summary>Absolute path of the mounted root on the clients' side, without a slash at its end.</summary>
    public required string MountDir { get; init; }

    /// <summary>Takes the values in force.</summary>
    public static RcloneOptions Read(EffectiveSettings settings) => new() { MountDir = settings.Text("rclone.mount-dir") };
}
