using System.Data.Common;
using System.Globalization;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Outbound;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>
/// Removes files from the library and restores them (HLT-60, HLT-61). A removal and its undo are one transaction each, so a power cut leaves the files
/// wholly in the library or wholly removed. After <see cref="RemovalTerm.Length"/> the rows and their NZBs are deleted for good, in short transactions.
/// </summary>
internal sealed class FileRemoval(
    SluiceDatabase database, StoredNzbs stored, StrmLinks links, StrmRemoval strm, RcloneNotifier rclone, TimeProvider time, ILogger<FileRemoval> logger) : IWorker
{
    /// <summary>Maximum files in one removal. A removal blocks the database writer throughout, about one second for 10,000 files.</summary>
    public const int MostFiles = 20_000;

    private const string Prefix = "r-";

    private const int PerDrop = 500;

    private readonly WakeSignal _signal = new(time);

    public string Name => "removed files";

    /// <summary>Removes files from the library. Returns null if no file is left to remove.</summary>
    public async Task<MovedFiles?> RemoveAsync(FileChoice choice, CancellationToken cancellationToken)
    {
        Failpoint.Reach("files-remove-begins");
        var moved = await database.WriteAsync(connection => Take(connection, choice, null), cancellationToken);
        Failpoint.Reach("files-remove-committed");
        if (moved is not null)
            OnRemoved(moved);
        return moved;
    }

    /// <summary>Removes files in the caller's transaction. After the commit, the caller reports the removal by <see cref="OnRemoved"/>.</summary>
    /// <param name="history">Number of the history removal that this removal belongs to; null if none.</param>
    /// <returns>Null if no file is left to remove.</returns>
    public MovedFiles? Take(DbConnection connection, FileChoice choice, long? history) =>
        RemovedFileStore.Take(connection, choice, history, time.WallTime().ToUnixTimeMilliseconds(), links.Roots);

    /// <summary>Reports a committed removal.</summary>
    public void OnRemoved(MovedFiles moved)
    {
        Notify(moved);
        QueueLog.FilesRemoved(logger, moved.Releases.Count == 1 ? moved.Releases[0].Name : $"{moved.Releases.Count} releases", moved.Files);
        _signal.Set();
    }

    /// <summary>Restores items of the list of removed files. Returns the number of restored files.</summary>
    /// <param name="items">Numbers of the items; already restored or deleted ones are skipped.</param>
    public Task<int> ReturnAsync(IReadOnlyCollection<long> items, CancellationToken cancellationToken) => ReturnAsync(_ => items, cancellationToken);

    /// <summary>Restores all files of a removal. Null if no file removal has this id; 0 if its files were already restored or deleted.</summary>
    /// <param name="id">The id of the removal (<see cref="IdOf"/>).</param>
    public async Task<int?> UndoAsync(string id, CancellationToken cancellationToken)
    {
        if (!id.StartsWith(Prefix, StringComparison.Ordinal) || !long.TryParse(id.AsSpan(Prefix.Length), NumberStyles.None, CultureInfo.InvariantCulture, out var removal)
            || !await database.ReadAsync(connection => RemovedFileStore.IsKnown(connection, removal), cancellationToken))
            return null;
        return await ReturnAsync(connection => RemovedFileStore.FindItems(connection, removal), cancellationToken);
    }

    /// <summary>Reports a committed undo.</summary>
    public void OnReturned(MovedFiles moved)
    {
        Notify(moved);
        _signal.Set();
    }

    public static string IdOf(MovedFiles moved) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{moved.Removal}");

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        var last = time.GetTimestamp();
        while (true)
        {
            var isLeft = await strm.SettleAsync(stopping);
            var now = time.GetTimestamp();
            var isOpen = await PurgeAsync(time.GetElapsedTime(last, now), stopping);
            last = now;
            await _signal.WaitAsync(isOpen || isLeft ? RemovalTerm.Round : null, stopping);
        }
    });

    /// <summary>Runs one round: closes expired removals and deletes the files of closed ones, including those interrupted by a restart.</summary>
    /// <returns>Whether any removed file can still be restored.</returns>
    private async Task<bool> PurgeAsync(TimeSpan ran, CancellationToken stopping)
    {
        if (!await database.ReadAsync(RemovedFileStore.HasAny, stopping))
            return false;
        var isOpen = await database.WriteAsync(connection => RemovedFileStore.Close(connection, time.WallTime().ToUnixTimeMilliseconds(), ran), stopping);
        while (await database.ReadAsync(RemovedFileStore.FindClosed, stopping) is { } item)
        {
            Failpoint.Reach("files-purge-begins");
            var (isDone, hash) = (false, (string?)null);
            while (!isDone)
                (isDone, hash) = await database.WriteAsync(connection => RemovedFileStore.Drop(connection, item, PerDrop), stopping);
            Failpoint.Reach("files-purge-committed");
            if (hash is not null)
                await stored.ReleaseAsync([hash], CancellationToken.None);
        }

        return isOpen;
    }

    private async Task<int> ReturnAsync(Func<DbConnection, IReadOnlyCollection<long>> find, CancellationToken cancellationToken)
    {
        Failpoint.Reach("files-return-begins");
        var moved = await database.WriteAsync(connection => RemovedFileStore.Return(connection, find(connection)), cancellationToken);
        Failpoint.Reach("files-return-committed");
        OnReturned(moved);
        return moved.Files;
    }

    private void Notify(MovedFiles moved)
    {
        foreach (var release in moved.Releases)
            rclone.ReleaseChanged(release.Category, release.Name);
    }
}
