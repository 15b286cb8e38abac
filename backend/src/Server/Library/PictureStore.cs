using System.Data.Common;
using System.Security.Cryptography;
using Dapper;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Media;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>A stored picture.</summary>
internal sealed record Picture(byte[] Bytes, PictureHeader Header);

/// <summary>A picture that a list may show: its hash and its size in bytes.</summary>
internal sealed record ListedPicture(string Hash, long Bytes);

/// <summary>
/// Pictures of films: stills from the browser's player, and posters from Sonarr and Radarr. Rows map films to pictures. Each file in <c>cache/pictures</c> is
/// named by its hash, so that browsers may cache it forever. A picture is deleted with its release.
/// </summary>
/// <remarks>Thread-safe. The folder may be deleted at any time.</remarks>
internal sealed class PictureStore(SluiceDatabase database, DataFolder folder, IOptionsMonitor<PictureOptions> options, TimeProvider time) : IDisposable
{
    public const int MaxStillBytes = 20_000;
    public const int MaxPosterBytes = 200_000;

    // A tiny file may declare a picture of gigabytes, which a browser would decode.
    private const int MaxSide = 2_000;

    // 128 bits of the hash, in hex.
    private const int HashDigits = 32;
    private const string Temporary = ".tmp";

    // Held while files and rows change together, so that a sweep never finds a file before its row exists.
    private readonly SemaphoreSlim _gate = new(1, 1);

    public bool IsOn => options.CurrentValue.MaxBytes > 0;

    /// <summary>Returns the header of a picture that may be stored, or null. Only the picture's first bytes count, not what the sender declares.</summary>
    public static PictureHeader? Judge(ReadOnlySpan<byte> bytes) =>
        PictureHeader.Read(bytes) is { Width: <= MaxSide, Height: <= MaxSide } header ? header : null;

    /// <summary>Stores a still of a film, replacing an earlier one. Returns its hash, or null if the film no longer exists or pictures are off.</summary>
    /// <exception cref="StorageException">The picture cannot be written.</exception>
    public Task<string?> SaveStillAsync(long release, Guid film, ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken) =>
        SaveAsync(release, film.ToString("D"), bytes, cancellationToken);

    /// <summary>Stores the poster of a release; empty bytes record that there is none. Returns its hash, or null as for a still.</summary>
    /// <exception cref="StorageException">The picture cannot be written.</exception>
    public Task<string?> SavePosterAsync(long release, ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken) =>
        SaveAsync(release, "", bytes, cancellationToken);

    /// <summary>Returns a picture by its hash. Null if no film uses it, or if its file is missing or damaged.</summary>
    public async Task<Picture?> FindAsync(string hash, CancellationToken cancellationToken)
    {
        if (!IsOn || hash.Length != HashDigits || !hash.All(char.IsAsciiHexDigitLower))
            return null;
        if (!await database.ReadAsync(connection => Exists(connection, hash), cancellationToken))
            return null;
        try
        {
            var bytes = await File.ReadAllBytesAsync(PathOf(hash), cancellationToken);
            return HashOf(bytes) == hash && Judge(bytes) is { } header ? new Picture(bytes, header) : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The UI draws a card instead.
            return null;
        }
    }

    /// <summary>Whether a film has a still.</summary>
    public Task<bool> HasStillAsync(Guid film, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM picture WHERE file_id = @film)", new { film = film.ToString("D") }), cancellationToken);

    /// <summary>Finds the releases' pictures: posters, then stills of <paramref name="films"/>, then other stills. Runs in the caller's transaction.</summary>
    public static ILookup<long, ListedPicture> Find(DbConnection connection, IReadOnlyCollection<long> releases, IReadOnlyCollection<Guid> films)
    {
        var preferred = films.Select(film => film.ToString("D")).ToHashSet();
        return connection.Query<PictureRow>(
                $"SELECT release_id AS ReleaseId, file_id AS FileId, hash AS Hash, bytes AS Bytes FROM picture WHERE hash <> '' AND {SqlDialect.In("release_id", "@list")}",
                new { list = SqlDialect.List([.. releases]) })
            .OrderBy(row => row.FileId.Length == 0 ? 0 : preferred.Contains(row.FileId) ? 1 : 2)
            .ThenBy(row => row.FileId, StringComparer.Ordinal)
            .ToLookup(row => row.ReleaseId, row => new ListedPicture(row.Hash, row.Bytes));
    }

    /// <summary>Finds the pictures of films by film id: the release's poster first, then the still. Runs in the caller's transaction.</summary>
    public static ILookup<Guid, ListedPicture> FindByFilm(DbConnection connection, IEnumerable<Guid> films) =>
        connection.Query<FilmPictureRow>(
                $"""
                SELECT f.id AS FilmId, p.hash AS Hash, p.bytes AS Bytes
                FROM library_file f JOIN picture p ON p.release_id = f.release_id AND p.file_id IN ('', f.id)
                WHERE p.hash <> '' AND {SqlDialect.In("f.id", "@list")} ORDER BY p.file_id
                """,
                new { list = SqlDialect.List([.. films.Select(film => film.ToString("D"))]) })
            .ToLookup(row => Guid.Parse(row.FilmId), row => new ListedPicture(row.Hash, row.Bytes));

    /// <summary>Deletes the oldest pictures to fit the limit, then files that no film uses.</summary>
    public async Task SweepAsync(CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            await TrimAsync(cancellationToken);
            if (!Directory.Exists(folder.Pictures))
                return;
            var known = await database.ReadAsync(connection => connection.Query<string>("SELECT hash FROM picture UNION SELECT hash FROM removed_picture").ToHashSet(), cancellationToken);
            foreach (var path in Directory.EnumerateFiles(folder.Pictures))
            {
                if (!known.Contains(Path.GetFileName(path)))
                    Delete(path);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The next sweep finds these files again.
        }
        finally
        {
            _gate.Release();
        }
    }

    public void Dispose() => _gate.Dispose();

    private async Task TrimAsync(CancellationToken cancellationToken)
    {
        // Check first, because an unnecessary write would wake the disk at every startup.
        var total = await database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT coalesce(sum(bytes), 0) FROM picture"), cancellationToken);
        if (total > options.CurrentValue.MaxBytes)
            await database.WriteAsync(Trim, cancellationToken);
    }

    private async Task<string?> SaveAsync(long release, string film, ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken)
    {
        if (!IsOn || bytes.Length > options.CurrentValue.MaxBytes)
            return null;
        var hash = bytes.Length == 0 ? "" : HashOf(bytes.Span);
        await _gate.WaitAsync(cancellationToken);
        try
        {
            // Write the file first: a row without a file would show nothing, but a file without a row is swept.
            if (hash.Length > 0)
                await WriteAsync(hash, bytes, cancellationToken);
            var (isKept, unused) = await database.WriteAsync(connection => Keep(connection, release, film, hash, bytes.Length), cancellationToken);
            foreach (var gone in unused)
                Delete(PathOf(gone));
            return isKept ? hash : null;
        }
        finally
        {
            _gate.Release();
        }
    }

    /// <summary>Writes a row and trims the oldest pictures. Returns whether the film exists, and the hashes that no row uses anymore.</summary>
    private (bool IsKept, List<string> Unused) Keep(DbConnection connection, long release, string film, string hash, int length)
    {
        var before = connection.QueryFirstOrDefault<string>("SELECT hash FROM picture WHERE release_id = @release AND file_id = @film", new { release, film });
        var isKept = connection.Execute(
            """
            INSERT INTO picture (release_id, file_id, hash, bytes, added_at)
            SELECT r.id, @film, @hash, @length, @now FROM release r
            WHERE r.id = @release AND (@film = '' OR EXISTS (SELECT 1 FROM library_file f WHERE f.id = @film AND f.release_id = r.id))
            ON CONFLICT (release_id, file_id) DO UPDATE SET hash = excluded.hash, bytes = excluded.bytes, added_at = excluded.added_at
            """,
            new { release, film, hash, length, now = time.WallTime().ToUnixTimeMilliseconds() }) > 0;
        List<string> candidates = [.. Trim(connection), hash];
        if (before is not null)
            candidates.Add(before);
        return (isKept, [.. candidates.Where(candidate => candidate.Length > 0).Distinct().Where(candidate => !IsUsed(connection, candidate))]);
    }

    /// <summary>Deletes the rows of the oldest pictures until the rest fit the size limit. Returns their hashes.</summary>
    private List<string> Trim(DbConnection connection)
    {
        var most = options.CurrentValue.MaxBytes;
        if (connection.ExecuteScalar<long>("SELECT coalesce(sum(bytes), 0) FROM picture") <= most)
            return [];
        return
        [
            .. connection.Query<string>(
                """
                DELETE FROM picture WHERE (release_id, file_id) IN (
                  SELECT release_id, file_id FROM (
                    SELECT release_id, file_id, bytes, sum(bytes) OVER (ORDER BY added_at DESC, release_id DESC, file_id DESC) AS newer FROM picture) AS ranked
                  WHERE bytes > 0 AND newer > @most)
                RETURNING hash
                """,
                new { most }),
        ];
    }

    /// <summary>Whether any film uses the file, including films whose removal can still be undone.</summary>
    private static bool IsUsed(DbConnection connection, string hash) =>
        connection.ExecuteScalar<bool>(
            "SELECT EXISTS (SELECT 1 FROM picture WHERE hash = @hash UNION ALL SELECT 1 FROM removed_picture WHERE hash = @hash)", new { hash });

    private static bool Exists(DbConnection connection, string hash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM picture WHERE hash = @hash)", new { hash });

    private async Task WriteAsync(string hash, ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken)
    {
        var temporary = PathOf(hash + Temporary);
        try
        {
            Directory.CreateDirectory(folder.Pictures);
            await File.WriteAllBytesAsync(temporary, bytes, cancellationToken);
            File.Move(temporary, PathOf(hash), overwrite: true);
        }
        catch (Exception e) when (StorageException.From(e, folder.Pictures) is { } fault)
        {
            Delete(temporary);
            throw fault;
        }
    }

    private static void Delete(string path)
    {
        try
        {
            File.Delete(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The next sweep finds it again.
        }
    }

    private string PathOf(string name) => Path.Combine(folder.Pictures, name);

    private static string HashOf(ReadOnlySpan<byte> bytes) => Convert.ToHexStringLower(SHA256.HashData(bytes))[..HashDigits];

    internal sealed record FilmPictureRow
    {
        public required string FilmId { get; init; }
        public required string Hash { get; init; }
        public long Bytes { get; init; }
    }

    internal sealed record PictureRow
    {
        public long ReleaseId { get; init; }
        public required string FileId { get; init; }
        public required string Hash { get; init; }
        public long Bytes { get; init; }
    }
}
