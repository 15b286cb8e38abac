namespace Sluice.Server.Database;

/// <summary>
/// The present faults of storage. A fault lasts from the call that meets it until a write to the same place succeeds. Each kind of
/// fault of a place is logged at most once a minute, however many requests meet it (F46).
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class StorageState(TimeProvider time, ILogger<StorageState> logger)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMinutes(1);

    // Guards the two maps. Places are the database and a few folders, so both stay small.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, (StorageException Fault, bool IsSaid)> _faults = new(StringComparer.Ordinal);
    private readonly Dictionary<(string Path, StorageFault Fault), long> _saidAt = [];

    // Written under the lock, read without it by each write that succeeds: one that misses a change is followed by another.
    private volatile bool _hasFaults;

    // Replaced under the lock each time it completes.
    private TaskCompletionSource _passed = NewSignal();

    /// <summary>The faults that have not passed.</summary>
    public IReadOnlyList<StorageException> Faults
    {
        get
        {
            lock (_gate)
                return [.. _faults.Values.Select(entry => entry.Fault)];
        }
    }

    /// <summary>
    /// Completes when the next fault passes. A caller takes it before it tries a write, so that it cannot miss a fault that passes in between.
    /// </summary>
    public Task NextPassed
    {
        get
        {
            lock (_gate)
                return _passed.Task;
        }
    }

    /// <summary>A call has met a fault.</summary>
    public void Note(StorageException fault)
    {
        lock (_gate)
        {
            _hasFaults = true;
            var mayBeSaid = !_saidAt.TryGetValue((fault.Path, fault.Fault), out var last) || time.GetElapsedTime(last) >= Pause;
            _faults[fault.Path] = (fault, mayBeSaid || (_faults.TryGetValue(fault.Path, out var known) && known.IsSaid));
            if (!mayBeSaid)
                return;
            _saidAt[(fault.Path, fault.Fault)] = time.GetTimestamp();
        }

        DatabaseLog.StorageFails(logger, fault.Message);
    }

    /// <summary>A write to a place has succeeded.</summary>
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
            if (!passed.IsSaid)
                return;
        }

        DatabaseLog.StorageWorks(logger, path);
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
