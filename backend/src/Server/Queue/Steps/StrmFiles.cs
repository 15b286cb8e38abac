using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue.Steps;

/// <summary>What a <c>.strm</c> file links to.</summary>
/// <param name="Path">Path inside the release, separated by <c>/</c>.</param>
internal readonly record struct StrmTarget(Guid Id, string Path);

/// <summary>
/// Writes <c>.strm</c> files, which hold a file's URL, for media servers without a mount (IMP-73). A file gets its name once its content is on disk.
/// </summary>
internal sealed class StrmFiles(IOptionsMonitor<ImportOptions> import, StrmLinks links, IBlobFiles files, SecretBox box)
{
    public bool AreWanted => links.Roots.Count > 0;

    /// <summary>
    /// Writes the files of an item and replaces existing ones. In the library, a release has one folder. If an earlier item created that folder, only missing
    /// files are written. Returns the paths of the written files.
    /// </summary>
    /// <exception cref="StorageException">The signing key is locked, or a file cannot be written. Earlier files stay until the next attempt.</exception>
    public async Task<IReadOnlyList<string>> WriteAsync(NamedRelease release, CancellationToken cancellationToken)
    {
        if (links.IsLocked)
            throw box.Locked();
        var options = import.CurrentValue;
        var written = new List<string>();
        if (options.PublishesStrm)
            await WriteFolderAsync(options.CompletedFolder, release.Folder, release, replaces: true, written, cancellationToken);
        if (options.StrmLibrary is { } library)
            await WriteFolderAsync(library, release.Same?.Name ?? release.Folder, release, replaces: release.Same is null, written, cancellationToken);
        return written;
    }

    private async Task WriteFolderAsync(string root, string name, NamedRelease release, bool replaces, List<string> written, CancellationToken cancellationToken)
    {
        var taken = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        foreach (var target in release.Media)
        {
            var stem = Path.ChangeExtension(target.Path, null);
            // Two films may differ only in their extension.
            var path = Path.Combine(root, release.Category, name, (taken.Add(stem) ? stem : target.Path) + CompleteFolder.StrmExtension);
            if (!replaces && File.Exists(path))
                continue;
            await links.WriteAsync(root, path, links.AddressOf(target.Id, target.Path), cancellationToken);
            written.Add(path);
        }
    }

    /// <summary>Deletes the files of a release that was renamed or not published. Files that cannot be deleted stay.</summary>
    /// <param name="paths">Result of <see cref="WriteAsync"/>.</param>
    public void Withdraw(IReadOnlyList<string> paths)
    {
        foreach (var path in paths)
            new DurableFolder(Path.GetDirectoryName(path)!, files).Discard(path);
    }
}
