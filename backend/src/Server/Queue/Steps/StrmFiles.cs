using System.Text;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue.Steps;

/// <summary>A library file to which a <c>.strm</c> file leads.</summary>
/// <param name="Id">The file.</param>
/// <param name="Path">Its place inside the release, separated by <c>/</c>.</param>
internal readonly record struct StrmTarget(Guid Id, string Path);

/// <summary>
/// Writes <c>.strm</c> files: one line with the address of a file, for media servers that need no mount (IMP-73). A file has its name only
/// when its line is on disk.
/// </summary>
internal sealed class StrmFiles(
    IOptionsMonitor<ImportOptions> import, IOptionsMonitor<ApiOptions> api, IBlobFiles files, ProcessOptions process, SecretBox box, ILogger<StrmFiles> logger)
{
    /// <summary>Whether the settings want any.</summary>
    public bool AreWanted => Roots.Any();

    private IEnumerable<string> Roots
    {
        get
        {
            var options = import.CurrentValue;
            if (options.PublishesStrm)
                yield return options.CompletedFolder;
            if (options.StrmLibrary is { } library)
                yield return library;
        }
    }

    /// <summary>Writes those of a release, in place of any of the same names.</summary>
    /// <param name="category">Name of its category folder.</param>
    /// <param name="release">Name of its own folder.</param>
    /// <param name="media">The files that can be played.</param>
    /// <param name="cancellationToken">Gives up between two files.</param>
    /// <returns>The paths of the files.</returns>
    /// <exception cref="StorageException">
    /// One cannot be written; those before it are there, and are replaced by the next try. Or the key that signs their addresses is locked.
    /// </exception>
    public async Task<IReadOnlyList<string>> WriteAsync(string category, string release, IReadOnlyList<StrmTarget> media, CancellationToken cancellationToken)
    {
        if (api.CurrentValue.StrmKeyIsLocked)
            throw box.Locked();
        var written = new List<string>();
        foreach (var root in Roots)
        {
            var taken = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
            foreach (var target in media)
            {
                var stem = Path.ChangeExtension(target.Path, null);
                // Two films may differ by their extensions alone.
                var path = Path.Combine(root, category, release, (taken.Add(stem) ? stem : target.Path) + CompleteFolder.StrmExtension);
                var folder = new DurableFolder(Path.GetDirectoryName(path)!, files);
                var made = FoldersToMake(Path.GetDirectoryName(path)!);
                folder.Create();
                await folder.SaveAsync(
                    async stream =>
                    {
                        await stream.WriteAsync(Encoding.UTF8.GetBytes(AddressOf(target)), cancellationToken);
                        return Path.GetFileName(path);
                    },
                    cancellationToken);
                Share(root, path, made);
                written.Add(path);
            }
        }

        return written;
    }

    /// <summary>Removes the files of a release that got another name after all; what cannot be removed stays.</summary>
    /// <param name="paths">As <see cref="WriteAsync"/> gave them.</param>
    public void Withdraw(IReadOnlyList<string> paths)
    {
        foreach (var path in paths)
            new DurableFolder(Path.GetDirectoryName(path)!, files).Discard(path);
    }

    private static List<string> FoldersToMake(string folder)
    {
        var missing = new List<string>();
        for (var path = folder; path is not null && !Directory.Exists(path); path = Path.GetDirectoryName(path))
            missing.Add(path);
        return missing;
    }

    /// <summary>Lets the users that <c>UMASK</c> names read a file that is made for other programs, and enter its new folders.</summary>
    /// <param name="root">The folder of the settings, which the log names: what lies in it is content.</param>
    /// <param name="file">The file.</param>
    /// <param name="folders">Its new folders.</param>
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
            // A share without modes decides by itself who may read.
            QueueLog.StrmRightsNotSet(logger, root, e is UnauthorizedAccessException ? "the operation is not permitted" : "they cannot be kept there");
        }
    }

    /// <summary>The line of a file (DAV-82).</summary>
    private string AddressOf(StrmTarget target)
    {
        var path = IdPath.Of(target.Id);
        var extension = Path.GetExtension(target.Path).TrimStart('.');
        return $"{import.CurrentValue.BaseUrl}/view/{path}?downloadKey={ViewKey.Sign(api.CurrentValue.StrmKey, path, null)}&extension={Uri.EscapeDataString(extension)}";
    }
}
