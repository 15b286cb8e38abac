using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>Outcome of a rename.</summary>
internal enum RenameOutcome
{
    /// <summary>The file has it.</summary>
    Done,

    /// <summary>The file has it, and another one that had it has left the queue.</summary>
    Replaced,

    /// <summary>Another file has it, and may not be replaced.</summary>
    Taken,

    /// <summary>There is no such file, or no longer.</summary>
    NotFound,
}

/// <summary>
/// Gives files below <c>/nzbs</c> another name or category, and their items with them. Work that has begun goes on: a release is named
/// when it is published.
/// </summary>
internal sealed class QueueRenaming(
    SluiceDatabase database,
    QueueRemoval removal,
    CategoryRules categories,
    IOptionsMonitor<WebDavOptions> webDav)
{
    /// <summary>Moves a file.</summary>
    /// <param name="folder">Where it is.</param>
    /// <param name="name">Its name there.</param>
    /// <param name="category">Its new category as it is stored.</param>
    /// <param name="newName">Its new name, one of a file that may be PUT.</param>
    /// <param name="mayReplace">Whether a file that has the name leaves the queue.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    public async Task<RenameOutcome> MoveAsync(
        string folder, string name, string category, string newName, bool mayReplace, CancellationToken cancellationToken)
    {
        IReadOnlyList<QueueItem> displaced = [];
        var outcome = await database.WriteAsync(connection => Move(connection), cancellationToken);
        await removal.SettleAsync(displaced);
        return outcome;

        RenameOutcome Move(DbConnection connection)
        {
            if (QueueFileStore.Find(connection, folder, name) is not { } file)
                return RenameOutcome.NotFound;

            var target = categories.FolderOf(category);
            var other = QueueFileStore.Find(connection, target, newName);
            if (other?.Id == file.Id)
                return RenameOutcome.Done;
            if (other is not null && !mayReplace)
                return RenameOutcome.Taken;
            if (other is not null)
                displaced = QueueStore.RemoveFile(connection, target, newName);

            QueueFileStore.SetPlace(connection, file.Id, target, newName);
            var items = QueueStore.ListFile(connection, file.Id);
            foreach (var item in items)
            {
                var moved = items.Count == 1 ? Rename(item, newName) : item;
                var release = ReleaseName.FindFree(moved.Name, free => QueueStore.Contains(connection, target, free, item.Id));
                QueueStore.SetPlace(connection, moved with { Name = release, Category = category, Folder = target });
            }

            return other is null ? RenameOutcome.Done : RenameOutcome.Replaced;
        }
    }

    /// <summary>The item with the name that a PUT under the file's name would give it. Its password stays when the name has none.</summary>
    private QueueItem Rename(QueueItem item, string fileName)
    {
        var given = ItemName.Parse(fileName);
        var name = ReleaseName.Clean(given.Name, webDav.CurrentValue.WindowsSafePaths);
        return item with { Name = name, NzbName = QueueFile.NameOf(name), Password = given.Password ?? item.Password };
    }
}
