using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Outbound;

namespace Sluice.Server.Queue;

/// <summary>
/// Archives items of the history or removes them for good, with the NZBs that nothing else needs. Releases are never touched: an *arr
/// deletes its history item after every import, and what it has imported goes on playing.
/// </summary>
internal sealed class HistoryRemoval(SluiceDatabase database, StoredNzbs stored, RcloneNotifier rclone)
{
    // Keeps each transaction short enough for adds to go on beside it.
    private const int PerTransaction = 200;

    /// <summary>Archives items.</summary>
    /// <param name="numbers">Their row numbers; those that are gone are passed over.</param>
    /// <param name="forgetsNzbs">Whether failed items lose their NZB.</param>
    /// <param name="cancellationToken">Gives up between transactions.</param>
    public async Task ArchiveAsync(IReadOnlyList<long> numbers, bool forgetsNzbs, CancellationToken cancellationToken)
    {
        foreach (var chunk in numbers.Chunk(PerTransaction))
        {
            var items = await database.WriteAsync(connection => HistoryStore.Archive(connection, chunk, forgetsNzbs), cancellationToken);
            await SettleAsync(items, forgetsNzbs ? items.Where(item => !item.IsCompleted) : []);
        }
    }

    /// <summary>Removes items.</summary>
    /// <param name="numbers">Their row numbers; those that are gone are passed over.</param>
    /// <param name="cancellationToken">Gives up between transactions.</param>
    public async Task RemoveAsync(IReadOnlyList<long> numbers, CancellationToken cancellationToken)
    {
        foreach (var chunk in numbers.Chunk(PerTransaction))
        {
            Failpoint.Reach("forget-begins");
            var items = await database.WriteAsync(connection => HistoryStore.Remove(connection, chunk), cancellationToken);
            Failpoint.Reach("forget-committed");
            await SettleAsync(items, items);
            Failpoint.Reach("forget-settled");
        }
    }

    private Task SettleAsync(IReadOnlyList<EndedItem> ended, IEnumerable<EndedItem> withoutNzb)
    {
        foreach (var item in ended.Where(item => item is { IsCompleted: true, Archived: false }))
            rclone.ReleaseChanged(item.Folder, item.Name);
        return stored.ReleaseAsync(withoutNzb.Select(item => item.NzbHash).OfType<string>(), CancellationToken.None);
    }
}
