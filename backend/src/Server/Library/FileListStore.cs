using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Library;

/// <summary>What is searched for, and where.</summary>
/// <param name="Words">Folded words (<see cref="SearchText"/>), all of which have to be in the name of the release or the path of the file.</param>
/// <param name="Category">A category folder; null for all.</param>
/// <param name="ReleaseId">A release; null for all.</param>
/// <param name="Folder">A folder in it; empty for all of it.</param>
internal sealed record FileSearch(IReadOnlyList<string> Words, string? Category, long? ReleaseId, string Folder);

/// <summary>Reads lists of releases and files for people: sorted, in pages, and searched.</summary>
internal sealed class FileListStore(SluiceDatabase database)
{
    /// <summary>A page of the releases of a category folder.</summary>
    public Task<RowPage<ListedEntry>> ListReleasesAsync(string category, ListOrder order, RowPlace? after, int limit, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var sorting = Sorting(order, "folded", "published_at", "bytes", "id");
                var rows = connection.Query<ReleaseListRow>(
                    $"""
                    SELECT id AS Id, category AS Category, name AS Name, bytes AS Bytes, published_at AS PublishedAt, folded AS Folded FROM release
                    WHERE category = @category {(after is null ? "" : "AND " + sorting.Behind)} ORDER BY {sorting.By} LIMIT @most
                    """,
                    new { category, rank = after?.Rank ?? 0, text = after?.Text ?? "", row = after?.Row ?? 0, most = limit + 1 });
                var total = connection.ExecuteScalar<long>("SELECT count(*) FROM release WHERE category = @category", new { category });
                return PageOf([.. rows.Select(row => row.Read(order))], limit, total);
            },
            cancellationToken);

    /// <summary>A page of the files that are searched for.</summary>
    /// <param name="search">What is searched for.</param>
    /// <param name="withPar2">Whether PAR2 files count.</param>
    /// <param name="order">The order.</param>
    /// <param name="after">Files behind this place; null from the first on.</param>
    /// <param name="limit">How many at most.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    public Task<RowPage<ListedEntry>> SearchAsync(
        FileSearch search, bool withPar2, ListOrder order, RowPlace? after, int limit, CancellationToken cancellationToken)
    {
        var filter = new SqlFilter();
        foreach (var term in SqlDialect.ContainsWords("f.folded", search.Words.Count))
            filter.Add(term);
        // Folded, the extension is the last word.
        if (!withPar2)
            filter.Add("f.folded NOT LIKE '% par2'");
        if (search.Category is not null)
            filter.Add("f.release_id IN (SELECT id FROM release WHERE category = @category)");
        if (search.ReleaseId is not null)
            filter.Add("f.release_id = @release");
        if (search.Folder.Length > 0)
            filter.Add("f.path_key > @inside AND f.path_key < @behind");
        var all = filter.Where;
        var sorting = Sorting(order, "f.folded", "r.published_at", "f.length", $"f.{SqlDialect.RowNumber}");
        if (after is not null)
            filter.Add(sorting.Behind);
        var place = after ?? new RowPlace(0, "", 0);
        var folder = PathKey.OfPath(search.Folder);
        string Word(int index) => index < search.Words.Count ? search.Words[index] : "";
        var values = new
        {
            word0 = Word(0),
            word1 = Word(1),
            word2 = Word(2),
            word3 = Word(3),
            word4 = Word(4),
            word5 = Word(5),
            word6 = Word(6),
            word7 = Word(7),
            category = search.Category,
            release = search.ReleaseId ?? 0,
            inside = folder + PathKey.Separator,
            behind = folder + PathKey.Behind,
            rank = place.Rank,
            text = place.Text,
            row = place.Row,
            most = limit + 1,
        };
        // The inner query reads the index of the search alone; only the rows of the page are then read whole.
        var release = order == ListOrder.Newest ? "JOIN release r ON r.id = f.release_id" : "";
        return database.ReadAsync(
            connection =>
            {
                var rows = connection.Query<FileListRow>(
                    $"""
                    SELECT f.{SqlDialect.RowNumber} AS Number, f.id AS Id, r.category AS Category, r.name AS Release, f.path_key AS PathKey,
                      f.length AS Length, r.published_at AS PublishedAt, f.folded AS Folded
                    FROM (SELECT f.{SqlDialect.RowNumber} AS number FROM library_file f {release} {filter.Where} ORDER BY {sorting.By} LIMIT @most) found
                    JOIN library_file f ON f.{SqlDialect.RowNumber} = found.number JOIN release r ON r.id = f.release_id ORDER BY {sorting.By}
                    """,
                    values);
                var total = connection.ExecuteScalar<long>($"SELECT count(*) FROM library_file f {all}", values);
                return PageOf([.. rows.Select(row => row.Read(order))], limit, total);
            },
            cancellationToken);
    }

    /// <summary>All files of a release, or of a folder in it: path inside the release, id and length.</summary>
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

    /// <summary>Releases of the whole library.</summary>
    public Task<long> CountReleasesAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(*) FROM release"), cancellationToken);

    /// <summary>A page of what was read with one entry more than it may have.</summary>
    internal static RowPage<ListedEntry> PageOf(List<ListedEntry> read, int limit, long total) =>
        read.Count > limit ? new(read[..limit], read[limit - 1].Place, total) : new(read, null, total);

    /// <summary>The order, and what stands behind a place in it.</summary>
    private static (string By, string Behind) Sorting(ListOrder order, string folded, string published, string bytes, string row) => order switch
    {
        ListOrder.Newest => ($"{published} DESC, {row} DESC", $"({published}, {row}) < (@rank, @row)"),
        ListOrder.Size => ($"{bytes} DESC, {row} DESC", $"({bytes}, {row}) < (@rank, @row)"),
        _ => ($"{folded}, {row}", $"({folded}, {row}) > (@text, @row)"),
    };

    private static RowPlace PlaceOf(ListOrder order, string folded, long published, long bytes, long row) => order switch
    {
        ListOrder.Newest => new RowPlace(published, "", row),
        ListOrder.Size => new RowPlace(bytes, "", row),
        _ => new RowPlace(0, folded, row),
    };

    internal sealed record ReleaseListRow
    {
        public long Id { get; init; }
        public required string Category { get; init; }
        public required string Name { get; init; }
        public long Bytes { get; init; }
        public long PublishedAt { get; init; }
        public required string Folded { get; init; }

        public ListedEntry Read(ListOrder order) =>
            new($"{Category}/{Name}", null, Bytes, StoredTime.Read(PublishedAt), PlaceOf(order, Folded, PublishedAt, Bytes, Id));
    }

    internal sealed record FileListRow
    {
        public long Number { get; init; }
        public required string Id { get; init; }
        public required string Category { get; init; }
        public required string Release { get; init; }
        public required string PathKey { get; init; }
        public long Length { get; init; }
        public long PublishedAt { get; init; }
        public required string Folded { get; init; }

        public ListedEntry Read(ListOrder order) => new(
            $"{Category}/{Release}/{Library.PathKey.ToPath(PathKey)}", Guid.Parse(Id), Length, StoredTime.Read(PublishedAt),
            PlaceOf(order, Folded, PublishedAt, Length, Number));
    }

    internal sealed record InnerFileRow(string PathKey, string Id, long Length);
}
