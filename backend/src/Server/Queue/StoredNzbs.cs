using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;

namespace Sluice.Server.Queue;

/// <summary>
/// Moves stored NZBs that nothing refers to any more to the quarantine (IMP-6). Between the blob and the row of an add there is a moment in
/// which only the upload itself knows that the blob is needed, so nothing is removed while any upload is under way.
/// </summary>
internal sealed class StoredNzbs(SluiceDatabase database, BlobStore blobs)
{
    // Guards the fields below, and spans the removal itself.
    private readonly Lock _gate = new();
    private readonly HashSet<string> _postponed = [];
    private int _uploads;

    /// <summary>An upload begins; it ends with the disposal of what is returned.</summary>
    public UploadLease BeginUpload()
    {
        lock (_gate)
            _uploads++;
        return new UploadLease(this);
    }

    /// <summary>Removes those of the NZBs that nothing refers to, now or when the last upload has ended.</summary>
    public async Task ReleaseAsync(IReadOnlyCollection<string> hashes, CancellationToken cancellationToken)
    {
        if (hashes.Count > 0)
            await database.WriteAsync((connection, _) => Remove(connection, hashes), cancellationToken);
    }

    private int Remove(SqliteConnection connection, IReadOnlyCollection<string> hashes)
    {
        lock (_gate)
        {
            if (_uploads > 0)
            {
                _postponed.UnionWith(hashes);
                return 0;
            }

            var removed = 0;
            foreach (var hash in hashes)
            {
                if (QueueStore.Uses(connection, hash) || HistoryStore.Uses(connection, hash) || LibraryStore.Uses(connection, hash))
                    continue;
                blobs.Retire(hash);
                removed++;
            }

            return removed;
        }
    }

    private Task EndUploadAsync(IReadOnlyCollection<string> unneeded)
    {
        IReadOnlyCollection<string> due = [];
        lock (_gate)
        {
            _postponed.UnionWith(unneeded);
            if (--_uploads == 0)
            {
                due = [.. _postponed];
                _postponed.Clear();
            }
        }

        return ReleaseAsync(due, CancellationToken.None);
    }

    /// <summary>Keeps the blobs of an upload until rows refer to them; those that none refers to at its end go.</summary>
    /// <remarks>Has one user.</remarks>
    internal sealed class UploadLease(StoredNzbs owner) : IAsyncDisposable
    {
        private readonly HashSet<string> _hashes = [];
        private StoredNzbs? _owner = owner;

        /// <summary>The upload has brought this NZB.</summary>
        public void Track(string hash) => _hashes.Add(hash);

        /// <summary>Rows refer to all that it brought.</summary>
        public void Settle() => _hashes.Clear();

        /// <inheritdoc/>
        public async ValueTask DisposeAsync()
        {
            if (Interlocked.Exchange(ref _owner, null) is { } owner)
                await owner.EndUploadAsync(_hashes);
        }
    }
}
