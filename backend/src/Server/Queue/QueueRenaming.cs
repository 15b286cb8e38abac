using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>What came of a new name.</summary>
internal enum RenameOutcome
{
    /// <summary>The item has it.</summary>
    Done,

    /// <summary>The item has it, and another one that had it has left the queue.</summary>
    Replaced,

    /// <summary>Another item has it, and may not be replaced.</summary>
    Taken,

    /// <summary>No release could be called that.</summary>
    BadName,

    /// <summary>There is no such item, or no longer.</summary>
    NotFound,
}

/// <summary>Gives items another name or category. Work that has begun goes on: what it makes is named when it is published.</summary>
internal sealed class QueueRenaming(
    SluiceDatabase database,
    QueueRemoval removal,
    CategoryRules categories,
    IOptionsMonitor<WebDavOptions> webDav)
{
    /// <summary>Renames an item.</summary>
    /// <param name="id">Which.</param>
    /// <param name="name">Its new name, without extension.</param>
    /// <param name="category">Its new category as it is stored.</param>
    /// <param name="mayReplace">Whether an item that has the name leaves the queue.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    public async Task<RenameOutcome> RenameAsync(
        string id, string name, string category, bool mayReplace, CancellationToken cancellationToken)
    {
        // A password in a name would become part of what everybody sees.
        if (ReleaseName.Clean(name, webDav.CurrentValue.WindowsSafePaths) != name || ItemName.Parse(name) != new ItemName(name, null))
            return RenameOutcome.BadName;

        QueueItem? displaced = null;
        var outcome = await database.WriteAsync((connection, _) => Rename(connection, out displaced), cancellationToken);
        if (outcome == RenameOutcome.Replaced)
            await removal.SettleAsync([displaced!]);
        return outcome;

        RenameOutcome Rename(SqliteConnection connection, out QueueItem? other)
        {
            var folder = categories.FolderOf(category);
            other = QueueStore.FindByName(connection, folder, name);
            if (other?.Id == id)
                other = null;
            if (other is not null && !mayReplace)
                return RenameOutcome.Taken;
            if (!QueueStore.Exists(connection, id))
                return RenameOutcome.NotFound;
            if (other is not null)
                QueueStore.Remove(connection, other.Id);
            QueueStore.SetPlace(connection, id, name, category, folder);
            return other is null ? RenameOutcome.Done : RenameOutcome.Replaced;
        }
    }
}
