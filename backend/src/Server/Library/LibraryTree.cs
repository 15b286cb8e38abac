using System.Runtime.CompilerServices;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>The virtual tree of <c>/content</c>: categories, releases, folders and files.</summary>
internal sealed class LibraryTree(
    LibraryStore store, CategoryRules categories, ShownFiles shown, RecentFilms recent, BuiltInClip clip, ProviderHost providers, TimeProvider time)
{
    // An empty category shows the startup time as its date, because the date must not change between requests.
    private readonly DateTimeOffset _startedAt = time.WallTime();

    /// <summary>Finds the entry at a path below <c>/content</c>, or null. Empty names mean <c>/content</c>.</summary>
    public async ValueTask<LibraryEntry?> FindAsync(IReadOnlyList<string> names, CancellationToken cancellationToken)
    {
        if (recent.IsOnlySource)
            return new FileEntry(recent.FindByPath(names) ?? throw new DatabaseLostException());
        if (names.Count == 0)
            return new RootEntry(_startedAt);

        var category = PathKey.OfName(names[0]);
        if (category == BuiltInClip.Category)
            return FindClip(names);
        if (names.Count == 1)
            return await FindCategoryAsync(category, cancellationToken);
        var found = await store.FindAsync(category, names[1], [.. names.Skip(2)], cancellationToken);
        return shown.Shows(found) ? found : null;
    }

    /// <summary>Lists the children of a collection by name. A file has no children.</summary>
    public IAsyncEnumerable<LibraryEntry> ListAsync(LibraryEntry collection, CancellationToken cancellationToken) => collection switch
    {
        RootEntry => ListCategoriesAsync(cancellationToken),
        CategoryEntry { Name: BuiltInClip.Category } => AsyncEnumerable.Repeat<LibraryEntry>(new FileEntry(clip.File), ClipIsShown ? 1 : 0),
        CategoryEntry category => store.ListReleasesAsync(category.Name, cancellationToken),
        ReleaseEntry release => store.ListFolderAsync(release.Release, "", cancellationToken).Where(shown.Shows),
        FolderEntry folder => store.ListFolderAsync(folder.Release, folder.Path, cancellationToken).Where(shown.Shows),
        _ => AsyncEnumerable.Empty<LibraryEntry>(),
    };

    public async ValueTask<FileEntry?> FindByIdAsync(Guid id, CancellationToken cancellationToken)
    {
        if (recent.IsOnlySource)
            return new FileEntry(recent.FindById(id) ?? throw new DatabaseLostException());
        if (id == BuiltInClip.FileId)
            return ClipIsShown ? new FileEntry(clip.File) : null;
        return await store.FindByIdAsync(id, cancellationToken) is { } found && shown.Shows(found) ? found : null;
    }

    public async IAsyncEnumerable<FileEntry> ListByIdAsync(string digits, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var film = ClipIsShown && BuiltInClip.FileId.ToString("D").StartsWith(digits, StringComparison.Ordinal) ? new FileEntry(clip.File) : null;
        await foreach (var entry in store.ListByIdAsync(digits, cancellationToken).Where(shown.Shows))
        {
            if (film is not null && film.File.Id.CompareTo(entry.File.Id) < 0)
            {
                yield return film;
                film = null;
            }

            yield return entry;
        }

        if (film is not null)
            yield return film;
    }

    private bool ClipIsShown => !providers.HasProviders;

    private LibraryEntry? FindClip(IReadOnlyList<string> names)
    {
        if (!ClipIsShown)
            return null;
        if (names.Count == 1)
            return new CategoryEntry(BuiltInClip.Category, clip.File.LastModified);
        return names.Count == 2 && PathKey.OfName(names[1]) == clip.File.Name ? new FileEntry(clip.File) : null;
    }

    private async Task<LibraryEntry?> FindCategoryAsync(string name, CancellationToken cancellationToken)
    {
        if (await store.FindNewestAsync(name, cancellationToken) is { } newest)
            return new CategoryEntry(name, newest);
        return categories.Configured.Contains(name) ? new CategoryEntry(name, _startedAt) : null;
    }

    private async IAsyncEnumerable<LibraryEntry> ListCategoriesAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var found = (await store.ListCategoriesAsync(cancellationToken)).ToDictionary(category => category.Name);
        foreach (var name in categories.Configured)
            found.TryAdd(name, new CategoryEntry(name, _startedAt));
        if (ClipIsShown)
            found[BuiltInClip.Category] = new CategoryEntry(BuiltInClip.Category, clip.File.LastModified);

        foreach (var name in found.Keys.Order(StringComparer.Ordinal))
            yield return found[name];
    }
}
