using System.Globalization;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Outbound;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>A removal that can be undone.</summary>
internal sealed record UndoTicket(string Id, int Count, DateTimeOffset Until);

internal enum UndoEnd
{
    Undone,

    /// <summary>The time has expired, or the removal was already undone.</summary>
    TooLate,

    Unknown,
}

/// <summary>
/// Removes queue items, history items and rejected releases. Clients can undo a removal for a while, even after a restart (HLT-61). Afterwards the
/// rows are deleted permanently, and rejected releases join the removed files, which can be restored for longer (<see cref="FileRemoval"/>).
/// </summary>
internal sealed class UndoWorker(
    SluiceDatabase database,
    QueueActivity activity,
    QueueSchedule schedule,
    UrlFetchWorker fetches,
    StoredNzbs stored,
    RcloneNotifier rclone,
    FileRemoval files,
    TimeProvider time) : IWorker
{
    /// <summary>How long a removal can be undone.</summary>
    public static readonly TimeSpan UndoTime = TimeSpan.FromSeconds(10);

    private const string Prefix = "u-";

    // Large, because a removal changes index pages everywhere and each commit rewrites them. A transaction takes half a second; adds can wait that long.
    private const int PerTransaction = 20_000;

    private readonly WakeSignal _signal = new(time);

    public string Name => "what was removed";

    /// <summary>Removes queue items and cancels their imports. Returns null if none was in the queue.</summary>
    public Task<UndoTicket?> RemoveItemsAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) => RemoveAsync(
        [.. ids.Distinct()],
        RemovedStore.TakeItems,
        id =>
        {
            activity.Cancel(id);
            schedule.Forget(id);
        },
        cancellationToken);

    /// <summary>Removes history items. Returns null if none was in the history.</summary>
    /// <param name="numbers">Row numbers. Unknown ones are skipped.</param>
    public Task<UndoTicket?> RemoveHistoryAsync(IReadOnlyCollection<long> numbers, CancellationToken cancellationToken) =>
        RemoveAsync(numbers, RemovedStore.TakeHistory, NotifyRclone, cancellationToken);

    /// <summary>Removes history items with their releases, in one transaction. Returns null if none was in the history.</summary>
    /// <param name="numbers">Row numbers; at most <see cref="FileRemoval.MostFiles"/>. Unknown ones are skipped.</param>
    public async Task<UndoTicket?> RemoveWithFilesAsync(IReadOnlyCollection<long> numbers, FileChoice choice, CancellationToken cancellationToken)
    {
        MovedFiles? moved = null;
        var ticket = await RemoveAsync<long, EndedItem>(
            numbers,
            (connection, removal, chunk) =>
            {
                // Remove the files first, so that the removed items keep their release number.
                moved = files.Take(connection, choice, removal);
                return RemovedStore.TakeHistory(connection, removal, chunk);
            },
            NotifyRclone,
            cancellationToken);
        if (moved is not null)
            files.OnRemoved(moved);
        return ticket;
    }

    /// <summary>Removes rejected releases. They stay readable until the removal can no longer be undone.</summary>
    /// <param name="numbers">Row numbers of their history items, which stay. Items without a rejected release are skipped.</param>
    /// <returns>Null if no release was rejected.</returns>
    public Task<UndoTicket?> RemoveReleasesAsync(IReadOnlyCollection<long> numbers, CancellationToken cancellationToken) =>
        RemoveAsync(numbers, ReleaseClaims.Remove, static _ => { }, cancellationToken);

    public async Task<UndoEnd> UndoAsync(string id, CancellationToken cancellationToken)
    {
        if (!id.StartsWith(Prefix, StringComparison.Ordinal)
            || !long.TryParse(id.AsSpan(Prefix.Length), NumberStyles.None, CultureInfo.InvariantCulture, out var removal))
            return UndoEnd.Unknown;

        IReadOnlyList<EndedItem> ended = [];
        MovedFiles? moved = null;
        var end = await database.WriteAsync(
            connection =>
            {
                var isOpen = RemovedStore.IsOpen(connection, removal, time.WallTime().ToUnixTimeMilliseconds());
                if (isOpen == true)
                {
                    // Find the files before the removal is deleted, but move them after the items are restored, so that items get their release back.
                    var items = RemovedFileStore.FindItemsOfHistory(connection, removal);
                    ended = RemovedStore.Return(connection, removal);
                    moved = RemovedFileStore.Return(connection, items);
                }

                return isOpen switch
                {
                    true => UndoEnd.Undone,
                    false => UndoEnd.TooLate,
                    null => UndoEnd.Unknown,
                };
            },
            cancellationToken);
        if (end == UndoEnd.Undone)
        {
            foreach (var item in ended)
                NotifyRclone(item);
            if (moved is not null)
                files.OnReturned(moved);
            schedule.Wake();
            fetches.Wake();
        }

        return end;
    }

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        while (true)
            await _signal.WaitAsync(await DropDueAsync(stopping), stopping);
    });

    private async Task<UndoTicket?> RemoveAsync<TKey, TRemoved>(
        IReadOnlyCollection<TKey> keys,
        Func<System.Data.Common.DbConnection, long, IReadOnlyCollection<TKey>, IReadOnlyList<TRemoved>> take,
        Action<TRemoved> settle,
        CancellationToken cancellationToken)
    {
        var (removal, count, until) = ((long?)null, 0, time.WallTime());
        foreach (var chunk in keys.Chunk(PerTransaction))
        {
            // Only the first transaction may be canceled, because a removal must not stop partway.
            var removed = await database.WriteAsync(
                connection =>
                {
                    until = time.WallTime() + UndoTime;
                    removal = RemovedStore.Begin(connection, removal, until.ToUnixTimeMilliseconds());
                    return take(connection, removal.Value, chunk);
                },
                removal is null ? cancellationToken : CancellationToken.None);
            count += removed.Count;
            foreach (var item in removed)
                settle(item);
        }

        _signal.Set();
        return count == 0 ? null : new UndoTicket(string.Create(CultureInfo.InvariantCulture, $"{Prefix}{removal}"), count, until);
    }

    /// <returns>Time until the next removal expires; null if there are no removals.</returns>
    private async Task<TimeSpan?> DropDueAsync(CancellationToken stopping)
    {
        var now = time.WallTime();
        var (due, next) = await database.WriteAsync(
            connection => RemovedStore.Close(connection, now.ToUnixTimeMilliseconds(), (now + (UndoTime * 2)).ToUnixTimeMilliseconds()), stopping);
        foreach (var removal in due)
        {
            while (await database.WriteAsync(connection => TakeLeaving(connection, removal), stopping) is { } moved)
                files.OnRemoved(moved);

            while (await database.WriteAsync(connection => RemovedStore.Drop(connection, removal), stopping) is { } hashes)
                await stored.ReleaseAsync(hashes, CancellationToken.None);
        }

        if (next is not { } at)
            return null;
        var left = TimeSpan.FromMilliseconds(at - time.WallTime().ToUnixTimeMilliseconds());
        return left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }

    private MovedFiles? TakeLeaving(System.Data.Common.DbConnection connection, long removal) =>
        ReleaseClaims.FindLeaving(connection, removal) is { } release ? files.Take(connection, new FileChoice([release], []), null) : null;

    private void NotifyRclone(EndedItem item)
    {
        if (item is { IsCompleted: true, View: ClientView.History })
            rclone.ReleaseChanged(item.Folder, item.ReleaseFolder);
    }
}
