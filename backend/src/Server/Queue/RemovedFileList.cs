using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;

namespace Sluice.Server.Queue;

/// <summary>A release, or a part of one, that was removed and can be restored.</summary>
/// <param name="Number">Number for <see cref="FileRemoval.ReturnAsync(IReadOnlyCollection{long}, CancellationToken)"/>.</param>
/// <param name="Path">Path inside the release if only one file is removed; null if several files or the whole release are removed.</param>
/// <param name="IsWhole">Whether no file of the release is left in the library.</param>
internal sealed record RemovedItem(
    long Number, string Category, string Name, string? Path, bool IsWhole, long Files, long Bytes, DateTimeOffset RemovedAt, DateTimeOffset KeptUntil);

/// <summary>Reads the list of removed files, and finds the files that a user has chosen.</summary>
internal sealed class RemovedFileList(SluiceDatabase database)
{
    /// <summary>Returns a page of the removed items, newest first.</summary>
    /// <param name="words">Folded words that must all occur in the name.</param>
    public Task<RowPage<RemovedItem>> ReadAsync(IReadOnlyList<string> words, RowPlace? after, int limit, DateTimeOffset now, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var query = new ListQuery("folded", words);
                query.Add("closed = 0");
                var page = query.Read(connection, "removed_item", RowOrder.ByRow("number", descends: true), after, limit);
                var rows = connection.Query<ItemRow>(
                    $"""
                    SELECT i.number AS Number, i.category AS Category, i.name AS Name, i.path_key AS PathKey, i.files AS Files, i.bytes AS Bytes,
                      l.removed_at AS RemovedAt, l.kept_ms AS KeptMs, EXISTS (SELECT 1 FROM removed_release r WHERE r.id = i.release_id) AS IsWhole
                    FROM removed_item i JOIN library_removal l ON l.number = i.removal WHERE {SqlDialect.In("i.number", "@list")}
                    """,
                    new { list = SqlDialect.List(page.Items.Select(row => row.Number).ToList()) }).ToDictionary(row => row.Number);
                return page.Of(row => rows[row.Number].Read(now));
            },
            cancellationToken);

    /// <summary>Finds files by their ids. Unknown ids are skipped.</summary>
    public Task<FileChoice> FindAsync(IReadOnlyCollection<Guid> ids, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => new FileChoice([], [.. connection.Query<long>(
                $"SELECT {SqlDialect.RowNumber} FROM library_file WHERE {SqlDialect.In("id", "@list")}", new { list = SqlDialect.List([.. ids.Select(id => id.ToString("D"))]) })]),
            cancellationToken);

    /// <summary>Finds everything at and below paths inside <c>/content</c>. Unknown paths are skipped.</summary>
    public Task<FileChoice> FindAsync(IReadOnlyCollection<string> paths, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var (releases, files) = (new HashSet<long>(), new HashSet<long>());
                foreach (var path in paths)
                    Find(connection, path.Split('/', StringSplitOptions.RemoveEmptyEntries), releases, files);
                return new FileChoice(releases, files);
            },
            cancellationToken);

    /// <summary>Finds the releases of history items by their row numbers.</summary>
    public Task<FileChoice> FindOfHistoryAsync(IReadOnlyCollection<long> numbers, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => new FileChoice([.. connection.Query<long>(
                $"SELECT DISTINCT release_id FROM history_item WHERE {SqlDialect.In("number", "@list")} AND release_id IS NOT NULL", new { list = SqlDialect.List(numbers) })], []),
            cancellationToken);

    /// <summary>Counts the files, bytes and releases of a choice.</summary>
    /// <param name="items">Maximum history item ids to return, newest first.</param>
    public Task<ChosenFiles> CountAsync(FileChoice choice, int items, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var values = new { releases = SqlDialect.List(choice.Releases), files = SqlDialect.List(choice.Files), items };
                var chosen = $"{SqlDialect.In("f.release_id", "@releases")} OR {SqlDialect.In($"f.{SqlDialect.RowNumber}", "@files")}";
                var total = connection.QuerySingle<TotalRow>(
                    $"SELECT count(*) AS Files, coalesce(sum(f.length), 0) AS Bytes, count(DISTINCT f.release_id) AS Releases FROM library_file f WHERE {chosen}", values);
                List<string> ids =
                [
                    .. connection.Query<string>(
                        $"""
                        SELECT id FROM history_item WHERE reason IS NULL AND release_id IN (SELECT f.release_id FROM library_file f WHERE {chosen})
                        ORDER BY number DESC LIMIT @items
                        """,
                        values),
                ];
                return new ChosenFiles(total.Files, total.Bytes, total.Releases, ids);
            },
            cancellationToken);

    /// <summary>Returns which of the given files belong to a choice.</summary>
    public Task<HashSet<Guid>> IntersectAsync(FileChoice choice, IReadOnlyCollection<Guid> files, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.Query<string>(
                    $"""
                    SELECT f.id FROM library_file f WHERE {SqlDialect.In("f.id", "@ids")}
                      AND ({SqlDialect.In("f.release_id", "@releases")} OR {SqlDialect.In($"f.{SqlDialect.RowNumber}", "@files")})
                    """,
                    new
                    {
                        ids = SqlDialect.List([.. files.Select(id => id.ToString("D"))]),
                        releases = SqlDialect.List(choice.Releases),
                        files = SqlDialect.List(choice.Files),
                    })
                .Select(Guid.Parse).ToHashSet(),
            cancellationToken);

    private static void Find(DbConnection connection, string[] names, HashSet<long> releases, HashSet<long> files)
    {
        if (names.Length == 0)
            return;
        var category = PathKey.OfName(names[0]);
        if (names.Length == 1)
        {
            releases.UnionWith(connection.Query<long>("SELECT id FROM release WHERE category = @category", new { category }));
            return;
        }

        if (connection.ExecuteScalar<long?>("SELECT id FROM release WHERE category = @category AND name = @name", new { category, name = PathKey.OfName(names[1]) }) is not { } release)
            return;
        if (names.Length == 2)
        {
            releases.Add(release);
            return;
        }

        var key = PathKey.OfNames(names.Skip(2));
        files.UnionWith(connection.Query<long>(
            $"""
            SELECT {SqlDialect.RowNumber} FROM library_file WHERE release_id = @release AND (path_key = @key OR path_key > @inside AND path_key < @behind)
            """,
            new { release, key, inside = key + PathKey.Separator, behind = key + PathKey.Behind }));
    }

    internal sealed record TotalRow(long Files, long Bytes, long Releases);

    internal sealed record ItemRow
    {
        public long Number { get; init; }
        public required string Category { get; init; }
        public required string Name { get; init; }
        public string? PathKey { get; init; }
        public long Files { get; init; }
        public long Bytes { get; init; }
        public long RemovedAt { get; init; }
        public long KeptMs { get; init; }
        public long IsWhole { get; init; }

        public RemovedItem Read(DateTimeOffset now) => new(
            Number,
            Category,
            Name,
            PathKey is { } key ? Library.PathKey.ToPath(key) : null,
            IsWhole != 0,
            Files,
            Bytes,
            StoredTime.Read(RemovedAt),
            RemovalTerm.EndOf(new RemovalAge(RemovedAt, KeptMs), now));
    }
}

/// <summary>The content of a choice of files.</summary>
/// <param name="HistoryIds">Ids of the newest completed history items of the chosen releases.</param>
internal sealed record ChosenFiles(long Files, long Bytes, long Releases, IReadOnlyList<string> HistoryIds);
