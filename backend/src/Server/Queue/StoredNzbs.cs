using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;

namespace Sluice.Server.Queue;

/// <summary>
/// Deletes blobs that no row refers to (IMP-6). An upload has no row yet, so it pins its hash before the blob gets its name. A pinned blob stays until the last
/// pin is released. Thread-safe. Never accesses files under the lock or inside a transaction.
/// </summary>
internal sealed class StoredNzbs(SluiceDatabase database, BlobStore blobs, ILogger<StoredNzbs> logger)
{
    // Guards the fields below. No other lock is acquired while holding it.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, int> _pins = [];

    // Hashes whose rows are being checked and whose blobs may be deleted. A new pin waits until the removal ends.
    private readonly Dictionary<string, TaskCompletionSource> _leaving = [];

    /// <summary>Starts an upload. Disposing the lease ends the upload.</summary>
    public UploadLease BeginUpload() => new(this);

    /// <summary>Deletes unreferenced blobs, now or when the last upload of the same content ends. Logs failures and keeps the blob.</summary>
    public async Task ReleaseAsync(IEnumerable<string> hashes, CancellationToken cancellationToken)
    {
        List<string> left = [.. hashes.Distinct()];
        while (left.Count > 0)
        {
            var (taken, others) = Begin(left);
            if (taken.Count > 0)
                await RemoveAsync(taken, cancellationToken);

            // Repeat, because the other removal may have checked the rows before this caller deleted its own.
            left = [.. others.Select(other => other.Hash)];
            await Task.WhenAll(others.Select(other => other.Removal)).WaitAsync(cancellationToken);
        }
    }

    private (List<string> Taken, List<(string Hash, Task Removal)> Others) Begin(List<string> hashes)
    {
        var (taken, others) = (new List<string>(), new List<(string, Task)>());
        lock (_gate)
        {
            foreach (var hash in hashes)
            {
                // Skip a pinned blob, because the end of its upload checks again.
                if (_pins.ContainsKey(hash))
                    continue;

                if (_leaving.TryGetValue(hash, out var removal))
                {
                    others.Add((hash, removal.Task));
                }
                else
                {
                    _leaving[hash] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                    taken.Add(hash);
                }
            }
        }

        return (taken, others);
    }

    private async Task RemoveAsync(List<string> hashes, CancellationToken cancellationToken)
    {
        try
        {
            var unneeded = await database.ReadAsync(
                connection => hashes.Where(hash => !IsNeeded(connection, hash)).ToList(), cancellationToken);
            foreach (var hash in unneeded)
                Retire(hash);
        }
        catch (DbException e)
        {
            QueueLog.BlobNotRemoved(logger, e, hashes[0]);
        }
        finally
        {
            lock (_gate)
            {
                foreach (var hash in hashes)
                {
                    _leaving.Remove(hash, out var removal);
                    removal!.SetResult();
                }
            }
        }
    }

    private static bool IsNeeded(DbConnection connection, string hash) =>
        QueueStore.Uses(connection, hash) || QueueFileStore.Uses(connection, hash)
        || HistoryStore.Uses(connection, hash) || LibraryStore.Uses(connection, hash) || RemovedStore.Uses(connection, hash)
        || RemovedFileStore.Uses(connection, hash);

    private void Retire(string hash)
    {
        try
        {
            blobs.Retire(hash);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            QueueLog.BlobNotRemoved(logger, e, hash);
        }
    }

    private async Task PinAsync(string hash, CancellationToken cancellationToken)
    {
        while (true)
        {
            Task removal;
            lock (_gate)
            {
                if (!_leaving.TryGetValue(hash, out var leaving))
                {
                    _pins[hash] = _pins.GetValueOrDefault(hash) + 1;
                    return;
                }

                removal = leaving.Task;
            }

            await removal.WaitAsync(cancellationToken);
        }
    }

    private void Unpin(IEnumerable<string> hashes)
    {
        lock (_gate)
        {
            foreach (var hash in hashes)
            {
                if (--_pins[hash] == 0)
                    _pins.Remove(hash);
            }
        }
    }

    /// <summary>Protects the blobs of an upload until rows refer to them. Disposal deletes blobs that have no row. Not thread-safe.</summary>
    internal sealed class UploadLease(StoredNzbs owner) : IAsyncDisposable
    {
        private readonly HashSet<string> _pinned = [];
        private StoredNzbs? _owner = owner;

        /// <summary>Protects a blob. Must be called before the blob gets its name.</summary>
        public async Task PinAsync(string hash, CancellationToken cancellationToken)
        {
            ObjectDisposedException.ThrowIf(_owner is null, this);
            if (_pinned.Contains(hash))
                return;
            await _owner.PinAsync(hash, cancellationToken);
            _pinned.Add(hash);
        }

        public async ValueTask DisposeAsync()
        {
            if (Interlocked.Exchange(ref _owner, null) is { } owner)
            {
                owner.Unpin(_pinned);
                await owner.ReleaseAsync(_pinned, CancellationToken.None);
            }
        }
    }
}
