using Microsoft.Extensions.Options;
using Sluice.Server.Library;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>Where clients have the tree, and the folder in which they expect finished releases, on their side of the mount (SAB-50).</summary>
internal sealed class CompleteFolder(IOptionsMonitor<RcloneOptions> rclone, IOptionsMonitor<ImportOptions> import)
{
    /// <summary>The extension of <c>.strm</c> files, with its dot.</summary>
    public const string StrmExtension = ".strm";

    private const string Name = "completed-symlinks";

    /// <summary>The root of the tree on their side. Absolute, without a slash at its end.</summary>
    public string Mount => rclone.CurrentValue.MountDir.TrimEnd('/');

    /// <summary>The folder of finished releases: links on the mount, or a folder of <c>.strm</c> files. Absolute, without a slash at its end.</summary>
    public string Path => import.CurrentValue is { PublishesStrm: true } options ? options.CompletedFolder.TrimEnd('/') : $"{Mount}/{Name}";

    /// <summary>Where they find a file of a finished release, below the folder that the history tells them; null where no mount is set.</summary>
    public string? PathOf(LibraryFile file)
    {
        var path = import.CurrentValue.PublishesStrm ? System.IO.Path.ChangeExtension(file.Path, StrmExtension) : file.Path;
        return Mount.Length == 0 && !import.CurrentValue.PublishesStrm ? null : $"{Path}/{file.Release.Category}/{file.Release.Name}/{path}";
    }
}
