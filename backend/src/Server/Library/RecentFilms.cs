using Sluice.Server.Auth;
using Sluice.Server.Database;

namespace Sluice.Server.Library;

/// <summary>
/// The files opened last, with all that the database knows about them: they play on in safe mode (DAV-6), when no other file of
/// the library can be found.
/// </summary>
/// <remarks>Thread-safe. Holds <see cref="Most"/> files; their maps are shared with the open streams.</remarks>
internal sealed class RecentFilms(SafeMode safeMode) : IFilmsInMemory
{
    /// <summary>Files held: more than a household plays within an hour.</summary>
    public const int Most = 32;

    private readonly Lock _gate = new();

    // The file opened last is in front.
    private readonly LinkedList<RecentFilm> _films = new();

    /// <summary>Whether files are to be found here and nowhere else.</summary>
    public bool AreAll => safeMode.IsOn;

    /// <summary>Notes that a file was opened.</summary>
    /// <param name="file">The file.</param>
    /// <param name="posted">The posted files that it is made of.</param>
    public void Note(LibraryFile file, IReadOnlyList<StoredPostedFile> posted)
    {
        lock (_gate)
        {
            if (Find(film => film.File.Id == file.Id) is { } known)
                _films.Remove(known);
            else if (_films.Count == Most)
                _films.RemoveLast();
            _films.AddFirst(new RecentFilm(file, posted));
        }
    }

    /// <summary>The file at a path below <c>/content</c>, or null.</summary>
    public LibraryFile? FindByPath(IReadOnlyList<string> names)
    {
        if (names.Count < 3)
            return null;
        var (category, release, inner) = (PathKey.OfName(names[0]), PathKey.OfName(names[1]), PathKey.OfNames(names.Skip(2)));
        lock (_gate)
        {
            return Find(film => film.File.Release.Category == category && film.File.Release.Name == release
                && PathKey.OfPath(film.File.Path) == inner)?.Value.File;
        }
    }

    /// <summary>The file of an id, or null.</summary>
    public LibraryFile? FindById(Guid id)
    {
        lock (_gate)
            return Find(film => film.File.Id == id)?.Value.File;
    }

    /// <summary>The posted files that a file is made of, or null.</summary>
    public IReadOnlyList<StoredPostedFile>? FindPosted(LibraryFile file)
    {
        lock (_gate)
            return Find(film => film.File.Id == file.Id && film.File.ETag == file.ETag)?.Value.Posted;
    }

    /// <inheritdoc/>
    public bool Hold(string[] names) => names switch
    {
        ["content", .. var path] => FindByPath(path) is not null,
        [".ids", .., var id] => Guid.TryParseExact(id, "D", out var guid) && FindById(guid) is not null,
        _ => false,
    };

    private LinkedListNode<RecentFilm>? Find(Func<RecentFilm, bool> wanted)
    {
        for (var node = _films.First; node is not null; node = node.Next)
        {
            if (wanted(node.Value))
                return node;
        }

        return null;
    }

    private sealed record RecentFilm(LibraryFile File, IReadOnlyList<StoredPostedFile> Posted);
}
