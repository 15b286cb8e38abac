using System.Data.Common;
using Dapper;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>
/// Checks the whole database beside all else: after a start unless the last stop was clean and the file is unchanged, and once a week.
/// Writes of a start wait for it for ten seconds. What looks like an orphan goes to the quarantine only after it was found sound.
/// </summary>
internal sealed class IntegrityWorker(
    SluiceDatabase database,
    BlobStore blobs,
    BlobQuarantine quarantine,
    IEnumerable<BlobReference> references,
    SafeMode safeMode,
    TimeProvider time,
    ILogger<IntegrityWorker> logger) : IDisposable
{
    /// <summary>How long a check counts.</summary>
    public static readonly TimeSpan Week = TimeSpan.FromDays(7);

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Round = TimeSpan.FromHours(1);

    private readonly TaskCompletionSource _mayWrite = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private OpenedDatabase? _opened;

    /// <summary>Ends when the database may be written to.</summary>
    public Task MayWrite => _mayWrite.Task;

    /// <summary>When the whole database was last found sound; null where that is not known.</summary>
    public DateTimeOffset? CheckedAt { get; private set; }

    /// <summary>Hands over a database that was opened. Once, before <see cref="RunAsync"/>.</summary>
    public void Begin(OpenedDatabase opened) => _opened = opened;

    /// <summary>Lets writes begin that still wait, since no check will end any more.</summary>
    public void Dispose() => _mayWrite.TrySetResult();

    /// <summary>Looks after the database until it is cancelled, in the middle of a check too; returns at once where none was opened.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        if (_opened is not { } opened)
            return;
        // The wall clock alone cannot make a check count for longer than a week.
        var (countsFor, since) = (TimeSpan.Zero, time.GetTimestamp());
        if (opened.CheckedAt is { } last && time.WallTime() - last is var age && age >= TimeSpan.Zero && age < Week)
        {
            (CheckedAt, countsFor) = (last, Week - age);
            DatabaseLog.Unchanged(logger, last);
        }

        try
        {
            await using var patience = time.CreateTimer(_ => _mayWrite.TrySetResult(), null, Patience, Timeout.InfiniteTimeSpan);
            if (countsFor > TimeSpan.Zero)
                _mayWrite.TrySetResult();
            var isFirst = true;
            while (!safeMode.IsOn)
            {
                if (time.GetElapsedTime(since) >= countsFor && await TryAsync(() => CheckAsync(isFirst && opened.MaySweep, stopping)))
                    (countsFor, since) = (Week, time.GetTimestamp());
                _mayWrite.TrySetResult();
                if (isFirst)
                    await TryAsync(() => opened.Noting);
                isFirst = false;
                if (!safeMode.IsOn)
                    await TryAsync(PassDayAsync);
                await Task.Delay(Round, time, stopping);
            }
        }
        finally
        {
            _mayWrite.TrySetResult();
            await TryAsync(() => opened.Noting);
        }
    }

    private async Task CheckAsync(bool maySweep, CancellationToken stopping)
    {
        if (!await database.CheckAsync(stopping))
            return;
        CheckedAt = time.WallTime();
        DatabaseLog.Checked(logger);
        _mayWrite.TrySetResult();
        if (maySweep && await FindOrphansAsync(stopping) is { Paths.Count: > 0 } orphans)
        {
            // Moved by the writer, so that no row can appear meanwhile. A blob that an upload has written anew stays.
            await database.WriteAsync(connection => Move(connection, orphans), stopping);
        }
    }

    /// <summary>Looks for blobs without a row; nothing where table and index of the rows do not say the same.</summary>
    private async Task<Orphans?> FindOrphansAsync(CancellationToken stopping)
    {
        var referenced = await database.ReadAsync(
            connection =>
            {
                var all = new HashSet<UInt128>();
                foreach (var reference in references)
                {
                    var rows = Keys(connection, reference.TableSql);
                    if (!rows.SetEquals(Keys(connection, reference.IndexSql)))
                        return null;
                    all.UnionWith(rows);
                }

                all.UnionWith(KeptNzbs.Read(connection));
                return all;
            },
            stopping);
        if (referenced is null)
            return null;

        var orphans = blobs.FindOrphans(referenced);
        if (orphans.Hashes <= OpeningPolicy.MostLost(orphans.Stored))
            return orphans;
        DatabaseLog.Braked(logger, orphans.Hashes, orphans.Stored, OpeningPolicy.MostLost(orphans.Stored));
        return null;
    }

    private bool Move(DbConnection connection, Orphans orphans)
    {
        var moved = orphans.Paths
            .Where(path => !references.Any(reference => connection.ExecuteScalar<bool>(
                $"SELECT EXISTS (SELECT 1 FROM {reference.Table} WHERE {reference.Column} = @hash)", new { hash = Path.GetFileName(path).Split('.')[0] })))
            .Count(blobs.TryQuarantine);
        DatabaseLog.Quarantined(logger, moved, BlobQuarantine.Days);
        return true;
    }

    private Task PassDayAsync()
    {
        quarantine.TryPassDay();
        return Task.CompletedTask;
    }

    /// <summary>A fault of the disk, or of one look, is told and leaves the rest to the next round.</summary>
    private async Task<bool> TryAsync(Func<Task> step)
    {
        try
        {
            await step();
            return !safeMode.IsOn;
        }
        catch (DatabaseLostException)
        {
            return false;
        }
        catch (Exception e) when (e is not OperationCanceledException)
        {
            DatabaseLog.CheckFailed(logger, e.Message, (long)Round.TotalMinutes);
            return false;
        }
    }

    private static HashSet<UInt128> Keys(DbConnection connection, string sql) =>
        [.. connection.Query<string>(sql, buffered: false).Select(hash => BlobStore.KeyOf(hash))];
}
