using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>The content of <c>.strm</c> files. It identifies the files of a removed release, so that they can be deleted.</summary>
internal sealed class StrmLinks(IOptionsMonitor<ImportOptions> import, IOptionsMonitor<ApiOptions> api, ILogger<StrmLinks> logger)
{
    // Skip linked folders, because they contain files that the user has moved.
    private static readonly EnumerationOptions OwnFiles = new() { RecurseSubdirectories = true, AttributesToSkip = FileAttributes.ReparsePoint };

    /// <summary>Returns the signed URL of a file (DAV-82).</summary>
    /// <param name="path">Path inside the release, used for its extension.</param>
    public string AddressOf(Guid id, string path)
    {
        var target = IdPath.Of(id);
        var extension = Path.GetExtension(path).TrimStart('.');
        return $"{import.CurrentValue.BaseUrl}/view/{target}?downloadKey={ViewKey.Sign(api.CurrentValue.StrmKey, target, null)}&extension={Uri.EscapeDataString(extension)}";
    }

    /// <summary>
    /// Deletes the files of a removed release from its items' folders, and empty folders. A file with other content stays, because it is the user's.
    /// </summary>
    public void Delete(DroppedRelease dropped)
    {
        // Without the key no file can be deleted, because the URLs are unknown.
        if (dropped.Files.Count == 0 || api.CurrentValue.StrmKeyIsLocked)
            return;
        var addresses = dropped.Files.Select(file => AddressOf(Guid.Parse(file.Id), file.Path)).ToHashSet();
        foreach (var folder in dropped.StrmFolders.Select(folder => new DirectoryInfo(folder.Path)))
        {
            try
            {
                if (folder.Exists && (folder.Attributes & FileAttributes.ReparsePoint) == 0)
                    Delete(folder, addresses);
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                QueueLog.StrmNotDeleted(logger, dropped.Release.Name, dropped.Release.Id, e.Message);
            }
        }
    }

    private static void Delete(DirectoryInfo folder, HashSet<string> addresses)
    {
        var longest = addresses.Max(Encoding.UTF8.GetByteCount);
        foreach (var file in folder.EnumerateFiles("*" + CompleteFolder.StrmExtension, OwnFiles).ToList())
        {
            if (file.Length > longest || !addresses.Contains(File.ReadAllText(file.FullName)))
                continue;
            file.Delete();
            for (var empty = file.Directory!; !empty.EnumerateFileSystemInfos().Any(); empty = empty.Parent!)
            {
                empty.Delete();
                if (empty.FullName == folder.FullName)
                    break;
            }
        }
    }
}
