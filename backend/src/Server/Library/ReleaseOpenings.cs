using System.Collections.Concurrent;
using System.Data.Common;
using System.Threading.Channels;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>A file of a release whose import was refused; <c>Refusal</c> is the reason as a sentence.</summary>
internal sealed record RefusedFile(string Category, string Release, string PathKey, string Refusal)
{
    public string Path => $"{Library.PathKey.ToPath(Category)}/{Library.PathKey.ToPath(Release)}/{Library.PathKey.ToPath(PathKey)}";
}

/// <summary>
/// Releases from an old server whose maps are unknown or refuted, stored in <c>release_opening</c>. Their files are listed with id, path and length. An import
/// locates their bytes: immediately if a reader waits, otherwise in the background.
/// </summary>
/// <remarks>Thread-safe. Only one task at a time opens a release, no matter how many readers wait.</remarks>
internal sealed class ReleaseOpenings(SluiceDatabase database, LibraryStore library, TimeProvider time)
{
    // A refusal may become outdated, for example after a provider is added, so it expires.
    private static readonly TimeSpan RefusalLifetime = TimeSpan.FromHours(1);

    // Longer than most openings take, but shorter than players wait.
    private static readonly TimeSpan ReaderTimeout = TimeSpan.FromSeconds(45);

    private readonly Channel<Release> _wanted = Channel.CreateUnbounded<Release>(new UnboundedChannelOptions { SingleReader = true });

    // Releases that wait to be opened or are being opened.
    private readonly ConcurrentDictionary<long, OpeningClaim> _claimed = new();

    /// <summary>Wakes the background worker after releases were added.</summary>
    public WakeSignal Added { get; } = new(time);

    /// <summary>Adds a release in the caller's transaction. The caller sets <see cref="Added"/> after the commit.</summary>
    /// <param name="password">Archive password, encrypted under the NZB's hash. If empty, a known password stays.</param>
    public static void Add(DbConnection connection, long releaseId, string password = "") => connection.Execute(
        """
        INSERT INTO release_opening (release_id, password) VALUES (@releaseId, @password)
        ON CONFLICT (release_id) DO UPDATE SET refusal = NULL, tried_at = NULL, opened = 0, password = coalesce(nullif(excluded.password, ''), password)
        """,
        new { releaseId, password });

    /// <summary>Stores the encrypted password of a release in the caller's transaction, in case its map is refuted later.</summary>
    public static void Keep(DbConnection connection, long releaseId, string password)
    {
        if (password.Length > 0)
            connection.Execute("INSERT INTO release_opening (release_id, password, opened) VALUES (@releaseId, @password, 1)", new { releaseId, password });
    }

    /// <summary>Returns the encrypted password of a release without a history item; empty if there is none.</summary>
    public Task<string> FindPasswordAsync(Release release, CancellationToken cancellationToken) => database.ReadAsync(
        connection => connection.ExecuteScalar<string?>("SELECT password FROM release_opening WHERE release_id = @Id", new { release.Id }) ?? "", cancellationToken);

    /// <summary>Waits until the file's release is opened, and returns the file with its content.</summary>
    /// <exception cref="ReleaseNotOpenedException">The import refused the release, failed, or took too long.</exception>
    /// <exception cref="FileNotFoundException">The release was removed in the meantime.</exception>
    public async Task<LibraryFile> OpenAsync(LibraryFile file, CancellationToken cancellationToken)
    {
        var waited = false;
        while (true)
        {
            if (await library.FindByIdAsync(file.Id, cancellationToken) is not { File: var known })
                throw new FileNotFoundException($"The release {file.Release.Name} was removed.");
            if (!ContentMap.Unpack(known.Content).IsUnopened)
                return known;
            if (await FindRefusalAsync(known.Release.Id, cancellationToken) is { } refusal)
                throw new ReleaseNotOpenedException(refusal, isRefused: true);
            if (waited)
                throw new ReleaseNotOpenedException("The release is not opened yet.", isRefused: false);
            await WaitAsync(known.Release, cancellationToken);
            waited = true;
        }
    }

    /// <summary>
    /// Reopens a release because an intact article contradicts a map stated by an old server. Does not reopen a recently refused release. Returns false if an
    /// import has verified the map in the meantime.
    /// </summary>
    public async Task<bool> AccuseAsync(Release release, int ordinal, CancellationToken cancellationToken)
    {
        var (isEstimated, isWanted) = await database.WriteAsync(
            connection =>
            {
                if (!LibraryStore.IsEstimated(connection, release, ordinal))
                    return (false, false);
                if (FindRefusal(connection, release.Id) is not null)
                    return (true, false);
                Add(connection, release.Id);
                return (true, true);
            },
            cancellationToken);
        if (isWanted)
            _ = Claim(release);
        return isEstimated;
    }

    /// <summary>Streams the releases that readers wait for, in order. The caller must <see cref="End"/> each.</summary>
    public IAsyncEnumerable<Release> ReadWantedAsync(CancellationToken cancellationToken) => _wanted.Reader.ReadAllAsync(cancellationToken);

    /// <summary>Claims a release for the background worker; false if already claimed. The caller must <see cref="End"/> the claim.</summary>
    public bool TryClaim(Release release) => _claimed.TryAdd(release.Id, new OpeningClaim());

    /// <summary>Whether a reader waits for a claimed release.</summary>
    public bool IsWanted(Release release) => _claimed.TryGetValue(release.Id, out var claim) && claim.IsWanted;

    /// <summary>Returns a claim whose opening was canceled. If a reader is waiting, queues the release for that reader.</summary>
    public void Return(Release release)
    {
        if (IsWanted(release))
            _wanted.Writer.TryWrite(release);
        else
            End(release, failure: null);
    }

    /// <summary>Ends a claim and lets its readers continue.</summary>
    /// <param name="failure">Why the opening failed for now; null after success or refusal.</param>
    public void End(Release release, Exception? failure)
    {
        if (!_claimed.TryRemove(release.Id, out var claim))
            return;
        if (failure is null)
            claim.Ended.SetResult();
        else
            claim.Ended.SetException(new ReleaseNotOpenedException($"The release cannot be opened at present: {failure.Message}", isRefused: false, failure));
    }

    /// <summary>Returns the newest waiting release outside <paramref name="except"/>, or null.</summary>
    public Task<Release?> FindNextAsync(IReadOnlyCollection<long> except, CancellationToken cancellationToken) => database.ReadAsync(
        connection => connection.QueryFirstOrDefault<LibraryRow>(
            $"""
            SELECT r.id AS ReleaseId, r.category AS Category, r.name AS Release, r.nzb_hash AS NzbHash, r.published_at AS PublishedAt
            FROM release_opening o JOIN release r ON r.id = o.release_id
            WHERE o.refusal IS NULL AND o.opened = 0 AND NOT {SqlDialect.In("o.release_id", "@except")} ORDER BY r.published_at DESC LIMIT 1
            """,
            new { except = SqlDialect.List(except) })?.ToRelease(),
        cancellationToken);

    public Task<int> CountWaitingAsync(CancellationToken cancellationToken) => database.ReadAsync(
        connection => connection.ExecuteScalar<int>("SELECT count(*) FROM release_opening WHERE refusal IS NULL AND opened = 0"), cancellationToken);

    /// <summary>Lists the unopened files of refused releases with the reasons.</summary>
    public Task<IReadOnlyList<RefusedFile>> ListRefusedAsync(CancellationToken cancellationToken) => database.ReadAsync(
        connection => (IReadOnlyList<RefusedFile>)
        [
            .. connection.Query<RefusedFile>(
                """
                SELECT r.category AS Category, r.name AS Release, f.path_key AS PathKey, o.refusal AS Refusal
                FROM release_opening o JOIN release r ON r.id = o.release_id JOIN library_file f ON f.release_id = r.id
                WHERE o.refusal IS NOT NULL AND f.content = @unopened ORDER BY r.category, r.name, f.path_key
                """,
                new { unopened = new SqlBytes(ContentMap.Pack(FileContent.Unopened)) }),
        ],
        cancellationToken);

    /// <summary>Dequeues an opened release, or stores the refusal if any file or map is still unverified. Runs in the caller's transaction.</summary>
    public void Settle(DbConnection connection, Release release, string? refusal)
    {
        if (refusal is not null && LibraryStore.IsUnproved(connection, release.Id))
        {
            connection.Execute(
                "UPDATE release_opening SET refusal = @refusal, tried_at = @at WHERE release_id = @Id",
                new { release.Id, refusal, at = time.WallTime().ToUnixTimeMilliseconds() });
        }
        else
        {
            connection.Execute(
                """
                DELETE FROM release_opening WHERE release_id = @Id AND password = '';
                UPDATE release_opening SET opened = 1, refusal = NULL, tried_at = NULL WHERE release_id = @Id;
                """,
                new { release.Id });
        }
    }

    private Task Claim(Release release)
    {
        while (true)
        {
            if (_claimed.TryGetValue(release.Id, out var known))
            {
                known.IsWanted = true;
                return known.Ended.Task;
            }

            var claim = new OpeningClaim { IsWanted = true };
            if (!_claimed.TryAdd(release.Id, claim))
                continue;
            _wanted.Writer.TryWrite(release);
            return claim.Ended.Task;
        }
    }

    private async Task WaitAsync(Release release, CancellationToken cancellationToken)
    {
        try
        {
            await Claim(release).WaitAsync(ReaderTimeout, time, cancellationToken);
        }
        catch (TimeoutException late)
        {
            throw new ReleaseNotOpenedException("The release is still being opened.", isRefused: false, late);
        }
    }

    private Task<string?> FindRefusalAsync(long releaseId, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => FindRefusal(connection, releaseId), cancellationToken);

    /// <summary>Returns why the release was refused; null if it was not refused, or the refusal has expired.</summary>
    private string? FindRefusal(DbConnection connection, long releaseId) => connection.ExecuteScalar<string?>(
        "SELECT refusal FROM release_opening WHERE release_id = @releaseId AND tried_at > @since",
        new { releaseId, since = (time.WallTime() - RefusalLifetime).ToUnixTimeMilliseconds() });

    /// <summary>A release that waits to be opened or is being opened.</summary>
    private sealed class OpeningClaim
    {
        private volatile bool _isWanted;

        public OpeningClaim()
        {
            // Observe the exception, because there may be no reader waiting for it.
            _ = Ended.Task.ContinueWith(static ended => ended.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
        }

        public TaskCompletionSource Ended { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>Whether a reader waits; never reset.</summary>
        public bool IsWanted
        {
            get => _isWanted;
            set => _isWanted = value;
        }
    }
}

/// <summary>A file cannot be read yet, because its release is not opened. If it was refused, the message gives the reason.</summary>
internal sealed class ReleaseNotOpenedException(string message, bool isRefused, Exception? inner = null) : IOException(message, inner)
{
    public bool IsRefused => isRefused;
}
