using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

/// <summary>A release to publish.</summary>
/// <param name="Name">Name of its folder, unique in the category.</param>
/// <param name="PostedFiles">All posted files that the library files refer to.</param>
/// <param name="Files">The library files, with unique paths.</param>
internal sealed record NewRelease(
    string Category,
    string Name,
    string NzbHash,
    IReadOnlyList<StoredPostedFile> PostedFiles,
    IReadOnlyList<NewLibraryFile> Files);

/// <summary>A library file to publish.</summary>
/// <param name="Path">Path inside the release, separated by <c>/</c> and cleaned by the rules of DAV-13.</param>
/// <param name="OriginalName">The posted name if it differs; otherwise null.</param>
/// <param name="Length">Exact length in bytes.</param>
/// <param name="ETag">Validator (<see cref="ContentTag"/>).</param>
internal sealed record NewLibraryFile(
    Guid Id,
    string Path,
    string? OriginalName,
    long Length,
    string ETag,
    FileContent Content);

/// <summary>A file of a release without its content map; <c>PathKey</c> is a <see cref="Library.PathKey"/>.</summary>
internal sealed record ListedFile(string Id, string PathKey, long Length)
{
    public string Path => Library.PathKey.ToPath(PathKey);
}

/// <summary>A stored NZB; <c>At</c> is its date in Unix milliseconds.</summary>
internal sealed record DatedNzb(string Hash, long At);

/// <summary>Reads and writes <c>release</c>, <c>library_file</c> and <c>posted_file</c>.</summary>
internal sealed class LibraryStore(SluiceDatabase database)
{
    public static readonly BlobReference NzbReference = new("release", "nzb_hash", "release_nzb");

    // Rows per query of a listing. After a subfolder, the next query skips its contents.
    private const int PageSize = 256;

    private const string FileColumns =
        "f.id AS FileId, f.path_key AS PathKey, f.original_name AS OriginalName, f.length AS Length, f.etag AS ETag, f.content AS Content";

    /// <summary>Finds a release together with a file or folder inside it. Each lookup uses an index.</summary>
    internal const string FindSql =
        $"""
        SELECT r.id AS ReleaseId, r.category AS Category, r.name AS Release, r.nzb_hash AS NzbHash, r.published_at AS PublishedAt, {FoundColumns}
        FROM release r {JoinFound}
        WHERE r.category = @category AND r.name = @release
        """;

    /// <summary>Columns for the file at a path inside release <c>r</c>, or whether the path is a folder. Requires <see cref="JoinFound"/>.</summary>
    internal const string FoundColumns =
        $"""
        {FileColumns},
          f.id IS NULL AND EXISTS (
            SELECT 1 FROM library_file d WHERE d.release_id = r.id AND d.path_key > @inside AND d.path_key < @behind) AS IsFolder
        """;

    internal const string JoinFound = "LEFT JOIN library_file f ON f.release_id = r.id AND f.path_key = @key";

    internal const string FindByIdSql = $"{FileWithReleaseSql} WHERE f.id = @id";

    private const string FileWithReleaseSql =
        $"""
        SELECT r.id AS ReleaseId, r.category AS Category, r.name AS Release, r.nzb_hash AS NzbHash, r.published_at AS PublishedAt,
          {FileColumns}
        FROM library_file f JOIN release r ON r.id = f.release_id
        """;

    // Compare the NZB too, because the row number of a removed release may be reused.
    private const string IsThereSql = "EXISTS (SELECT 1 FROM release WHERE id = @Id AND nzb_hash = @NzbHash)";
    private const string OfReleaseSql = $"release_id = @Id AND ordinal = @ordinal AND {IsThereSql}";

    /// <summary>Whether a category contains a release of this name. Runs in the caller's transaction.</summary>
    public static bool Contains(DbConnection connection, string category, string name) =>
        connection.ExecuteScalar<bool>(
            "SELECT EXISTS (SELECT 1 FROM release WHERE category = @category AND name = @name)",
            new { category = PathKey.OfName(category), name = PathKey.OfName(name) });

    /// <summary>Returns a category's releases made from an NZB, oldest first. Runs in the caller's transaction.</summary>
    public static IReadOnlyList<Release> FindByNzb(DbConnection connection, string category, string nzbHash) =>
    [
        .. connection.Query<LibraryRow>(
            """
            SELECT id AS ReleaseId, category AS Category, name AS Release, nzb_hash AS NzbHash, published_at AS PublishedAt
            FROM release WHERE nzb_hash = @nzbHash AND category = @category ORDER BY id
            """,
            new { nzbHash, category = PathKey.OfName(category) }).Select(row => row.ToRelease()),
    ];

    /// <summary>Returns all files of a release, by path. Runs in the caller's transaction.</summary>
    public static IReadOnlyList<LibraryFile> ListFiles(DbConnection connection, Release release) =>
    [
        .. connection
            .Query<LibraryRow>($"SELECT {FileColumns} FROM library_file f WHERE f.release_id = @Id ORDER BY f.path_key", new { release.Id })
            .Select(row => row.ToFile(release)),
    ];

    /// <summary>Returns the release that contains any of these files, or null. Runs in the caller's transaction.</summary>
    public static Release? FindReleaseOf(DbConnection connection, IEnumerable<Guid> files) =>
        connection.QueryFirstOrDefault<LibraryRow>(
            $"{FileWithReleaseSql} WHERE {SqlDialect.In("f.id", "@list")} LIMIT 1", new { list = SqlDialect.List([.. files.Select(id => id.ToString("D"))]) })?.ToRelease();

    /// <summary>Whether the release still exists with the same NZB. Runs in the caller's transaction.</summary>
    public static bool IsThere(DbConnection connection, Release release) =>
        connection.ExecuteScalar<bool>($"SELECT {IsThereSql}", new { release.Id, release.NzbHash });

    public static long Count(DbConnection connection) => connection.ExecuteScalar<long>("SELECT count(*) FROM release");

    /// <summary>Whether a release uses a stored NZB. Runs in the caller's transaction.</summary>
    public static bool Uses(DbConnection connection, string nzbHash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM release WHERE nzb_hash = @nzbHash)", new { nzbHash });

    public Task<DatedNzb?> FindNewestNzbAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QueryFirstOrDefault<DatedNzb>("SELECT nzb_hash AS Hash, published_at AS At FROM release ORDER BY published_at DESC LIMIT 1"),
            cancellationToken);

    /// <summary>Adds a release and its files in the caller's transaction. Returns its row number, which no removed release has used.</summary>
    public static long Insert(
        DbConnection connection,
        NewRelease release,
        DateTimeOffset publishedAt)
    {
        var releaseId = connection.ExecuteScalar<long>(
            """
            INSERT INTO release (id, category, name, nzb_hash, published_at, folded)
            VALUES (
              1 + max((SELECT coalesce(max(id), 0) FROM release), (SELECT coalesce(max(id), 0) FROM removed_release)),
              @category, @name, @nzbHash, @publishedAt, @folded)
            RETURNING id
            """,
            new
            {
                category = PathKey.OfName(release.Category),
                name = PathKey.OfName(release.Name),
                nzbHash = release.NzbHash,
                publishedAt = publishedAt.ToUnixTimeMilliseconds(),
                folded = SearchText.Fold(release.Name),
            });

        TitleStore.SetTitle(connection, releaseId, release.Name);
        foreach (var file in release.PostedFiles)
            Insert(connection, releaseId, file);
        if (release.PostedFiles.Any(file => file.Predicted is { HasKnownLength: false }))
            ProofQueue.Add(connection, releaseId, publishedAt);

        Insert(connection, releaseId, release, publishedAt);
        return releaseId;
    }

    /// <summary>Adds files to a release, without posted files, in the caller's transaction.</summary>
    public static void Insert(DbConnection connection, long releaseId, NewRelease release, DateTimeOffset publishedAt)
    {
        foreach (var file in release.Files)
        {
            connection.Execute(
                """
                INSERT INTO library_file (id, release_id, category, published_at, path_key, original_name, length, etag, content, folded)
                VALUES (@fileId, @releaseId, @category, @publishedAt, @pathKey, @OriginalName, @Length, @ETag, @content, @folded)
                """,
                new
                {
                    releaseId,
                    category = PathKey.OfName(release.Category),
                    publishedAt = publishedAt.ToUnixTimeMilliseconds(),
                    fileId = file.Id.ToString("D"),
                    pathKey = PathKey.OfPath(file.Path),
                    file.OriginalName,
                    file.Length,
                    file.ETag,
                    content = new SqlBytes(ContentMap.Pack(file.Content)),
                    folded = SearchText.Fold($"{release.Name} {file.Path}"),
                });
        }
    }

    /// <summary>Finds a path inside a category, or null. An empty inner path means the release. One query, indexed at any depth (DAV-14).</summary>
    public Task<LibraryEntry?> FindAsync(string category, string release, IReadOnlyList<string> innerPath, CancellationToken cancellationToken)
    {
        var key = PathKey.OfNames(innerPath);
        return database.ReadAsync(connection => Find(connection, FindSql, category, release, key, key), cancellationToken);
    }

    /// <summary>Runs <see cref="FindSql"/> or a narrower query.</summary>
    /// <param name="folder">Key of a folder; empty for the release.</param>
    /// <param name="file">Key of a file; null to find only folders.</param>
    internal static LibraryEntry? Find(
        DbConnection connection, string sql, string category, string release, string folder, string? file)
    {
        var row = connection.QuerySingleOrDefault<LibraryRow>(
            sql,
            new
            {
                category = PathKey.OfName(category),
                release = PathKey.OfName(release),
                key = file,
                inside = folder + PathKey.Separator,
                behind = folder + PathKey.Behind,
            });
        return row switch
        {
            null => null,
            _ when folder.Length == 0 => new ReleaseEntry(row.ToRelease()),
            { FileId: not null } => new FileEntry(row.ToFile(row.ToRelease())),
            { IsFolder: not 0 } => new FolderEntry(row.ToRelease(), PathKey.ToPath(folder)),
            _ => null,
        };
    }

    public Task<FileEntry?> FindByIdAsync(Guid id, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QuerySingleOrDefault<LibraryRow>(FindByIdSql, new { id = id.ToString("D") }) is { } row
                ? new FileEntry(row.ToFile(row.ToRelease()))
                : null,
            cancellationToken);

    /// <summary>Lists the files whose ids start with these digits, ordered by id.</summary>
    public IAsyncEnumerable<FileEntry> ListByIdAsync(string digits, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection => connection
                .Query<LibraryRow>(
                    $"{FileWithReleaseSql} WHERE f.id >= @digits AND f.id < @behind ORDER BY f.id",
                    // g sorts after every hex digit and the dash.
                    new { digits, behind = digits + "g" },
                    buffered: false)
                .Select(row => new FileEntry(row.ToFile(row.ToRelease()))),
            cancellationToken);

    /// <summary>Lists the categories that contain releases, by name, each with its newest publish time.</summary>
    public Task<IReadOnlyList<CategoryEntry>> ListCategoriesAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<CategoryEntry>)
            [
                .. connection
                    .Query<CategoryRow>("SELECT category AS Name, max(published_at) AS Newest FROM release GROUP BY category ORDER BY category")
                    .Select(row => row.Read()),
            ],
            cancellationToken);

    /// <summary>Returns the newest publish time in a category; null if the category is empty.</summary>
    public Task<DateTimeOffset?> FindNewestAsync(string category, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<long?>(
                "SELECT max(published_at) FROM release WHERE category = @category", new { category = PathKey.OfName(category) }) is { } newest
                ? StoredTime.Read(newest)
                : (DateTimeOffset?)null,
            cancellationToken);

    public IAsyncEnumerable<ReleaseEntry> ListReleasesAsync(string category, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection => connection
                .Query<LibraryRow>(
                    """
                    SELECT id AS ReleaseId, category AS Category, name AS Release, nzb_hash AS NzbHash, published_at AS PublishedAt
                    FROM release WHERE category = @category ORDER BY name
                    """,
                    new { category = PathKey.OfName(category) },
                    buffered: false)
                .Select(row => new ReleaseEntry(row.ToRelease())),
            cancellationToken);

    /// <summary>Lists the children of a folder in a release, by name. An empty <paramref name="folder"/> means the release.</summary>
    public IAsyncEnumerable<LibraryEntry> ListFolderAsync(Release release, string folder, CancellationToken cancellationToken) =>
        database.StreamAsync(connection => Children(connection, release, PathKey.OfPath(folder)), cancellationToken);

    /// <summary>Returns a range of posted files in order. If any is predicted, includes all predicted ones, because a set is verified as a whole.</summary>
    public Task<IReadOnlyList<StoredPostedFile>> GetPostedFilesAsync(long releaseId, int first, int last, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => ListPosted(connection, releaseId, first, last), cancellationToken);

    /// <summary>
    /// Returns a file's current state with its posted files, in one snapshot, because mapping the release again replaces both at once. Null if the file was
    /// removed. An unopened file has no posted files.
    /// </summary>
    public Task<(LibraryFile File, FileContent Content, IReadOnlyList<StoredPostedFile> Posted)?> FindContentAsync(LibraryFile file, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                if (connection.QuerySingleOrDefault<byte[]>("SELECT content FROM library_file WHERE id = @id", new { id = file.Id.ToString("D") }) is not { } packed)
                    return ((LibraryFile, FileContent, IReadOnlyList<StoredPostedFile>)?)null;
                var content = ContentMap.Unpack(packed);
                var ordinals = content.Extents.Select(static extent => extent.PostedFile);
                return (file with { Content = packed }, content, content.IsUnopened ? [] : ListPosted(connection, file.Release.Id, ordinals.Min(), ordinals.Max()));
            },
            cancellationToken);

    public Task<IReadOnlyList<StoredPostedFile>> GetPredictedFilesAsync(Release release, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<StoredPostedFile>)
            [
                .. connection
                    .Query<PostedFileRow>(
                        $"""
                        SELECT ordinal AS Ordinal, places AS Places, map AS Map, habit AS Habit, predicted AS Predicted, estimated AS Estimated FROM posted_file
                        WHERE release_id = @Id AND predicted IS NOT NULL AND {IsThereSql} ORDER BY ordinal
                        """,
                        new { release.Id, release.NzbHash })
                    .Select(row => row.Read()),
            ],
            cancellationToken);

    /// <summary>Replaces a release's posted files and contents after a refuted prediction. Names, lengths and validators stay the same.</summary>
    /// <param name="release">The release. Nothing happens if it was removed.</param>
    /// <param name="posted">All posted files that the new contents refer to.</param>
    /// <param name="contents">New contents by file id. All other files keep their content.</param>
    /// <param name="cancellationToken">Cancels only until the transaction begins.</param>
    /// <returns>Whether the release still exists.</returns>
    public Task<bool> ReplaceContentsAsync(
        Release release, IReadOnlyList<StoredPostedFile> posted, IReadOnlyDictionary<Guid, FileContent> contents, CancellationToken cancellationToken) =>
        database.WriteAsync(connection => ReplaceContents(connection, release, posted, contents), cancellationToken);

    /// <inheritdoc cref="ReplaceContentsAsync"/>
    /// <remarks>Runs in the caller's transaction.</remarks>
    public static bool ReplaceContents(
        DbConnection connection, Release release, IReadOnlyList<StoredPostedFile> posted, IReadOnlyDictionary<Guid, FileContent> contents)
    {
        if (!IsThere(connection, release))
            return false;
        foreach (var file in posted)
        {
            connection.Execute("DELETE FROM posted_file WHERE release_id = @Id AND ordinal = @Ordinal", new { release.Id, file.Ordinal });
            Insert(connection, release.Id, file);
        }

        foreach (var (id, content) in contents)
        {
            connection.Execute(
                "UPDATE library_file SET content = @content WHERE release_id = @Id AND id = @file",
                new { release.Id, file = id.ToString("D"), content = new SqlBytes(ContentMap.Pack(content)) });
        }

        return true;
    }

    /// <summary>Whether the map of a posted file is an estimate. False if its release was removed. Runs in the caller's transaction.</summary>
    public static bool IsEstimated(DbConnection connection, Release release, int ordinal) => connection.ExecuteScalar<bool>(
        $"SELECT EXISTS (SELECT 1 FROM posted_file WHERE {OfReleaseSql} AND estimated = 1)", new { release.Id, release.NzbHash, ordinal });

    /// <inheritdoc cref="IsEstimated"/>
    public Task<bool> IsEstimatedAsync(Release release, int ordinal, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => IsEstimated(connection, release, ordinal), cancellationToken);

    /// <summary>Returns the numbers of the posted files whose maps are estimates.</summary>
    public Task<HashSet<int>> FindEstimatedAsync(Release release, CancellationToken cancellationToken) => database.ReadAsync(
        connection => connection.Query<long>("SELECT ordinal FROM posted_file WHERE release_id = @Id AND estimated = 1", new { release.Id }).Select(ordinal => (int)ordinal).ToHashSet(),
        cancellationToken);

    /// <summary>
    /// Clears the content of a file with an estimated map, so that an import locates its bytes again. Returns false if there is no such file or an import has
    /// already mapped its release. Runs in the caller's transaction.
    /// </summary>
    public static bool Close(DbConnection connection, long releaseId, Guid file) => connection.Execute(
        """
        UPDATE library_file SET content = @unopened WHERE release_id = @releaseId AND id = @file
          AND EXISTS (SELECT 1 FROM posted_file WHERE release_id = @releaseId AND estimated = 1)
        """,
        new { releaseId, file = file.ToString("D"), unopened = new SqlBytes(ContentMap.Pack(FileContent.Unopened)) }) > 0;

    /// <summary>Whether a release has a file at a path. Runs in the caller's transaction.</summary>
    public static bool HasPath(DbConnection connection, long releaseId, string path) => connection.ExecuteScalar<bool>(
        "SELECT EXISTS (SELECT 1 FROM library_file WHERE release_id = @releaseId AND path_key = @key)", new { releaseId, key = PathKey.OfPath(path) });

    /// <summary>Whether a release has unopened files or estimated maps. Runs in the caller's transaction.</summary>
    public static bool IsUnproved(DbConnection connection, long releaseId) =>
        CountUnopened(connection, releaseId) > 0
        || connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM posted_file WHERE release_id = @releaseId AND estimated = 1)", new { releaseId });

    /// <summary>Counts the unopened files of a release. Runs in the caller's transaction.</summary>
    public static int CountUnopened(DbConnection connection, long releaseId) => connection.ExecuteScalar<int>(
        "SELECT count(*) FROM library_file WHERE release_id = @releaseId AND content = @unopened",
        new { releaseId, unopened = new SqlBytes(ContentMap.Pack(FileContent.Unopened)) });

    public Task<IReadOnlyList<LibraryFile>> GetFilesAsync(Release release, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => ListFiles(connection, release), cancellationToken);

    /// <summary>Returns the first files of a release by path. Runs in the caller's transaction.</summary>
    public static IReadOnlyList<ListedFile> ListFirst(DbConnection connection, long releaseId, int most) =>
    [
        .. connection.Query<ListedFile>(
            "SELECT id AS Id, path_key AS PathKey, length AS Length FROM library_file WHERE release_id = @releaseId ORDER BY path_key LIMIT @most",
            new { releaseId, most }),
    ];

    /// <summary>Returns the first files of a release by path, and its total number of files.</summary>
    public Task<(IReadOnlyList<ListedFile> Files, int Count)> ListFirstAsync(long releaseId, int most, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var files = ListFirst(connection, releaseId, most);
                return (files, connection.ExecuteScalar<int>("SELECT count(*) FROM library_file WHERE release_id = @releaseId", new { releaseId }));
            },
            cancellationToken);

    /// <summary>Returns the map of a posted file; null if its release was removed.</summary>
    public Task<SegmentMap?> FindMapAsync(Release release, int ordinal, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QuerySingleOrDefault<byte[]>(
                $"SELECT map FROM posted_file WHERE {OfReleaseSql}", new { release.Id, release.NzbHash, ordinal }) is { } map
                ? SegmentMap.Unpack(map)
                : null,
            cancellationToken);

    /// <summary>Replaces a refuted map, unless the stored map has since changed.</summary>
    public Task ReplaceMapAsync(Release release, int ordinal, SegmentMap refuted, SegmentMap corrected, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"UPDATE posted_file SET map = @corrected WHERE {OfReleaseSql} AND map = @refuted",
                new { release.Id, release.NzbHash, ordinal, refuted = new SqlBytes(refuted.Pack()), corrected = new SqlBytes(corrected.Pack()) }),
            cancellationToken);

    /// <summary>Clears predictions that were verified. Skips releases that have been removed or mapped again.</summary>
    public Task ConfirmAsync(IReadOnlyCollection<(Release Release, PredictedVolume Volume)> proved, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection =>
            {
                foreach (var (release, volume) in proved)
                {
                    connection.Execute(
                        $"UPDATE posted_file SET predicted = NULL WHERE {OfReleaseSql} AND predicted = @predicted",
                        new { release.Id, release.NzbHash, ordinal = volume.Posted, predicted = new SqlBytes(StoredPrediction.Pack(volume)) });
                }

                return true;
            },
            cancellationToken);

    /// <summary>Stores learned habits in every release made from the same NZBs.</summary>
    public Task KeepHabitsAsync(IReadOnlyCollection<(string NzbHash, int Ordinal, ArticleHabit Habit)> learned, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "UPDATE posted_file SET habit = @habit WHERE ordinal = @Ordinal AND release_id IN (SELECT id FROM release WHERE nzb_hash = @NzbHash)",
                learned.Select(file => new { file.NzbHash, file.Ordinal, habit = file.Habit.Pack() })),
            cancellationToken);

    /// <summary>Returns the total length of all files, which triggers keep up to date.</summary>
    public Task<long> GetTotalLengthAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT bytes FROM library_total"), cancellationToken);

    private static IReadOnlyList<StoredPostedFile> ListPosted(DbConnection connection, long releaseId, int first, int last) =>
    [
        .. connection
            .Query<PostedFileRow>(
                """
                SELECT ordinal AS Ordinal, places AS Places, map AS Map, habit AS Habit, predicted AS Predicted, estimated AS Estimated FROM posted_file
                WHERE release_id = @releaseId AND (ordinal BETWEEN @first AND @last OR predicted IS NOT NULL AND EXISTS (
                  SELECT 1 FROM posted_file p WHERE p.release_id = @releaseId AND p.ordinal BETWEEN @first AND @last AND p.predicted IS NOT NULL))
                ORDER BY ordinal
                """,
                new { releaseId, first, last })
            .Select(row => row.Read()),
    ];

    // Insert one row at a time, because Dapper's generator does not support batches with binary columns.
    private static void Insert(DbConnection connection, long releaseId, StoredPostedFile file) => connection.Execute(
        "INSERT INTO posted_file (release_id, ordinal, places, map, habit, predicted, estimated) VALUES (@releaseId, @Ordinal, @places, @map, @habit, @predicted, @IsEstimate)",
        new
        {
            releaseId,
            file.Ordinal,
            places = new SqlBytes(file.Places.Pack()),
            map = new SqlBytes(file.Map.Pack()),
            habit = file.Habit.Pack(),
            predicted = new SqlBytes(file.Predicted is { } volume ? StoredPrediction.Pack(volume) : null),
            file.IsEstimate,
        });

    private static IEnumerable<LibraryEntry> Children(DbConnection connection, Release release, string folderKey)
    {
        var prefix = folderKey.Length == 0 ? "" : folderKey + PathKey.Separator;
        var behind = folderKey.Length == 0 ? null : folderKey + PathKey.Behind;
        var after = prefix;
        while (true)
        {
            var rows = 0;
            var page = connection.Query<LibraryRow>(
                $"""
                SELECT {FileColumns} FROM library_file f
                WHERE f.release_id = @releaseId AND f.path_key > @after AND (@behind IS NULL OR f.path_key < @behind)
                ORDER BY f.path_key LIMIT {PageSize}
                """,
                new { releaseId = release.Id, after, behind });
            foreach (var row in page)
            {
                rows++;
                var key = row.PathKey!;
                var end = key.IndexOf(PathKey.Separator, prefix.Length);
                if (end >= 0)
                {
                    yield return new FolderEntry(release, PathKey.ToPath(key[..end]));
                    after = key[..end] + PathKey.Behind;
                    rows = PageSize;
                    break;
                }

                yield return new FileEntry(row.ToFile(release));
                after = key;
            }

            if (rows < PageSize)
                yield break;
        }
    }
}
