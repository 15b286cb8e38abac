using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;

namespace Sluice.Server.Queue;

/// <summary>Files to remove, by row number. Each listed release is removed whole, each listed file individually.</summary>
internal sealed record FileChoice(IReadOnlyCollection<long> Releases, IReadOnlyCollection<long> Files);

/// <summary>The result of a removal or its undo.</summary>
/// <param name="Removal">Number of the removal; 0 for an undo.</param>
/// <param name="KeptUntil">Earliest time at which a removal can no longer be undone.</param>
/// <param name="Releases">The changed releases, for programs that cache the tree.</param>
internal sealed record MovedFiles(long Removal, int Files, DateTimeOffset KeptUntil, IReadOnlyList<MovedRelease> Releases);

/// <summary>A release that has lost files or got them back.</summary>
internal sealed record MovedRelease(string Category, string Name, long Files);

/// <summary>
/// Moves files between the library and the tables of removed files (HLT-60). A release moves with its last file, so all rows of a release are in the same
/// tables. All methods run in the caller's transaction.
/// </summary>
internal static class RemovedFileStore
{
    public static readonly BlobReference NzbReference = new("removed_release", "nzb_hash", "removed_release_nzb");

    // All columns except the length, which triggers maintain for releases in the library.
    private const string ReleaseColumns =
        "id, category, name, nzb_hash, published_at, folded, claim, titled, title, year, season, episodes, quality, sampled, missing";

    private const string FileColumns = "id, release_id, path_key, original_name, length, etag, content, folded, category, published_at";

    private const string PictureColumns = "release_id, file_id, hash, bytes, added_at";

    /// <summary>Tables with rows about a file, with their columns. All have a column <c>file_id</c>, which is empty for posters.</summary>
    private static readonly (string Table, string Columns)[] OfFile =
    [
        ("file_media", "file_id, duration, width, height, video, audio"),
        ("file_position", "file_id, at, duration, saved_at"),
        ("picture", PictureColumns),
    ];

    /// <summary>Tables with rows about a release, with their columns and a row condition. All have a column <c>release_id</c>.</summary>
    private static readonly (string Table, string Columns, string Which)[] OfRelease =
    [
        ("posted_file", "release_id, ordinal, places, map, habit, predicted, estimated", ""),
        ("release_proof", "release_id, wanted_at", ""),
        ("release_opening", "release_id, password, opened, refusal, tried_at", ""),
        // Stills belong to files, so only posters move with the release.
        ("picture", PictureColumns, " AND file_id = ''"),
    ];

    /// <summary>Moves files out of the library. Returns null if no file is left to remove.</summary>
    /// <param name="history">Number of the history removal that this removal belongs to; null if none.</param>
    /// <param name="now">Current time in Unix milliseconds.</param>
    /// <param name="strmRoots">Folders in which imports write <c>.strm</c> files.</param>
    public static MovedFiles? Take(DbConnection connection, FileChoice choice, long? history, long now, IReadOnlyList<string> strmRoots)
    {
        var (whole, parts) = Split(connection, choice);
        if (whole.Count == 0 && parts.Count == 0)
            return null;
        var removal = connection.ExecuteScalar<long>(
            "INSERT INTO library_removal (removal, removed_at) VALUES (@history, @now) RETURNING number", new { history, now });
        var values = new { removal, whole = SqlDialect.List(whole), parts = SqlDialect.List(parts) };
        AddItems(connection, values.removal, values.whole, values.parts);
        RemovedStrmStore.AddFolders(connection, removal, strmRoots);

        var isWhole = SqlDialect.In("id", "@whole");
        connection.Execute($"INSERT INTO removed_release ({ReleaseColumns}, bytes) SELECT {ReleaseColumns}, bytes FROM release WHERE {isWhole}", values);
        foreach (var (table, columns, some) in OfRelease)
            connection.Execute($"INSERT INTO removed_{table} ({columns}) SELECT {columns} FROM {table} WHERE {SqlDialect.In("release_id", "@whole")}{some}", values);
        foreach (var which in new[] { SqlDialect.In("f.release_id", "@whole"), SqlDialect.In($"f.{SqlDialect.RowNumber}", "@parts") })
        {
            connection.Execute(
                $"""
                INSERT INTO removed_library_file (item, {FileColumns})
                SELECT (SELECT i.number FROM removed_item i WHERE i.removal = @removal AND i.release_id = f.release_id), {FileColumns} FROM library_file f WHERE {which}
                """,
                values);
        }

        foreach (var (table, columns) in OfFile)
        {
            connection.Execute(
                $"""
                INSERT INTO removed_{table} ({columns}) SELECT {columns} FROM {table} WHERE file_id <> '' AND file_id IN (
                  SELECT id FROM removed_library_file WHERE item IN (SELECT number FROM removed_item WHERE removal = @removal))
                """,
                values);
        }

        ReleaseClaims.Detach(connection, whole);
        connection.Execute($"DELETE FROM release WHERE {isWhole}", values);
        connection.Execute($"DELETE FROM library_file WHERE {SqlDialect.In(SqlDialect.RowNumber, "@parts")}", values);
        List<MovedRelease> moved = [.. connection.Query<MovedRelease>("SELECT category AS Category, name AS Name, files AS Files FROM removed_item WHERE removal = @removal", values)];
        return new MovedFiles(removal, (int)moved.Sum(release => release.Files), StoredTime.Read(now) + RemovalTerm.Length, moved);
    }

    /// <summary>Returns the open items of a removal.</summary>
    public static IReadOnlyList<long> FindItems(DbConnection connection, long removal) =>
        [.. connection.Query<long>("SELECT number FROM removed_item WHERE removal = @removal AND closed = 0 ORDER BY number", new { removal })];

    /// <summary>Returns the open items of the file removal that belongs to a history removal.</summary>
    public static IReadOnlyList<long> FindItemsOfHistory(DbConnection connection, long history) =>
        [.. connection.Query<long>(
            "SELECT number FROM removed_item WHERE removal IN (SELECT number FROM library_removal WHERE removal = @history) AND closed = 0", new { history })];

    /// <summary>Whether a removal with this number ever happened.</summary>
    public static bool IsKnown(DbConnection connection, long removal) =>
        removal > 0 && removal <= (connection.ExecuteScalar<long?>(SqlDialect.LastNumber("library_removal")) ?? 0);

    /// <summary>Moves removed items back into the library. If the name of a release or file is taken, a number is appended.</summary>
    /// <param name="items">Numbers of items; unknown and closed ones are skipped.</param>
    public static MovedFiles Return(DbConnection connection, IReadOnlyCollection<long> items)
    {
        var list = SqlDialect.List([.. connection.Query<long>(
            $"SELECT number FROM removed_item WHERE {SqlDialect.In("number", "@list")} AND closed = 0", new { list = SqlDialect.List(items) })]);
        ReturnReleases(connection, list);
        var files = ReturnFiles(connection, list);
        foreach (var (table, columns) in OfFile)
        {
            connection.Execute(
                $"""
                INSERT INTO {table} ({columns}) SELECT {columns} FROM removed_{table} WHERE file_id <> '' AND file_id IN (
                  SELECT id FROM removed_library_file WHERE {SqlDialect.In("item", "@list")})
                ON CONFLICT DO NOTHING
                """,
                new { list });
        }

        List<MovedRelease> releases =
        [
            .. connection.Query<MovedRelease>(
                $"""
                SELECT category AS Category, name AS Name, 0 AS Files FROM release
                WHERE id IN (SELECT release_id FROM removed_item WHERE {SqlDialect.In("number", "@list")})
                """,
                new { list }),
        ];
        connection.Execute($"DELETE FROM removed_library_file WHERE {SqlDialect.In("item", "@list")}", new { list });
        connection.Execute($"DELETE FROM removed_item WHERE {SqlDialect.In("number", "@list")}", new { list });
        ForgetEmpty(connection);
        return new MovedFiles(0, files, default, releases);
    }

    /// <summary>Adds run time to all removals and closes expired items, which can then no longer be restored.</summary>
    /// <param name="now">Current time in Unix milliseconds.</param>
    /// <param name="ran">Run time since the last call.</param>
    /// <returns>Whether any removal is still open.</returns>
    public static bool Close(DbConnection connection, long now, TimeSpan ran)
    {
        TermRow[] rows =
        [
            .. connection.Query<TermRow>(
                """
                SELECT number AS Number, removed_at AS RemovedAt, kept_ms AS KeptMs FROM library_removal l
                WHERE EXISTS (SELECT 1 FROM removed_item i WHERE i.removal = l.number AND i.closed = 0)
                """),
        ];
        var open = false;
        foreach (var row in rows)
        {
            var age = RemovalTerm.Age(new RemovalAge(row.RemovedAt, row.KeptMs), now, ran);
            connection.Execute(
                "UPDATE library_removal SET removed_at = @RemovedAt, kept_ms = @KeptMs WHERE number = @Number", new { age.RemovedAt, age.KeptMs, row.Number });
            if (RemovalTerm.IsOver(age, now))
                connection.Execute("UPDATE removed_item SET closed = 1 WHERE removal = @Number", new { row.Number });
            else
                open = true;
        }

        return open;
    }

    /// <summary>Returns the number of the next closed item; null after the last.</summary>
    public static long? FindClosed(DbConnection connection) => connection.ExecuteScalar<long?>("SELECT number FROM removed_item WHERE closed = 1 LIMIT 1");

    /// <summary>Deletes some rows of a closed item. The last call also deletes the item's release, unless other removed files need it.</summary>
    /// <param name="most">Rows per call, so that a transaction stays short (HLT-62).</param>
    /// <returns>Whether the item is deleted, and the NZB of a deleted release.</returns>
    public static (bool IsDone, string? NzbHash) Drop(DbConnection connection, long item, int most)
    {
        if (connection.Execute(
            $"DELETE FROM removed_library_file WHERE id IN (SELECT id FROM removed_library_file WHERE item = @item LIMIT @most)", new { item, most }) > 0)
            return (false, null);
        var release = connection.ExecuteScalar<long?>("SELECT release_id FROM removed_item WHERE number = @item", new { item });
        var isLast = connection.ExecuteScalar<bool>(
            "SELECT NOT EXISTS (SELECT 1 FROM removed_item WHERE release_id = @release AND number <> @item)", new { release, item });
        if (isLast && connection.Execute(
            """
            DELETE FROM removed_posted_file WHERE release_id = @release
              AND ordinal IN (SELECT ordinal FROM removed_posted_file WHERE release_id = @release LIMIT @most)
            """,
            new { release, most }) > 0)
            return (false, null);
        var hash = isLast ? connection.QueryFirstOrDefault<string>("DELETE FROM removed_release WHERE id = @release RETURNING nzb_hash", new { release }) : null;
        if (hash is not null)
            ReleaseClaims.Forget(connection, release!.Value);
        connection.Execute("DELETE FROM removed_item WHERE number = @item", new { item });
        ForgetEmpty(connection);
        return (true, hash);
    }

    /// <summary>Whether any removed file has not been deleted yet.</summary>
    public static bool HasAny(DbConnection connection) => connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM library_removal)");

    /// <summary>Whether a removed release uses a stored NZB.</summary>
    public static bool Uses(DbConnection connection, string nzbHash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM removed_release WHERE nzb_hash = @nzbHash)", new { nzbHash });

    /// <summary>Splits a choice into whole releases and single files. A release counts as whole if only its PAR2 files would remain.</summary>
    private static (List<long> Whole, List<long> Parts) Split(DbConnection connection, FileChoice choice)
    {
        var values = new { releases = SqlDialect.List(choice.Releases), files = SqlDialect.List(choice.Files) };
        List<long> whole =
        [
            .. connection.Query<long>(
                $"""
                SELECT r.id FROM release r WHERE {SqlDialect.In("r.id", "@releases")}
                UNION SELECT r.id FROM release r
                WHERE r.id IN (SELECT f.release_id FROM library_file f WHERE {SqlDialect.In($"f.{SqlDialect.RowNumber}", "@files")})
                  AND NOT EXISTS (
                    SELECT 1 FROM library_file o WHERE o.release_id = r.id AND o.path_key NOT LIKE '%.par2' AND NOT ({SqlDialect.In($"o.{SqlDialect.RowNumber}", "@files")}))
                """,
                values),
        ];
        List<long> parts =
        [
            .. connection.Query<long>(
                $"""
                SELECT f.{SqlDialect.RowNumber} FROM library_file f
                WHERE {SqlDialect.In($"f.{SqlDialect.RowNumber}", "@files")} AND NOT ({SqlDialect.In("f.release_id", "@whole")})
                """,
                new { values.files, whole = SqlDialect.List(whole) }),
        ];
        return (whole, parts);
    }

    private static void AddItems(DbConnection connection, long removal, string whole, string parts)
    {
        connection.Execute(
            $"""
            INSERT INTO removed_item (removal, release_id, category, name, folded, files, bytes)
            SELECT @removal, r.id, r.category, r.name, r.folded, (SELECT count(*) FROM library_file f WHERE f.release_id = r.id), r.bytes
            FROM release r WHERE {SqlDialect.In("r.id", "@whole")} ORDER BY r.id
            """,
            new { removal, whole });
        connection.Execute(
            $"""
            INSERT INTO removed_item (removal, release_id, category, name, path_key, folded, files, bytes)
            SELECT @removal, r.id, r.category, r.name, CASE count(*) WHEN 1 THEN min(f.path_key) END, CASE count(*) WHEN 1 THEN min(f.folded) ELSE r.folded END,
              count(*), sum(f.length)
            FROM library_file f JOIN release r ON r.id = f.release_id WHERE {SqlDialect.In($"f.{SqlDialect.RowNumber}", "@parts")} GROUP BY r.id ORDER BY r.id
            """,
            new { removal, parts });
    }

    private static void ReturnReleases(DbConnection connection, string list)
    {
        List<Release> back =
        [
            .. connection.Query<LibraryRow>(
                $"""
                SELECT id AS ReleaseId, category AS Category, name AS Release, nzb_hash AS NzbHash, published_at AS PublishedAt FROM removed_release
                WHERE id IN (SELECT release_id FROM removed_item WHERE {SqlDialect.In("number", "@list")}) ORDER BY id
                """,
                new { list }).Select(row => row.ToRelease()),
        ];
        List<long> ids = [.. back.Select(release => release.Id)];
        var which = SqlDialect.In("id", "@ids");
        var values = new { ids = SqlDialect.List(ids) };
        connection.Execute($"INSERT INTO release ({ReleaseColumns}) SELECT {ReleaseColumns} FROM removed_release WHERE {which} ORDER BY id ON CONFLICT DO NOTHING", values);
        var placed = connection.Query<long>($"SELECT id FROM release WHERE {which}", values).ToHashSet();
        foreach (var release in back.Where(release => !placed.Contains(release.Id)))
        {
            var name = ReleaseName.FindFree(release.Name, free => LibraryStore.Contains(connection, release.Category, free));
            connection.Execute("UPDATE removed_release SET name = @name, folded = @folded WHERE id = @Id", new { name, folded = SearchText.Fold(name), release.Id });
            connection.Execute(
                "UPDATE removed_library_file SET folded = fold_text(@name || ' ' || replace(path_key, char(1), '/')) WHERE release_id = @Id", new { name, release.Id });
            connection.Execute($"INSERT INTO release ({ReleaseColumns}) SELECT {ReleaseColumns} FROM removed_release WHERE id = @Id", new { release.Id });
        }

        foreach (var (table, columns, some) in OfRelease)
            connection.Execute($"INSERT INTO {table} ({columns}) SELECT {columns} FROM removed_{table} WHERE {SqlDialect.In("release_id", "@ids")}{some}", values);
        ReleaseClaims.Attach(connection, ids);
        connection.Execute($"DELETE FROM removed_release WHERE {which}", values);
    }

    private static int ReturnFiles(DbConnection connection, string list)
    {
        var which = SqlDialect.In("item", "@list");
        var files = connection.Execute(
            $"INSERT INTO library_file ({FileColumns}) SELECT {FileColumns} FROM removed_library_file WHERE {which} ORDER BY release_id, path_key ON CONFLICT DO NOTHING",
            new { list });
        List<DisplacedRow> displaced =
        [
            .. connection.Query<DisplacedRow>(
                $"""
                SELECT id AS Id, release_id AS ReleaseId, path_key AS PathKey FROM removed_library_file r
                WHERE {which} AND NOT EXISTS (SELECT 1 FROM library_file f WHERE f.id = r.id)
                """,
                new { list }),
        ];
        foreach (var file in displaced)
        {
            var path = PathKey.ToPath(file.PathKey);
            var (stem, extension) = (Path.ChangeExtension(path, null), Path.GetExtension(path));
            var free = ReleaseName.FindFree(stem, name => LibraryStore.HasPath(connection, file.ReleaseId, name + extension)) + extension;
            connection.Execute("UPDATE removed_library_file SET path_key = @key WHERE id = @Id", new { key = PathKey.OfPath(free), file.Id });
            files += connection.Execute($"INSERT INTO library_file ({FileColumns}) SELECT {FileColumns} FROM removed_library_file WHERE id = @Id", new { file.Id });
        }

        return files;
    }

    private static void ForgetEmpty(DbConnection connection) =>
        connection.Execute("DELETE FROM library_removal WHERE NOT EXISTS (SELECT 1 FROM removed_item i WHERE i.removal = library_removal.number)");

    internal sealed record TermRow(long Number, long RemovedAt, long KeptMs);

    internal sealed record DisplacedRow(string Id, long ReleaseId, string PathKey);
}
