using System.Runtime.CompilerServices;
using System.Text;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/completed-symlinks</c>: completed imports as links to <c>/.ids</c>. Importing programs move these links, never the files.</summary>
internal sealed class LinkBranch(
    CompletedStore completed,
    LibraryTree library,
    ShownFiles shown,
    CategoryRules categories,
    HiddenLinks hidden,
    ContentBranch content,
    CompleteFolder complete,
    ProbeFolder probe,
    TimeProvider time)
{
    private readonly DateTimeOffset _since = time.WallTime();

    public LinkFolder Root => new(new RootEntry(_since), this);

    public async ValueTask<IStoreItem?> FindAsync(IReadOnlyList<string> names, CancellationToken cancellationToken)
    {
        if (names.Count == 0)
            return Root;
        var entry = names.Count == 1
            ? await FindCategoryAsync(names[0], cancellationToken)
            : await FindInReleaseAsync(names, cancellationToken);
        return entry is null ? null : Show(entry);
    }

    /// <summary>Lists the visible children of a folder by name.</summary>
    public IAsyncEnumerable<IStoreItem> ListAsync(LibraryEntry folder, CancellationToken cancellationToken) => folder switch
    {
        RootEntry => ListCategoriesAsync(cancellationToken),
        CategoryEntry category => StoreGuard.ReadAsync(completed.ListReleasesAsync(category.Name, cancellationToken), cancellationToken).Select(Show),
        ReleaseEntry or FolderEntry => ListLinksAsync(folder, cancellationToken),
        _ => AsyncEnumerable.Empty<IStoreItem>(),
    };

    /// <summary>Archives the history item of a release, or temporarily hides a link or folder inside a release (DAV-42).</summary>
    public async ValueTask<StoreAnswer> DeleteAsync(LibraryEntry folder, string name, CancellationToken cancellationToken)
    {
        switch (folder)
        {
            case CategoryEntry category:
                var found = await FindInReleaseAsync([category.Name, name], cancellationToken);
                return found is ReleaseEntry item && await StoreGuard.RunAsync(() => completed.ArchiveAsync(item.Release, cancellationToken))
                    ? StoreAnswer.Done
                    : StoreAnswer.NotFound;
            case ReleaseEntry release:
                return await TakeAsync(release.Release, name, cancellationToken);
            case FolderEntry inner:
                return await TakeAsync(inner.Release, $"{inner.Path}/{name}", cancellationToken);
            default:
                return StoreAnswer.Forbidden;
        }
    }

    /// <summary>Hides a link or folder after a program has imported it.</summary>
    private async ValueTask<StoreAnswer> TakeAsync(Release release, string path, CancellationToken cancellationToken)
    {
        await StoreGuard.RunAsync(async () =>
        {
            await completed.TakeAsync(release, cancellationToken);
            return true;
        });
        hidden.Hide(release, path);
        return StoreAnswer.Done;
    }

    /// <summary>Whether the folder was recently deleted.</summary>
    public bool IsHidden(FolderEntry folder) => hidden.Contains(folder.Release, folder.Path);

    /// <inheritdoc cref="ContentBranch.GetUsedBytesAsync" />
    public ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken) => content.GetUsedBytesAsync(cancellationToken);

    private async Task<LibraryEntry?> FindCategoryAsync(string name, CancellationToken cancellationToken)
    {
        var newest = await StoreGuard.RunAsync(() => completed.FindNewestAsync(name, cancellationToken));
        return newest is not null || categories.Configured.Contains(name) ? new CategoryEntry(name, newest ?? _since) : null;
    }

    private async Task<LibraryEntry?> FindInReleaseAsync(IReadOnlyList<string> names, CancellationToken cancellationToken)
    {
        string[] inner = [.. names.Skip(2)];
        string[]? file = inner.Length > 0 && inner[^1].EndsWith(LinkFile.Extension, StringComparison.Ordinal)
            ? [.. inner[..^1], inner[^1][..^LinkFile.Extension.Length]]
            : null;
        var found = await StoreGuard.RunAsync(() => completed.FindAsync(names[0], names[1], inner, file, cancellationToken));
        return shown.Shows(found) ? found : null;
    }

    private async IAsyncEnumerable<IStoreItem> ListCategoriesAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var used = await StoreGuard.RunAsync(() => completed.ListCategoriesAsync(cancellationToken));
        var all = used.ToDictionary(category => category.Name);
        foreach (var name in categories.Configured)
            all.TryAdd(name, new CategoryEntry(name, _since));
        foreach (var item in all.Values.Select(Show).Append(probe).OrderBy(item => item.Name, StringComparer.Ordinal))
            yield return item;
    }

    /// <summary>Lists a folder's links by name. The added extension can change the order, so each link waits until no later name can precede it.</summary>
    private async IAsyncEnumerable<IStoreItem> ListLinksAsync(LibraryEntry folder, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var waiting = new PriorityQueue<IStoreItem, string>(StringComparer.Ordinal);
        await foreach (var entry in StoreGuard.ReadAsync(library.ListAsync(folder, cancellationToken), cancellationToken))
        {
            while (waiting.TryPeek(out _, out var name) && string.CompareOrdinal(name, entry.Name) < 0)
                yield return waiting.Dequeue();
            var item = Show(entry);
            if (!item.IsHidden && !TreeNames.IsLitter(item.Name))
                waiting.Enqueue(item, item.Name);
        }

        while (waiting.TryDequeue(out var rest, out _))
            yield return rest;
    }

    private IStoreItem Show(LibraryEntry entry)
    {
        if (entry is not FileEntry { File: { } file })
            return new LinkFolder(entry, this);
        var target = $"{complete.Mount}/{IdPath.Of(file.Id)}";
        var isHidden = hidden.Contains(file.Release, file.Path + LinkFile.Extension);
        return LinkFile.Of(file.Name + LinkFile.Extension, target, file.LastModified, isHidden);
    }
}

internal sealed class LinkFolder(LibraryEntry entry, LinkBranch branch)
    : TreeFolder(entry is RootEntry ? TreeNames.Links : entry.Name, entry.LastModified, branch.GetUsedBytesAsync)
{
    public override bool IsHidden => entry is FolderEntry folder && branch.IsHidden(folder);

    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken) => branch.ListAsync(entry, cancellationToken);

    public override ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken cancellationToken) =>
        branch.DeleteAsync(entry, name, cancellationToken);
}

/// <summary>A text file that rclone shows as a link (DAV-10). Only an id and a setting make up the target, so content cannot influence it (S22).</summary>
internal static class LinkFile
{
    public const string Extension = ".rclonelink";

    /// <summary>Creates the link to a file. <paramref name="published"/> is when the file's release became visible.</summary>
    public static SmallFile Of(string name, string target, DateTimeOffset published, bool isHidden) =>
        new(name, Encoding.UTF8.GetBytes(target), published) { IsHidden = isHidden, ContentType = ContentTypes.ForName(name) };
}
