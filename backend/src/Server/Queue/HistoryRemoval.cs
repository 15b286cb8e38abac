using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Outbound;

namespace Sluice.Server.Queue;

/// <summary>
/// Hides or deletes history items, and deletes NZBs no longer needed. Releases stay, because an *arr deletes its history item after every import while
/// the imported file must keep playing.
/// </summary>
internal sealed class HistoryRemoval(SluiceDatabase database, StoredNzbs stored, RcloneNotifier rclone)
{
    // Small, so that adds can run between the transactions.
    private const int PerTransaction = 200;

    /// <summary>Hides items that a client has deleted. They stay on the history page until they expire.</summary>
    /// <param name="numbers">Row numbers; unknown ones are skipped.</param>
    /// <param name="forgetsNzbs">Whether failed items lose their NZB.</param>
    public async Task HideAsync(IReadOnlyList<long> numbers, ClientView view, bool forgetsNzbs, CancellationToken cancellationToken)
    {
        foreach (var chunk in numbers.Chunk(PerTransaction))
        {
            Failpoint.Reach("hide-begins");
            var items = await database.WriteAsync(connection => HistoryStore.Hide(connection, chunk, view, forgetsNzbs), cancellationToken);
            Failpoint.Reach("hide-committed");
            await SettleAsync(items, forgetsNzbs ? items.Where(item => !item.IsCompleted) : []);
            Failpoint.Reach("hide-settled");
        }
    }

    /// <summary>Deletes items permanently.</summary>
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
        foreach (var item in ended.Where(item => item is { IsCompleted: true, View: ClientView.History }))
            rclone.ReleaseChanged(item.Folder, item.ReleaseFolder);
        return stored.ReleaseAsync(withoutNzb.Select(item => item.NzbHash).OfType<string>(), CancellationToken.None);
    }
}
