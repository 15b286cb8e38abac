namespace Sluice.Server.Database;

/// <summary>
/// The current storage errors. An error lasts until a write to the same path succeeds. For each path, each kind of error is logged at most once a minute,
/// because many requests may hit it (F46). Thread-safe.
/// </summary>
internal sealed class StorageState(TimeProvider time, ILogger<StorageState> logger)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMinutes(1);

    // Guards both dictionaries, which stay small because there are few paths.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, (StorageException Fault, bool IsLogged)> _faults = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Path, StorageFault Fault), long> _loggedAt = [];

    // Written under the lock. Successful writes read it without the lock. If one misses a change, a later write sees it.
    private volatile bool _hasFaults;

    // Replaced under the lock each time it completes.
    private TaskCompletionSource _passed = NewSignal();

    public IReadOnlyList<StorageException> Faults
    {
        get
        {
            lock (_gate)
                return [.. _faults.Values.Select(entry => entry.Fault)];
        }
    }

    /// <summary>Completes when the next fault ends. Get the task before you try a write, because a fault could end unnoticed in between.</summary>
    public Task NextRecovery
    {
        get
        {
            lock (_gate)
                return _passed.Task;
        }
    }

    public void Note(StorageException fault)
    {
        lock (_gate)
        {
            _hasFaults = true;
            var mayLog = !_loggedAt.TryGetValue((fault.Path, fault.Fault), out var last) || time.GetElapsedTime(last) >= Pause;
            _faults[fault.Path] = (fault, mayLog || (_faults.TryGetValue(fault.Path, out var known) && known.IsLogged));
            if (!mayLog)
                return;
            _loggedAt[(fault.Path, fault.Fault)] = time.GetTimestamp();
        }

        DatabaseLog.StorageFails(logger, fault.Message);
    }

    /// <summary>Records a successful write, which ends any fault of this path.</summary>
    public void NoteSuccess(string path)
    {
        if (!_hasFaults)
            return;
        lock (_gate)
        {
            if (!_faults.Remove(path, out var passed))
                return;
            _hasFaults = _faults.Count > 0;
            _passed.SetResult();
            _passed = NewSignal();
            if (!passed.IsLogged)
                return;
        }

        DatabaseLog.StorageWorks(logger, path);
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
