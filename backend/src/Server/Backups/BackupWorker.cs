using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Backups;

/// <summary>The backups, as shown in the web UI.</summary>
/// <param name="All">Verified backups, newest first.</param>
/// <param name="IsMaking">Whether a backup is being created now.</param>
/// <param name="Failure">Why the last attempt failed, as the end of a sentence; null if it succeeded or there was none.</param>
/// <param name="FailedAt">When the last attempt failed.</param>
/// <param name="NextAt">When the next backup is due; null if none is scheduled.</param>
internal sealed record BackupState(IReadOnlyList<Backup> All, bool IsMaking, string? Failure, DateTimeOffset? FailedAt, DateTimeOffset? NextAt);

/// <summary>Creates scheduled and manual backups, one at a time and with the lowest priority, and deletes old backups (OPS-3, OPS-6).</summary>
/// <remarks>Thread-safe; one loop runs.</remarks>
internal sealed class BackupWorker(
    SluiceDatabase database,
    DatabaseOpening opening,
    BackupFolder backups,
    BackupMaker maker,
    DataFolder folder,
    AcceptedLog accepted,
    IOptionsMonitor<BackupOptions> options,
    TimeProvider time,
    ILogger<BackupWorker> logger)
{
    // Never wait longer, because the clock may be changed meanwhile.
    private static readonly TimeSpan Longest = TimeSpan.FromHours(1);

    private static readonly TimeSpan MaxAge = TimeSpan.FromDays(2);

    private readonly WakeSignal _wake = new(time);
    private readonly DateTimeOffset _started = time.WallTime();
    private readonly long _startedAt = time.GetTimestamp();

    private readonly WatchedState<BackupState> _state = new(new BackupState([], false, null, null, null));

    // Guards the fields below. No other lock is acquired while holding it.
    private readonly Lock _gate = new();
    private bool _isRequested;
    private int _failures;
    private long _failedAt;

    public BackupState State => _state.Value;

    /// <summary>A sentence for the operator if no backup from the last two days is verified; otherwise, or if backups are off, null.</summary>
    public string? Complaint
    {
        get
        {
            var state = State;
            if (!options.CurrentValue.IsScheduled || (state.All is [var newest, ..] && time.WallTime() - newest.Manifest.StillTrueAt < MaxAge))
                return null;
            var old = state.All.Count == 0 ? "There is no backup yet" : "The newest backup is more than two days old";
            return state.Failure is { } failure ? $"{old}, because the last attempt failed: {failure}."
                // The first backup waits for a quiet moment after startup.
                : time.GetElapsedTime(_startedAt) < MaxAge ? null
                : $"{old}.";
        }
    }

    /// <summary>Fires at the next change of <see cref="State"/>.</summary>
    public IChangeToken GetChangeToken() => _state.GetChangeToken();

    /// <summary>Requests a backup now. If one is being created, another follows, because the first may lack the latest changes.</summary>
    public void Request()
    {
        lock (_gate)
            _isRequested = true;
        _state.Change(state => state with { IsMaking = true });
        _wake.Set();
    }

    /// <summary>Deletes a backup, unless it is the only one. Returns false if it is the only one.</summary>
    /// <exception cref="StorageException">The backup cannot be deleted.</exception>
    public bool TryDelete(Backup backup)
    {
        if (backups.List() is not { Count: > 1 })
            return false;
        backups.Delete(backup);
        Refresh();
        return true;
    }

    /// <summary>Removes unfinished backups left by a kill, and reads the other backups.</summary>
    public void Prepare()
    {
        backups.RemovePartials();
        Refresh();
    }

    /// <summary>Runs until canceled. Returns immediately in safe mode.</summary>
    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        using var changes = options.OnChange(_ => _wake.Set());
        while (true)
        {
            var kind = TakeRequest() ? BackupKind.Manual : WaitTime() is { } left && left <= TimeSpan.Zero ? BackupKind.Daily : (BackupKind?)null;
            if (kind is { } wanted)
                await MakeAsync(wanted, stopping);
            else
                await _wake.WaitAsync(WaitTime() is { } wait && wait < Longest ? wait : Longest, stopping);
        }
    });

    private async Task MakeAsync(BackupKind kind, CancellationToken stopping)
    {
        _state.Change(state => state with { IsMaking = true });
        var (began, isWanted) = (time.GetTimestamp(), false);
        try
        {
            await opening.NoteNumbersAsync(stopping);
            var last = backups.List() is [var newest, ..] ? newest : null;
            if (kind == BackupKind.Daily && last is not null && await LowPriority.RunAsync(() => maker.TryRenew(last)))
                BackupsLog.Unchanged(logger, last.Id);
            else
                Report(await LowPriority.RunAsync(() => maker.Make(kind, stopping)), time.GetElapsedTime(began));
            await LowPriority.RunAsync(Rotate);
            lock (_gate)
                _failures = 0;
            _state.Change(state => state with { Failure = null, FailedAt = null });
        }
        catch (Exception e) when (e is BackupFailedException or StorageException)
        {
            Fail(e is StorageException { Fault: StorageFault.Full } ? "the disk is full" : e is StorageException ? "the disk cannot be used" : e.Message, e.Message);
        }
        finally
        {
            Refresh();
            lock (_gate)
                isWanted = _isRequested;
            _state.Change(state => state with { IsMaking = isWanted });
        }
    }

    private void Report(Backup made, TimeSpan took) =>
        BackupsLog.Made(logger, made.Id, made.Manifest.Bytes, made.Manifest.Blobs, (long)took.TotalMilliseconds);

    private void Fail(string sentence, string detail)
    {
        int failures;
        lock (_gate)
            (failures, _failedAt) = (++_failures, time.GetTimestamp());
        BackupsLog.Failed(logger, detail, BackupSchedule.RetryPause(failures).TotalHours);
        _state.Change(state => state with { Failure = sentence, FailedAt = time.WallTime() });
    }

    /// <summary>Deletes the backups that are past their retention, at most once a day.</summary>
    private bool Rotate()
    {
        try
        {
            var (now, current) = (time.WallTime(), options.CurrentValue);
            if (!backups.MayRotate(now))
                return true;
            foreach (var backup in RetentionPolicy.Choose(backups.List(), current.Days, current.Weeks, now))
            {
                backups.Delete(backup);
                BackupsLog.Rotated(logger, backup.Id);
            }

            ReplacedDatabases.Prune(folder, now);
            if (backups.List() is [.., var oldest])
                accepted.Cut(oldest.Manifest.At);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            BackupsLog.NotRotated(logger, e.Message);
            return false;
        }
    }

    private bool TakeRequest()
    {
        lock (_gate)
        {
            var isRequested = _isRequested;
            _isRequested = false;
            return isRequested;
        }
    }

    /// <summary>Returns the time until the next scheduled attempt; null if none is scheduled.</summary>
    private TimeSpan? WaitTime()
    {
        int failures;
        long failedAt;
        lock (_gate)
            (failures, failedAt) = (_failures, _failedAt);
        if (failures > 0)
            return BackupSchedule.RetryPause(failures) - time.GetElapsedTime(failedAt);
        var last = State.All is [var newest, ..] ? newest.Manifest.StillTrueAt : (DateTimeOffset?)null;
        if (BackupSchedule.Next(options.CurrentValue, last, time.WallTime(), _started, time.LocalTimeZone) is not { } due)
        {
            _state.Change(state => state with { NextAt = null });
            return null;
        }

        _state.Change(state => state with { NextAt = due });
        // The delay after startup is measured in uptime, because the wall clock may jump.
        var pause = BackupSchedule.StartPause - time.GetElapsedTime(_startedAt);
        var left = due - time.WallTime();
        return left > pause ? left : pause;
    }

    private void Refresh()
    {
        var all = backups.List();
        _state.Change(state => state with { All = all });
    }
}

/// <summary>Runs blocking work on a separate thread with the lowest priority, so that players are not slowed down.</summary>
internal static class LowPriority
{
    public static Task<T> RunAsync<T>(Func<T> work)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        var thread = new Thread(() =>
        {
            try
            {
                PosixCalls.LowerPriority();
                done.SetResult(work());
            }
            catch (Exception e)
            {
                done.SetException(e);
            }
        })
        {
            IsBackground = true,
            Name = "backup",
        };
        thread.Start();
        return done.Task;
    }
}
