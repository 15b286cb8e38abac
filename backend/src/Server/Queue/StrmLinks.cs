using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>A folder that may hold <c>.strm</c> files of a removed release.</summary>
/// <param name="Item">Number of the removed item.</param>
internal sealed record StrmFolder(long Item, string Root, string Category, string Name)
{
    public string Path => System.IO.Path.Combine(Root, Category, Name);
}

/// <summary>A <c>.strm</c> file on disk that contains the URL of a library file.</summary>
internal sealed record FoundStrm(StrmFolder Folder, string FileId, string Path);

/// <summary>The content of <c>.strm</c> files, by which a release's files are found, and how they are written to disk (IMP-73).</summary>
internal sealed class StrmLinks(
    IOptionsMonitor<ImportOptions> import, IOptionsMonitor<ApiOptions> api, IBlobFiles files, ProcessOptions process, ILogger<StrmLinks> logger)
{
    private const string View = "/view/";

    // Maximum length of the server address, which precedes the link.
    private const int MaxBase = 2_048;

    // Skip linked folders, because their files were moved there by the user.
    private static readonly EnumerationOptions OwnFiles = new() { RecurseSubdirectories = true, AttributesToSkip = FileAttributes.ReparsePoint };

    /// <summary>Whether the signing key is unreadable, so that link content cannot be computed.</summary>
    public bool IsLocked => api.CurrentValue.StrmKeyIsLocked;

    /// <summary>Folders in which imports write <c>.strm</c> files now.</summary>
    public IReadOnlyList<string> Roots => import.CurrentValue switch
    {
        { PublishesStrm: true, StrmLibrary: { } library } options => [options.CompletedFolder.TrimEnd('/'), library.TrimEnd('/')],
        { PublishesStrm: true } options => [options.CompletedFolder.TrimEnd('/')],
        { StrmLibrary: { } library } => [library.TrimEnd('/')],
        _ => [],
    };

    /// <summary>Returns the signed URL of a file (DAV-82).</summary>
    /// <param name="path">Path inside the release, used for its extension.</param>
    public string AddressOf(Guid id, string path) => import.CurrentValue.BaseUrl + LinkOf(id, path);

    /// <summary>
    /// Returns the part of the URL that identifies a file. Searches compare only this part, because the server address may have changed in the meantime.
    /// </summary>
    /// <param name="path">Path inside the release, used for its extension.</param>
    public string LinkOf(Guid id, string path)
    {
        var target = IdPath.Of(id);
        var extension = Path.GetExtension(path).TrimStart('.');
        return $"{View}{target}?downloadKey={ViewKey.Sign(api.CurrentValue.StrmKey, target, null)}&extension={Uri.EscapeDataString(extension)}";
    }

    /// <summary>Writes a file durably, with its folders, and replaces an existing one.</summary>
    /// <param name="root">Configured folder for the log, which must not contain file names.</param>
    /// <exception cref="StorageException">The file cannot be written.</exception>
    public async Task WriteAsync(string root, string path, string address, CancellationToken cancellationToken)
    {
        var folder = new DurableFolder(Path.GetDirectoryName(path)!, files);
        var made = FoldersToMake(Path.GetDirectoryName(path)!);
        folder.Create();
        await folder.SaveAsync(
            async stream =>
            {
                await stream.WriteAsync(Encoding.UTF8.GetBytes(address), cancellationToken);
                return Path.GetFileName(path);
            },
            cancellationToken);
        Share(root, path, made);
    }

    /// <summary>Finds a release's <c>.strm</c> files in a folder. A file with other content belongs to the user.</summary>
    /// <param name="ids">Library file ids, keyed by <see cref="LinkOf"/>.</param>
    /// <exception cref="IOException">The folder or a file cannot be read; also <see cref="UnauthorizedAccessException"/>.</exception>
    public static IReadOnlyList<FoundStrm> Find(StrmFolder folder, IReadOnlyDictionary<string, string> ids)
    {
        var path = new DirectoryInfo(folder.Path);
        if (ids.Count == 0 || !path.Exists || (path.Attributes & FileAttributes.ReparsePoint) != 0)
            return [];
        return
        [
            .. path.EnumerateFiles("*" + CompleteFolder.StrmExtension, OwnFiles)
                .Select(file => new FoundStrm(folder, ids.GetValueOrDefault(ReadLink(file), ""), file.FullName))
                .Where(found => found.FileId.Length > 0),
        ];
    }

    /// <summary>Deletes the folder of a release and its subfolders if they are empty.</summary>
    /// <exception cref="IOException">A folder cannot be deleted; also <see cref="UnauthorizedAccessException"/>.</exception>
    public static void DeleteEmpty(StrmFolder folder)
    {
        var path = new DirectoryInfo(folder.Path);
        if (path.Exists && (path.Attributes & FileAttributes.ReparsePoint) == 0)
            DeleteEmpty(path);
    }

    /// <summary>Whether a path is occupied by a file whose content is not this link.</summary>
    /// <exception cref="IOException">The file cannot be read; also <see cref="UnauthorizedAccessException"/>.</exception>
    public static bool IsOccupied(string path, string link)
    {
        var file = new FileInfo(path);
        return file.Exists && ReadLink(file) != link;
    }

    /// <summary>Reads the link in a file; empty if the file contains anything else.</summary>
    private static string ReadLink(FileInfo file)
    {
        if (file.Length > 2 * MaxBase)
            return "";
        var text = File.ReadAllText(file.FullName);
        var start = text.LastIndexOf(View, StringComparison.Ordinal);
        return start is > 0 and <= MaxBase && Uri.TryCreate(text[..start], UriKind.Absolute, out _) && !text.AsSpan(0, start).ContainsAny(" \r\n") ? text[start..] : "";
    }

    private static void DeleteEmpty(DirectoryInfo folder)
    {
        foreach (var inner in folder.EnumerateDirectories("*", new EnumerationOptions { AttributesToSkip = FileAttributes.ReparsePoint }).ToList())
            DeleteEmpty(inner);
        if (!folder.EnumerateFileSystemInfos().Any())
            folder.Delete();
    }

    private static List<string> FoldersToMake(string folder)
    {
        var missing = new List<string>();
        for (var path = folder; path is not null && !Directory.Exists(path); path = Path.GetDirectoryName(path))
            missing.Add(path);
        return missing;
    }

    /// <summary>Applies <c>UMASK</c> to a file and its new folders, because other programs must read them.</summary>
    private void Share(string root, string file, List<string> folders)
    {
        if (OperatingSystem.IsWindows())
            return;

        try
        {
            File.SetUnixFileMode(file, (UnixFileMode)(0b110_110_110 & ~process.Umask));
            foreach (var folder in folders)
                File.SetUnixFileMode(folder, (UnixFileMode)(0b111_111_111 & ~process.Umask));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A network share without file modes controls access itself.
            QueueLog.StrmRightsNotSet(logger, root, e is UnauthorizedAccessException ? "the operation is not permitted" : "the file system does not support them");
        }
    }
}
