using Sluice.Server.Auth;
using Sluice.Server.Database;

namespace Sluice.Server.Library;

/// <summary>The most recently opened files with their maps, so that they still play in safe mode without the database (DAV-6).</summary>
/// <remarks>Thread-safe. Holds <see cref="Most"/> files; open streams share their maps.</remarks>
internal sealed class RecentFilms(SafeMode safeMode) : IFilmsInMemory
{
    /// <summary>Maximum number of files; a household opens fewer in an hour.</summary>
    public const int Most = 32;

    private readonly Lock _gate = new();

    // Most recently opened first.
    private readonly LinkedList<RecentFilm> _films = new();

    /// <summary>Whether safe mode is on, so that only these files can be found.</summary>
    public bool IsOnlySource => safeMode.IsOn;

    /// <summary>Records an opened file and its posted files.</summary>
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

    /// <summary>Finds the file at a path below <c>/content</c>, or null.</summary>
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

    public LibraryFile? FindById(Guid id)
    {
        lock (_gate)
            return Find(film => film.File.Id == id)?.Value.File;
    }

    public IReadOnlyList<StoredPostedFile>? FindPosted(LibraryFile file)
    {
        lock (_gate)
            return Find(film => film.File.Id == file.Id && film.File.ETag == file.ETag && film.File.Content.Span.SequenceEqual(file.Content.Span))?.Value.Posted;
    }

    public bool Contains(string[] names) => names switch
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
