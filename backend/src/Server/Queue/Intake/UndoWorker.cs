using System.Globalization;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Outbound;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>A removal that can be taken back.</summary>
/// <param name="Id">What it is taken back by.</param>
/// <param name="Count">How much was removed.</param>
/// <param name="Until">Until when.</param>
internal sealed record UndoTicket(string Id, int Count, DateTimeOffset Until);

/// <summary>What has become of the wish to take a removal back.</summary>
internal enum UndoEnd
{
    /// <summary>Everything is where it was.</summary>
    TakenBack,

    /// <summary>Its time is over, or it was taken back before.</summary>
    TooLate,

    /// <summary>There never was such a removal.</summary>
    Unknown,
}

/// <summary>
/// Removes items of queue and history so that it can be taken back for a while, also after a restart (HLT-61), and drops them for good when
/// that time is over. Releases are never touched.
/// </summary>
internal sealed class UndoWorker(
    SluiceDatabase database,
    QueueActivity activity,
    QueueSchedule schedule,
    UrlFetchWorker fetches,
    StoredNzbs stored,
    RcloneNotifier rclone,
    TimeProvider time) : IWorker
{
    /// <summary>How long a removal can be taken back.</summary>
    public static readonly TimeSpan Term = TimeSpan.FromSeconds(10);

    private const string Prefix = "u-";

    // A removal dirties pages all over its indices, and a commit writes each of them: many small transactions write the same pages again and
    // again. This many take a half second, for which adds may wait.
    private const int PerTransaction = 20_000;

    private readonly WakeSignal _signal = new(time);

    /// <inheritdoc/>
    public string Name => "what was removed";

    /// <summary>Removes items of the queue. Work on them stops at once.</summary>
    /// <param name="ids">Which; unknown ones are passed over.</param>
    /// <param name="cancellationToken">Counts until the first transaction begins.</param>
    /// <returns>Null where none of them was there.</returns>
    public Task<UndoTicket?> RemoveItemsAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) => RemoveAsync(
        [.. ids.Distinct()],
        RemovedStore.TakeItems,
        id =>
        {
            activity.Cancel(id);
            schedule.Forget(id);
        },
        cancellationToken);

    /// <summary>Removes items of the history.</summary>
    /// <param name="numbers">Their row numbers; those that are gone are passed over.</param>
    /// <param name="cancellationToken">Counts until the first transaction begins.</param>
    /// <returns>Null where none of them was there.</returns>
    public Task<UndoTicket?> RemoveHistoryAsync(IReadOnlyCollection<long> numbers, CancellationToken cancellationToken) =>
        RemoveAsync(numbers, RemovedStore.TakeHistory, Tell, cancellationToken);

    /// <summary>Takes a removal back.</summary>
    /// <param name="id">The id of its ticket.</param>
    /// <param name="cancellationToken">Counts until the transaction begins.</param>
    public async Task<UndoEnd> TakeBackAsync(string id, CancellationToken cancellationToken)
    {
        if (!id.StartsWith(Prefix, StringComparison.Ordinal)
            || !long.TryParse(id.AsSpan(Prefix.Length), NumberStyles.None, CultureInfo.InvariantCulture, out var removal))
            return UndoEnd.Unknown;

        IReadOnlyList<EndedItem> ended = [];
        var end = await database.WriteAsync(
            connection =>
            {
                var isOpen = RemovedStore.IsOpen(connection, removal, time.WallTime().ToUnixTimeMilliseconds());
                if (isOpen == true)
                    ended = RemovedStore.Return(connection, removal);
                return isOpen switch
                {
                    true => UndoEnd.TakenBack,
                    false => UndoEnd.TooLate,
                    null => UndoEnd.Unknown,
                };
            },
            cancellationToken);
        if (end == UndoEnd.TakenBack)
        {
            foreach (var item in ended)
                Tell(item);
            schedule.Wake();
            fetches.Wake();
        }

        return end;
    }

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        // Without a database the server only explains itself.
        if (!database.IsOpen)
            return;
        try
        {
            while (true)
                await _signal.WaitAsync(await DropDueAsync(stopping), stopping);
        }
        catch (DatabaseLostException)
        {
            // Safe mode: nothing is removed any more.
        }
    }

    private async Task<UndoTicket?> RemoveAsync<TKey, TRemoved>(
        IReadOnlyCollection<TKey> keys,
        Func<System.Data.Common.DbConnection, long, IReadOnlyCollection<TKey>, IReadOnlyList<TRemoved>> take,
        Action<TRemoved> settle,
        CancellationToken cancellationToken)
    {
        var (removal, count, until) = ((long?)null, 0, time.WallTime());
        foreach (var chunk in keys.Chunk(PerTransaction))
        {
            // All of it or nothing: once it has begun it is carried through.
            var removed = await database.WriteAsync(
                connection =>
                {
                    until = time.WallTime() + Term;
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

    /// <returns>How long until the next one is due; null where there is none.</returns>
    private async Task<TimeSpan?> DropDueAsync(CancellationToken stopping)
    {
        var now = time.WallTime();
        var (due, next) = await database.WriteAsync(
            connection => RemovedStore.Close(connection, now.ToUnixTimeMilliseconds(), (now + (Term * 2)).ToUnixTimeMilliseconds()), stopping);
        foreach (var removal in due)
        {
            while (await database.WriteAsync(connection => RemovedStore.Drop(connection, removal), stopping) is { } hashes)
                await stored.ReleaseAsync(hashes, CancellationToken.None);
        }

        if (next is not { } at)
            return null;
        var left = TimeSpan.FromMilliseconds(at - time.WallTime().ToUnixTimeMilliseconds());
        return left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }

    private void Tell(EndedItem item)
    {
        if (item is { IsCompleted: true, Archived: false })
            rclone.ReleaseChanged(item.Folder, item.Name);
    }
}
