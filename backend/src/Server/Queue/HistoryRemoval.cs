using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Outbound;

namespace Sluice.Server.Queue;

/// <summary>
/// Archives or deletes history items, and their NZBs unless something else needs them. Releases stay, because an *arr deletes its history item after
/// every import and the imported file must keep playing.
/// </summary>
internal sealed class HistoryRemoval(SluiceDatabase database, StoredNzbs stored, RcloneNotifier rclone)
{
    // Keeps transactions short so that adds can run in between.
    private const int PerTransaction = 200;

    /// <param name="numbers">Row numbers; unknown ones are skipped.</param>
    /// <param name="forgetsNzbs">Whether failed items lose their NZB.</param>
    public async Task ArchiveAsync(IReadOnlyList<long> numbers, bool forgetsNzbs, CancellationToken cancellationToken)
    {
        foreach (var chunk in numbers.Chunk(PerTransaction))
        {
            var items = await database.WriteAsync(connection => HistoryStore.Archive(connection, chunk, forgetsNzbs), cancellationToken);
            await SettleAsync(items, forgetsNzbs ? items.Where(item => !item.IsCompleted) : []);
        }
    }

    /// <summary>Deletes items for good.</summary>
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
            rclone.ReleaseChanged(item.Folder, item.ReleaseFolder);
        return stored.ReleaseAsync(withoutNzb.Select(item => item.NzbHash).OfType<string>(), CancellationToken.None);
    }
}
