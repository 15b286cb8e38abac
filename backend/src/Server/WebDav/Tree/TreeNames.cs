using System.Collections.Frozen;
using System.Text;
using Sluice.Server.Library;
using Sluice.Server.Queue;

namespace Sluice.Server.WebDav.Tree;

/// <summary>Names with a special meaning in the tree.</summary>
internal static class TreeNames
{
    public const string Readme = "README";
    public const string Health = ".health";
    public const string Content = "content";
    public const string Queue = "nzbs";
    public const string Links = "completed-symlinks";
    public const string Ids = IdPath.Root;

    /// <summary>The folder of the probe link, next to the category folders in <see cref="Links"/>. Reserved, so that no category can take this name.</summary>
    public const string Probe = ".probe";

    /// <summary>Prefix of signed links to files in the tree. It is not itself part of the tree.</summary>
    public const string View = "view";

    /// <summary>Root names of the web UI and the APIs (DAV-3). Below them, the tree responds to every verb with 404.</summary>
    private static readonly FrozenSet<string> Reserved = FrozenSet.ToFrozenSet(
        [
            "api", "sabnzbd", "config", "assets", "setup", "login", "streams", "files", "queue", "history", "health", "benchmark", "logs",
            "settings", "rescue", "healthz", "readyz", "ready", "metrics", "favicon.ico", "robots.txt", "manifest.webmanifest",
            "apple-touch-icon.png",
        ],
        StringComparer.Ordinal);

    private static readonly FrozenSet<string> Litter = FrozenSet.ToFrozenSet(
        [".DS_Store", "Thumbs.db", "desktop.ini", ".metadata_never_index"], StringComparer.Ordinal);

    private static readonly string[] StagedExtensions = [".part", ".partial", ".filepart", ".tmp", ".crdownload", "~"];

    /// <summary>Maximum length of a name below <c>/nzbs</c> in UTF-8 bytes (DAV-13).</summary>
    private const int MaxBytes = 255;

    public static bool IsReserved(string name) => Reserved.Contains(name);

    /// <summary>Whether a request path is at or below a root name of the tree (DAV-3).</summary>
    public static bool IsBelowTree(string path) =>
        path.Split('/', 2, StringSplitOptions.RemoveEmptyEntries) is [Content or Queue or Links or Ids or Readme or Health or View, ..];

    /// <summary>Whether a request path can only be a folder, judging by its names alone (DAV-5).</summary>
    public static bool IsFolder(string path)
    {
        var names = path.Split('/', StringSplitOptions.RemoveEmptyEntries);
        return names.Length > 0 && !IsReserved(names[0]) && (path.EndsWith('/') || names is [Content or Queue or Links or Ids]);
    }

    /// <summary>Whether a request path belongs to neither the tree nor the web UI nor an API.</summary>
    public static bool IsUnknown(string path) =>
        path.Split('/', 2, StringSplitOptions.RemoveEmptyEntries) is [var name, ..] && !IsReserved(name) && !IsBelowTree(path);

    /// <summary>Whether desktops look for this name in every folder. Never listed; lookups skip the database because they are frequent (DAV-14).</summary>
    public static bool IsLitter(string name) => name.StartsWith("._", StringComparison.Ordinal) || Litter.Contains(name);

    /// <summary>Whether a name below <c>/nzbs</c> can only be a file.</summary>
    public static bool IsFileName(string name) => IsUpload(name) || IsStaged(name) || IsLitter(name);

    /// <summary>Whether an upload with this name becomes a queue item (DAV-40).</summary>
    public static bool IsUpload(string name) => !IsLitter(name) && ItemName.IsOfNzb(name);

    /// <summary>Whether this is a temporary name. Some clients first write a file under one and rename it when complete (DAV-40b).</summary>
    public static bool IsStaged(string name) => !IsLitter(name) && Array.Exists(
        StagedExtensions, extension => name.Length > extension.Length && name.EndsWith(extension, StringComparison.OrdinalIgnoreCase));

    /// <summary>Whether the name is short enough for a file below <c>/nzbs</c>.</summary>
    public static bool Fits(string name) => Encoding.UTF8.GetByteCount(name) <= MaxBytes;
}
