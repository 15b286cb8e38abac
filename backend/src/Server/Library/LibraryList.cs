using Sluice.Server.Database;

namespace Sluice.Server.Library;

/// <summary>Sort orders of lists in the UI.</summary>
internal enum ListOrder
{
    /// <summary>By folded name.</summary>
    Name,

    Newest,
    Size,
}

/// <summary>An entry of a list.</summary>
/// <param name="Path">Path below <c>/content</c>.</param>
/// <param name="FileId">Id of a file; null for a folder.</param>
/// <param name="Bytes">Length of a file, or total length of the files below a folder; null if not counted.</param>
/// <param name="LastModified">Publish time.</param>
/// <param name="Place">Position in the list, for paging.</param>
internal sealed record ListedEntry(string Path, Guid? FileId, long? Bytes, DateTimeOffset LastModified, RowPlace Place)
{
    /// <summary>Facts about the entry's release; null for categories and for the built-in clip.</summary>
    public ReleaseFacts? Facts { get; init; }

    /// <summary>Media facts of the file, or of a release's single film; null if its header has not been read.</summary>
    public MediaFacts? Media { get; init; }

    /// <summary>Where a viewer stopped watching the file or the single film of a release; null if unknown.</summary>
    public WatchPosition? Position { get; init; }

    /// <summary>Number of files below a folder, or of releases in a category. Null for a file, or if not counted.</summary>
    public long? Count { get; init; }

    /// <summary>Id of the single film of a release; null if it has no film or several.</summary>
    public Guid? FilmId { get; init; }

    public string Name => Path[(Path.LastIndexOf('/') + 1)..];
}

/// <summary>Sorts, pages and searches <see cref="LibraryTree"/>.</summary>
internal sealed class LibraryList(FileListStore store, LibraryTree tree, ShownFiles shown)
{
    private static readonly RowPlace None = new(0, "", 0);

    /// <summary>
    /// Returns a page of a folder below <c>/content</c>, starting after <paramref name="after"/>, or at the beginning if null. Empty names list the categories.
    /// Null if the path is not a folder.
    /// </summary>
    public async Task<RowPage<ListedEntry>?> ListAsync(
        IReadOnlyList<string> names, ListOrder order, RowPlace? after, int limit, CancellationToken cancellationToken)
    {
        switch (await tree.FindAsync(names, cancellationToken))
        {
            case CategoryEntry { Name: not BuiltInClip.Category } category:
                return await store.ListReleasesAsync(category.Name, order, after, limit, cancellationToken);
            case ReleaseEntry release:
                return Page(await ChildrenAsync(release.Release, "", cancellationToken), order, after, limit);
            case FolderEntry folder:
                return Page(await ChildrenAsync(folder.Release, folder.Path, cancellationToken), order, after, limit);
            case (RootEntry or CategoryEntry) and { } few:
                var entries = await tree.ListAsync(few, cancellationToken).Select(entry => Show(few.Name, entry)).ToListAsync(cancellationToken);
                if (few is RootEntry)
                    await CountAsync(entries, cancellationToken);
                return Page(entries, order, after, limit);
            default:
                return null;
        }
    }

    /// <summary>
    /// Returns a page of the files below a folder whose release name or path contains all words. Excludes the built-in clip. Null if the path is no folder.
    /// </summary>
    public async Task<RowPage<ListedEntry>?> SearchAsync(
        IReadOnlyList<string> names, IReadOnlyList<string> words, ListOrder order, RowPlace? after, int limit, CancellationToken cancellationToken)
    {
        var search = await tree.FindAsync(names, cancellationToken) switch
        {
            RootEntry => new FileSearch(words, null, null, ""),
            CategoryEntry category => new FileSearch(words, category.Name, null, ""),
            ReleaseEntry release => new FileSearch(words, null, release.Release.Id, ""),
            FolderEntry folder => new FileSearch(words, null, folder.Release.Id, folder.Path),
            _ => null,
        };
        return search is null ? null : await store.SearchAsync(search, shown.HavePar2, order, after, limit, cancellationToken);
    }

    private static ListedEntry Show(string folder, LibraryEntry entry)
    {
        var file = (entry as FileEntry)?.File;
        return new ListedEntry(folder.Length == 0 ? entry.Name : $"{folder}/{entry.Name}", file?.Id, file?.Length, entry.LastModified, None);
    }

    private async Task CountAsync(List<ListedEntry> categories, CancellationToken cancellationToken)
    {
        for (var i = 0; i < categories.Count; i++)
        {
            if (categories[i].Name == BuiltInClip.Category)
                continue;
            var total = await store.CountAsync(categories[i].Name, cancellationToken);
            categories[i] = categories[i] with { Count = total.Releases, Bytes = total.Bytes };
        }
    }

    private async Task<List<ListedEntry>> ChildrenAsync(Release release, string folder, CancellationToken cancellationToken)
    {
        var children = new Dictionary<string, ListedEntry>();
        var start = folder.Length == 0 ? 0 : folder.Length + 1;
        var facts = await store.FindFactsAsync(release, cancellationToken);
        var files = await store.GetFilesAsync(release, folder, cancellationToken);
        foreach (var (path, id, length) in files)
        {
            if (ShownFiles.IsPar2(path) && !shown.HavePar2)
                continue;
            var end = path.IndexOf('/', start);
            var inner = end < 0 ? path : path[..end];
            var known = children.GetValueOrDefault(inner);
            children[inner] = new ListedEntry(
                $"{release.Category}/{release.Name}/{inner}", end < 0 ? id : null, (known?.Bytes ?? 0) + length, release.PublishedAt, None)
            {
                Facts = facts,
                Count = end < 0 ? null : (known?.Count ?? 0) + 1,
            };
        }

        return await store.WithFilmsAsync([.. children.Values], cancellationToken);
    }

    private static RowPage<ListedEntry> Page(List<ListedEntry> entries, ListOrder order, RowPlace? after, int limit)
    {
        var sorted = entries
            .Select(entry => entry with { Place = PlaceOf(entry, order) })
            .OrderBy(entry => entry.Place.Rank)
            .ThenBy(entry => entry.Place.Text, StringComparer.Ordinal)
            .ToList();
        var rest = sorted.Where(entry => IsBehind(entry.Place)).Take(limit + 1).ToList();
        return rest.Count > limit ? new(rest[..limit], rest[limit - 1].Place, sorted.Count) : new(rest, null, sorted.Count);

        bool IsBehind(RowPlace place) => after is not { } last
            || place.Rank > last.Rank
            || (place.Rank == last.Rank && string.CompareOrdinal(place.Text, last.Text) > 0);
    }

    private static RowPlace PlaceOf(ListedEntry entry, ListOrder order)
    {
        var rank = order switch
        {
            ListOrder.Newest => -entry.LastModified.ToUnixTimeMilliseconds(),
            ListOrder.Size => -(entry.Bytes ?? 0),
            _ => 0,
        };
        // Append the name as a tie-breaker, because different names may fold to the same text.
        return new RowPlace(rank, $"{SearchText.Fold(entry.Name)}\n{entry.Name}", 0);
    }
}
