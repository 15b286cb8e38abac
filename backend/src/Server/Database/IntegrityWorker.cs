using System.Data.Common;
using Dapper;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>
/// Checks the whole database in the background, every week and after each startup. The startup check is skipped if the last shutdown was clean and the file is
/// unchanged. At startup, writes wait up to ten seconds for the check. Orphans are quarantined only after a successful check.
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
    /// <summary>How long a successful check stays valid.</summary>
    public static readonly TimeSpan CheckInterval = TimeSpan.FromDays(7);

    private static readonly TimeSpan MaxWriteDelay = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan RoundInterval = TimeSpan.FromHours(1);

    private readonly TaskCompletionSource _mayWrite = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private OpenedDatabase? _opened;

    public Task MayWrite => _mayWrite.Task;

    /// <summary>When the last full check passed; null if unknown.</summary>
    public DateTimeOffset? CheckedAt { get; private set; }

    /// <summary>Sets the opened database. Call once, before <see cref="RunAsync"/>.</summary>
    public void Begin(OpenedDatabase opened) => _opened = opened;

    /// <summary>Releases writes that wait for the check, because it will never complete.</summary>
    public void Dispose() => _mayWrite.TrySetResult();

    /// <summary>Runs checks until canceled, even in the middle of a check. Returns immediately if no database is open.</summary>
    public async Task RunAsync(CancellationToken stopping)
    {
        if (_opened is not { } opened)
            return;
        // Also measured by uptime, because the wall clock may jump.
        var (countsFor, since) = (TimeSpan.Zero, time.GetTimestamp());
        if (opened.CheckedAt is { } last && time.WallTime() - last is var age && age >= TimeSpan.Zero && age < CheckInterval)
        {
            (CheckedAt, countsFor) = (last, CheckInterval - age);
            DatabaseLog.Unchanged(logger, last);
        }

        try
        {
            await using var delay = time.CreateTimer(_ => _mayWrite.TrySetResult(), null, MaxWriteDelay, Timeout.InfiniteTimeSpan);
            if (countsFor > TimeSpan.Zero)
                _mayWrite.TrySetResult();
            var isFirst = true;
            while (!safeMode.IsOn)
            {
                if (time.GetElapsedTime(since) >= countsFor && await TryAsync(() => CheckAsync(isFirst && opened.MaySweep, stopping)))
                    (countsFor, since) = (CheckInterval, time.GetTimestamp());
                _mayWrite.TrySetResult();
                if (isFirst)
                    await TryAsync(() => opened.Noting);
                isFirst = false;
                if (!safeMode.IsOn)
                    await TryAsync(AdvanceDayAsync);
                await Task.Delay(RoundInterval, time, stopping);
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
            // Move the files inside a write, so that no row can be added meanwhile. Blobs rewritten by an upload stay.
            await database.WriteAsync(connection => Move(connection, orphans), stopping);
        }
    }

    /// <summary>Finds blobs without a row. Null if table and index disagree, because then neither is proof that a row is missing.</summary>
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
        DatabaseLog.SweepRefused(logger, orphans.Hashes, orphans.Stored, OpeningPolicy.MostLost(orphans.Stored));
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

    private Task AdvanceDayAsync()
    {
        quarantine.AdvanceDay();
        return Task.CompletedTask;
    }

    /// <summary>Runs one step. Logs a failure; the next round retries.</summary>
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
            DatabaseLog.CheckFailed(logger, e.Message, (long)RoundInterval.TotalMinutes);
            return false;
        }
    }

    private static HashSet<UInt128> Keys(DbConnection connection, string sql) =>
        [.. connection.Query<string>(sql, buffered: false).Select(hash => BlobStore.KeyOf(hash))];
}
