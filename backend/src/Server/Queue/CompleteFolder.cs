using Microsoft.Extensions.Options;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>Paths in the mount as clients see them (SAB-50).</summary>
internal sealed class CompleteFolder(IOptionsMonitor<RcloneOptions> rclone, IOptionsMonitor<ImportOptions> import)
{
    public const string StrmExtension = ".strm";
    private const string Name = "completed-symlinks";

    /// <summary>Absolute path of the mounted tree, without a trailing slash.</summary>
    public string Mount => rclone.CurrentValue.MountDir.TrimEnd('/');

    /// <summary>Folder of finished releases: links on the mount, or <c>.strm</c> files. Absolute, without a trailing slash.</summary>
    public string Path => StrmRoot is { Length: > 0 } strm ? strm : Links;

    /// <summary>Folder of the <c>.strm</c> files that clients import; empty if they import links.</summary>
    public string StrmRoot => import.CurrentValue is { PublishesStrm: true } options ? options.CompletedFolder.TrimEnd('/') : "";

    private string Links => $"{Mount}/{Name}";

    /// <summary>Returns the root folder in which an item was published, because the settings may have changed since.</summary>
    public string RootOf(HistoryItem item) => item.StrmRoot switch
    {
        null => Path,
        "" => Links,
        var root => root,
    };

    /// <summary>Returns the path under which the client sees a file of an item, or null for a link if no mount is configured.</summary>
    public string? PathOf(HistoryItem item, LibraryFile file)
    {
        var root = RootOf(item);
        if (root == Links && Mount.Length == 0)
            return null;
        return $"{root}/{item.Folder}/{item.ReleaseFolder}/{(root == Links ? file.Path : System.IO.Path.ChangeExtension(file.Path, StrmExtension))}";
    }
}
