using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>The folder in which clients expect finished releases, on their side of the mount (SAB-50).</summary>
internal sealed class CompleteFolder(IOptionsMonitor<RcloneOptions> rclone)
{
    private const string Name = "completed-symlinks";

    /// <summary>Absolute, without a slash at its end.</summary>
    public string Path => $"{rclone.CurrentValue.MountDir.TrimEnd('/')}/{Name}";
}
