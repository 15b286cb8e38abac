using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Library;

/// <summary>A search for files.</summary>
/// <param name="Words">Folded words (<see cref="SearchText"/>) that must all occur in the release name or file path.</param>
/// <param name="Category">A category folder; null for all.</param>
/// <param name="ReleaseId">Row number of a release; null for all.</param>
/// <param name="Folder">A folder in the release; empty for all.</param>
internal sealed record FileSearch(IReadOnlyList<string> Words, string? Category, long? ReleaseId, string Folder);

/// <summary>Stored facts about a file of a release. Each is null if unknown.</summary>
internal sealed record FilmFacts(ReleaseFacts? Release, MediaFacts? Media, WatchPosition? Position, NextEpisode? Next)
{
    /// <summary>The facts about the built-in clip, for which nothing is stored.</summary>
    public static readonly FilmFacts None = new(null, null, null, null);
}

/// <summary>Reads pages of releases and files for the UI, and searches files.</summary>
internal sealed class FileListStore(SluiceDatabase database)
{
    public Task<RowPage<ListedEntry>> ListReleasesAsync(string category, ListOrder order, RowPlace? after, int limit, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var query = new ListQuery("folded", []);
                query.Add("category = @category", ("@category", category));
                var page = query.Read(connection, "release", OrderOf(order, "folded", "published_at", "bytes", "id"), after, limit);
                var rows = connection.Query<ReleaseListRow>(
                    $"""
                    SELECT r.id AS Id, r.category AS Category, r.name AS Name, r.bytes AS Bytes, r.published_at AS PublishedAt, {FactsRow.Columns},
                      (SELECT count(*) FROM library_file f WHERE f.release_id = r.id) AS Files,
                      {LargestSql} AS Largest
                    FROM release r WHERE {SqlDialect.In("r.id", "@list")}
                    """,
                    new { list = ListOf(page) }).ToDictionary(row => row.Id);
                return WithFilms(connection, page.Of(row => rows[row.Number].Read(row.Place)));
            },
            cancellationToken);

    /// <summary>Returns a page of matching files, starting after <paramref name="after"/>, or at the beginning if null.</summary>
    public Task<RowPage<ListedEntry>> SearchAsync(
        FileSearch search, bool withPar2, ListOrder order, RowPlace? after, int limit, CancellationToken cancellationToken)
    {
        var (query, table, by) = Plan(search, withPar2, order);
        return database.ReadAsync(
            connection =>
            {
                var page = query.Read(connection, table, by, after, limit);
                var rows = connection.Query<FileListRow>(
                    $"""
                    SELECT f.{SqlDialect.RowNumber} AS Number, f.id AS FileId, r.category AS Category, r.name AS Release, f.path_key AS PathKey,
                      f.length AS Length, r.published_at AS PublishedAt, {FactsRow.Columns}
                    FROM library_file f JOIN release r ON r.id = f.release_id WHERE {SqlDialect.In($"f.{SqlDialect.RowNumber}", "@list")}
                    """,
                    new { list = ListOf(page) }).ToDictionary(row => row.Number);
                return WithFilms(connection, page.Of(row => rows[row.Number].Read(row.Place)));
            },
            cancellationToken);
    }

    /// <summary>Plans a search: its conditions, its table with an index, and its order.</summary>
    internal static (ListQuery List, string Table, RowOrder Order) Plan(FileSearch search, bool withPar2, ListOrder order)
    {
        var query = new ListQuery("f.folded", search.Words);
        // The extension is the last word of the folded text.
        if (!withPar2)
            query.Add("f.folded NOT LIKE '% par2'");
        if (search.Category is { } category)
            query.Add("f.category = @category", ("@category", category));
        if (search.ReleaseId is { } release)
            query.Add("f.release_id = @release", ("@release", release));
        if (PathKey.OfPath(search.Folder) is { Length: > 0 } folder)
            query.Add("f.path_key > @inside AND f.path_key < @behind", ("@inside", folder + PathKey.Separator), ("@behind", folder + PathKey.Behind));
        var by = OrderOf(order, "f.folded", "f.published_at", "f.length", $"f.{SqlDialect.RowNumber}");
        // For a single release, the planner finds the right index. Otherwise force the search index, because the planner may pick the wrong one.
        return (query, search.ReleaseId is null ? $"library_file f {SqlDialect.IndexedBy("library_file_search")}" : "library_file f", by);
    }

    /// <summary>Returns the number and total bytes of the releases of a category.</summary>
    public Task<CategoryTotal> CountAsync(string category, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QuerySingle<CategoryTotal>(
                "SELECT count(*) AS Releases, coalesce(sum(bytes), 0) AS Bytes FROM release WHERE category = @category", new { category }),
            cancellationToken);

    /// <summary>Adds media facts and watch positions to entries that are files, or releases with a single film.</summary>
    public Task<List<ListedEntry>> WithFilmsAsync(IReadOnlyList<ListedEntry> entries, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => WithFilms(connection, entries), cancellationToken);

    /// <summary>Returns everything that is stored about a file of a release.</summary>
    public Task<FilmFacts> FindFilmAsync(LibraryFile file, CancellationToken cancellationToken) => database.ReadAsync(
        connection =>
        {
            var facts = TitleStore.Find(connection, [file.Release.Id]).GetValueOrDefault(file.Release.Id);
            return new FilmFacts(
                facts,
                MediaStore.Find(connection, [file.Id]).GetValueOrDefault(file.Id),
                PositionStore.Find(connection, [file.Id]).GetValueOrDefault(file.Id),
                facts is null ? null : NextEpisode.Find(connection, file, facts));
        },
        cancellationToken);

    public Task<ReleaseFacts?> FindFactsAsync(Release release, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => TitleStore.Find(connection, [release.Id]).GetValueOrDefault(release.Id), cancellationToken);

    /// <summary>Returns all files of a release, or of one folder in it, with path inside the release, id and length.</summary>
    public Task<List<(string Path, Guid Id, long Length)>> GetFilesAsync(Release release, string folder, CancellationToken cancellationToken)
    {
        var key = PathKey.OfPath(folder);
        return database.ReadAsync(
            connection => connection.Query<InnerFileRow>(
                    """
                    SELECT path_key AS PathKey, id AS Id, length AS Length FROM library_file
                    WHERE release_id = @Id AND (@key = '' OR path_key > @inside AND path_key < @behind)
                    """,
                    new { release.Id, key, inside = key + PathKey.Separator, behind = key + PathKey.Behind })
                .Select(row => (PathKey.ToPath(row.PathKey), Guid.Parse(row.Id), row.Length))
                .ToList(),
            cancellationToken);
    }

    public Task<long> CountReleasesAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(*) FROM release"), cancellationToken);

    /// <summary>SQL for id and path of the file that makes up more than half of release <c>r</c>; null if no file does.</summary>
    internal const string LargestSql = "(SELECT f.id || f.path_key FROM library_file f WHERE f.release_id = r.id AND f.length * 2 > r.bytes LIMIT 1)";

    /// <summary>Returns the film of a release, found by <see cref="LargestSql"/>. Null for an episode pack or if the file is not a video.</summary>
    internal static Guid? FilmOf(ReleaseFacts facts, string? largest)
    {
        const int idLength = 36;
        if (largest is null || facts.Title is { Season: not null, Episodes: null })
            return null;
        var kind = MediaSignature.KindOf(NameJudge.ExtensionOf(largest[idLength..]));
        return MediaSignature.CategoryOf(kind) == MediaCategory.Video ? Guid.Parse(largest[..idLength]) : null;
    }

    private static RowPage<ListedEntry> WithFilms(DbConnection connection, RowPage<ListedEntry> page) =>
        new(WithFilms(connection, page.Items), page.Next, page.Total);

    private static List<ListedEntry> WithFilms(DbConnection connection, IReadOnlyList<ListedEntry> entries)
    {
        List<Guid> films = [.. entries.Select(entry => entry.FileId ?? entry.FilmId).OfType<Guid>()];
        var (media, positions) = (MediaStore.Find(connection, films), PositionStore.Find(connection, films));
        return
        [
            .. entries.Select(entry => (entry.FileId ?? entry.FilmId) is { } id
                ? entry with { Media = media.GetValueOrDefault(id), Position = positions.GetValueOrDefault(id) }
                : entry),
        ];
    }

    private static string ListOf(RowPage<PlacedRow> page) => SqlDialect.List(page.Items.Select(row => row.Number).ToList());

    private static RowOrder OrderOf(ListOrder order, string folded, string published, string bytes, string row) => order switch
    {
        ListOrder.Newest => RowOrder.ByRank(published, row, descends: true),
        ListOrder.Size => RowOrder.ByRank(bytes, row, descends: true),
        _ => RowOrder.ByText(folded, row),
    };

    internal sealed record ReleaseListRow : FactsRow
    {
        public required string Category { get; init; }
        public required string Name { get; init; }
        public long Bytes { get; init; }
        public long PublishedAt { get; init; }

        public long Files { get; init; }

        /// <summary>Id and path of the film candidate (<see cref="LargestSql"/>), concatenated; null if there is none.</summary>
        public string? Largest { get; init; }

        public ListedEntry Read(RowPlace place)
        {
            var facts = ReadFacts();
            return new ListedEntry($"{Category}/{Name}", null, Bytes, StoredTime.Read(PublishedAt), place) { Facts = facts, Count = Files, FilmId = FilmOf(facts, Largest) };
        }
    }

    internal sealed record FileListRow : FactsRow
    {
        public long Number { get; init; }
        public required string FileId { get; init; }
        public required string Category { get; init; }
        public required string Release { get; init; }
        public required string PathKey { get; init; }
        public long Length { get; init; }
        public long PublishedAt { get; init; }

        public ListedEntry Read(RowPlace place) =>
            new($"{Category}/{Release}/{Library.PathKey.ToPath(PathKey)}", Guid.Parse(FileId), Length, StoredTime.Read(PublishedAt), place) { Facts = ReadFacts() };
    }

    internal sealed record CategoryTotal(long Releases, long Bytes);

    internal sealed record InnerFileRow(string PathKey, string Id, long Length);
}
