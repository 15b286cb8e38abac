using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>Where clients have the tree, and in it the folder in which they expect finished releases, on their side of the mount (SAB-50).</summary>
internal sealed class CompleteFolder(IOptionsMonitor<RcloneOptions> rclone)
{
    private const string Name = "completed-symlinks";

    /// <summary>The root of the tree on their side. Absolute, without a slash at its end.</summary>
    public string Mount => rclone.CurrentValue.MountDir.TrimEnd('/');

    /// <summary>The folder of finished releases. Absolute, without a slash at its end.</summary>
    public string Path => $"{Mount}/{Name}";
}
