using System.Data.Common;
using System.Globalization;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Backups;

/// <summary>The second folder, as shown in the web UI.</summary>
/// <param name="Path">The folder; empty if none is set.</param>
/// <param name="All">Verified backups in the folder, newest first.</param>
/// <param name="IsCopying">Whether a backup is being copied, or copies are being reread.</param>
/// <param name="Failure">Why the last attempt failed, as the end of a sentence; null if it succeeded or there was none.</param>
/// <param name="FailedAt">When the last attempt failed.</param>
/// <param name="Warning">Why the copies protect less than they could, as a sentence; null if nothing is wrong.</param>
internal sealed record SecondFolderState(
    string Path, IReadOnlyList<Backup> All, bool IsCopying, string? Failure, DateTimeOffset? FailedAt, string? Warning)
{
    public static readonly SecondFolderState None = new("", [], false, null, null, null);
}

/// <summary>
/// Copies each new backup to the second folder, and rereads a thirtieth of the copied NZBs each day, with the lowest priority (OPS-5). An unusable folder is
/// reported, and never affects the backups in the data folder.
/// </summary>
/// <remarks>Thread-safe; one loop runs.</remarks>
internal sealed class SecondFolderWorker(
    SluiceDatabase database,
    BackupWorker backups,
    BlobStore originals,
    IBlobFiles files,
    BackupProof proof,
    IEnumerable<BlobReference> references,
    DataFolder folder,
    IOptionsMonitor<BackupOptions> options,
    TimeProvider time,
    ILogger<SecondFolderWorker> logger)
{
    // Never wait longer, because the clock may be changed meanwhile.
    private static readonly TimeSpan Longest = TimeSpan.FromHours(1);

    private static readonly TimeSpan MaxAge = TimeSpan.FromDays(2);

    private readonly WakeSignal _wake = new(time);
    private readonly WatchedState<SecondFolderState> _state = new(SecondFolderState.None);
    private readonly long _startedAt = time.GetTimestamp();

    // Set by callbacks and cleared by the loop.
    private volatile bool _isAsked;

    // Used only by the loop.
    private SecondFolderNote? _note;
    private int _failures;
    private long _failedAt;

    public SecondFolderState State => _state.Value;

    /// <summary>A sentence for the operator if the newest backup has not been copied; null if it has, or if no second folder is set.</summary>
    public string? Complaint
    {
        get
        {
            var state = State;
            if (state.Path.Length == 0)
                return null;
            if (state.Failure is { } failure)
                return $"The backups could not be copied to the second folder: {failure}.";
            var isOld = !HasNewest(state) && time.GetElapsedTime(_startedAt) >= MaxAge
                && (state.All is not [var newest, ..] || time.WallTime() - newest.Manifest.StillTrueAt >= MaxAge);
            return isOld ? "The newest backup in the second folder is more than two days old." : null;
        }
    }

    /// <summary>Fires at the next change of <see cref="State"/>.</summary>
    public IChangeToken GetChangeToken() => _state.GetChangeToken();

    /// <summary>Deletes a backup in the second folder, unless it is the only one there. Returns false if it is the only one.</summary>
    /// <exception cref="StorageException">The backup cannot be deleted.</exception>
    public bool TryDelete(Backup backup)
    {
        var second = new BackupFolder(State.Path);
        if (second.List() is not { Count: > 1 })
            return false;
        second.Delete(backup);
        _state.Change(state => state with { All = second.List() });
        return true;
    }

    /// <summary>Runs until canceled. Returns immediately in safe mode.</summary>
    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        // The setting may have been removed while the server was stopped.
        if (options.CurrentValue.SecondDir.Length == 0)
            SecondFolderNote.Remove(folder);
        using var settings = options.OnChange(_ => Ask());
        var known = NewestId();
        using var made = ChangeToken.OnChange(backups.GetChangeToken, () =>
        {
            if (NewestId() is { } id && Interlocked.Exchange(ref known, id) != id)
                Ask();
        });
        while (true)
        {
            await TakeSettingAsync();
            if (State.Path.Length > 0 && (TakeAsk() || WaitTime() <= TimeSpan.Zero))
                await RunRoundAsync(stopping);
            else
                await _wake.WaitAsync(State.Path.Length > 0 && WaitTime() is var wait && wait < Longest ? wait : Longest, stopping);
        }
    });

    private void Ask()
    {
        _isAsked = true;
        _wake.Set();
    }

    private bool TakeAsk()
    {
        var isAsked = _isAsked;
        _isAsked = false;
        return isAsked;
    }

    private string? NewestId() => backups.State.All is [var newest, ..] ? newest.Id : null;

    private bool HasNewest(SecondFolderState state) => NewestId() is not { } id || state.All.Any(backup => backup.Id == id);

    /// <summary>Switches to another folder if the setting has changed.</summary>
    private async Task TakeSettingAsync()
    {
        var path = options.CurrentValue.SecondDir;
        if (path == State.Path)
            return;
        (_failures, _note) = (0, SecondFolderNote.Read(folder));
        if (path.Length == 0)
        {
            _note = null;
            SecondFolderNote.Remove(folder);
            _state.Change(_ => SecondFolderState.None);
            return;
        }

        if (_note?.Path != path)
            _note = new SecondFolderNote(path, WasUsed: false, CheckedOn: null, Part: PoolCheck.Days - 1, Damaged: 0);
        // Reading a network share may take long, so do not block this thread.
        var found = await LowPriority.RunAsync(() => (All: List(path), Warning: SecondPlace.FindWarning(folder, path)));
        _state.Change(_ => SecondFolderState.None with { Path = path, All = found.All, Warning = found.Warning });
    }

    /// <summary>Returns the time until the next round, unless a request comes first.</summary>
    private TimeSpan WaitTime()
    {
        // Without a backup there is nothing to copy, and the next backup wakes the loop.
        if (NewestId() is null)
            return Longest;
        if (_failures > 0)
            return BackupSchedule.RetryPause(_failures) - time.GetElapsedTime(_failedAt);
        return HasNewest(State) && _note?.CheckedOn == Today ? Longest : BackupSchedule.StartPause - time.GetElapsedTime(_startedAt);
    }

    private DateOnly Today => DateOnly.FromDateTime(time.WallTime().UtcDateTime);

    private async Task RunRoundAsync(CancellationToken stopping)
    {
        var path = State.Path;
        _state.Change(state => state with { IsCopying = true });
        try
        {
            var warning = await LowPriority.RunAsync(() => RunRound(path, stopping));
            _failures = 0;
            _state.Change(state => state with { Failure = null, FailedAt = null, Warning = warning });
        }
        catch (Exception e) when (e is BackupFailedException or IOException or UnauthorizedAccessException or DbException)
        {
            var sentence = Describe(e, path);
            (_failures, _failedAt) = (_failures + 1, time.GetTimestamp());
            BackupsLog.NotCopied(logger, path, e.Message, BackupSchedule.RetryPause(_failures).TotalHours);
            _state.Change(state => state with { Failure = sentence, FailedAt = time.WallTime(), Warning = null });
        }
        finally
        {
            var all = await LowPriority.RunAsync(() => List(path));
            _state.Change(state => state with { All = all, IsCopying = false });
        }
    }

    /// <summary>Copies the newest backup and rereads the part for the day. Returns a warning, or null.</summary>
    private string? RunRound(string path, CancellationToken stopping)
    {
        if (backups.State.All is not [var newest, ..])
            return SecondPlace.FindWarning(folder, path);
        var (second, note) = (new SecondFolder(path, files, proof, references), _note!);
        second.Require(newest.Manifest.Instance, note.WasUsed);
        if (second.Backups.Find(newest.Id) is null)
        {
            var began = time.GetTimestamp();
            var (made, copied) = second.Copy(newest, originals, stopping);
            BackupsLog.Copied(logger, made.Id, path, copied, (long)time.GetElapsedTime(began).TotalMilliseconds);
            note = note with { WasUsed = true };
            note.Write(folder);
            // Only now can the folder contain backups past their retention.
            if (second.Backups.MayRotate(time.WallTime()))
            {
                foreach (var old in second.Prune(options.CurrentValue.Days, options.CurrentValue.Weeks, time.WallTime()))
                    BackupsLog.Rotated(logger, old.Path);
            }
        }

        _note = note.CheckedOn == Today ? note : ReadAgain(second, note, stopping);
        return _note.Damaged switch
        {
            0 => SecondPlace.FindWarning(folder, path),
            1 => "One NZB is damaged here and in the data folder.",
            var damaged => string.Create(CultureInfo.InvariantCulture, $"{damaged} NZBs are damaged here and in the data folder."),
        };
    }

    /// <summary>Rereads the next part of the copied NZBs, and records that in the note.</summary>
    private SecondFolderNote ReadAgain(SecondFolder second, SecondFolderNote note, CancellationToken stopping)
    {
        var part = (note.Part + 1) % PoolCheck.Days;
        var (replaced, damaged) = new PoolCheck(second.Pool, originals).Run(part, stopping);
        if (replaced > 0)
            BackupsLog.CopiesReplaced(logger, replaced, note.Path);
        if (damaged > 0)
            BackupsLog.CopiesDamaged(logger, damaged, note.Path);
        var read = note with { CheckedOn = Today, Part = part, Damaged = damaged };
        read.Write(folder);
        return read;
    }

    /// <summary>Describes a failure to clients, which must not see paths.</summary>
    private static string Describe(Exception failure, string path)
    {
        if (failure is BackupFailedException)
            return failure.Message;
        if (StorageException.From(failure, path) is not { } fault)
            return "a file in it is damaged";
        var disk = fault.Path.StartsWith(path, StringComparison.Ordinal) ? "its disk" : "the disk of the data folder";
        return fault.Fault switch
        {
            StorageFault.Full => $"{disk} is full",
            StorageFault.Denied => "Sluice may not write to it",
            _ => $"{disk} cannot be used",
        };
    }

    private static IReadOnlyList<Backup> List(string path)
    {
        try
        {
            return new BackupFolder(path).List();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The next round reports why the folder cannot be used.
            return [];
        }
    }
}
