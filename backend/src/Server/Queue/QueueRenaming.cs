using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

internal enum RenameOutcome
{
    Done,

    /// <summary>The file has replaced another file of this name.</summary>
    Replaced,

    /// <summary>Another file has this name, and the client did not allow replacing it.</summary>
    Taken,

    NotFound,
}

/// <summary>Renames items and files below <c>/nzbs</c>, or changes their category. Imports continue, because Publish reads the name last.</summary>
internal sealed class QueueRenaming(
    SluiceDatabase database,
    QueueRemoval removal,
    CategoryRules categories,
    ItemPasswords passwords,
    IOptionsMonitor<WebDavOptions> webDav)
{
    /// <summary>Moves a file below <c>/nzbs</c>.</summary>
    /// <param name="category">New category in its stored form.</param>
    /// <param name="newName">New name, which must be valid for a PUT.</param>
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
                QueueStore.SetPlace(connection, moved with { Category = category, Folder = target });
            }

            return other is null ? RenameOutcome.Done : RenameOutcome.Replaced;
        }
    }

    /// <summary>Renames an item. Returns whether it is in the queue.</summary>
    /// <param name="name">New name, possibly with a password (SAB-27).</param>
    /// <param name="password">Password that overrides one in the name; empty for none.</param>
    public Task<bool> RenameAsync(string id, string name, string password, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection =>
            {
                if (QueueStore.Find(connection, id) is not { } item)
                    return false;
                var renamed = Rename(item, name) with { Named = true };
                Place(connection, item, password.Length == 0 ? renamed : renamed with { Password = passwords.Seal(id, QueueItem.LimitPassword(password)) });
                return true;
            },
            cancellationToken);

    /// <summary>Sets the password of an item; empty for none. Returns whether the item is in the queue.</summary>
    public Task<bool> SetPasswordAsync(string id, string password, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection =>
            {
                if (QueueStore.Find(connection, id) is not { } item)
                    return false;
                QueueStore.SetPlace(connection, item with { Password = passwords.Seal(id, QueueItem.LimitPassword(password)) });
                return true;
            },
            cancellationToken);

    /// <summary>Sets the category of items. Running imports use it too, because Publish reads the category last.</summary>
    /// <param name="ids">Item ids. Unknown ones are skipped.</param>
    /// <param name="category">Category from the client.</param>
    /// <returns>How many of these items are in the queue.</returns>
    public Task<int> SetCategoryAsync(IReadOnlyList<string> ids, string category, CancellationToken cancellationToken)
    {
        var stored = categories.Resolve(category);
        var folder = categories.FolderOf(stored);
        return database.WriteAsync(
            connection =>
            {
                List<QueueItem> items = [.. ids.Distinct().Select(id => QueueStore.Find(connection, id)).OfType<QueueItem>()];
                foreach (var item in items.Where(item => item.Category != stored || item.Folder != folder))
                    Place(connection, item, item with { Category = stored, Folder = folder });
                return items.Count;
            },
            cancellationToken);
    }

    /// <summary>Sets an item's category to the one named by its NZB, unless the item already has one.</summary>
    /// <param name="category">A configured category.</param>
    /// <returns>The current item; null if it has left the queue.</returns>
    public Task<QueueItem?> SetNamedCategoryAsync(string id, string category, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection =>
            {
                if (QueueStore.Find(connection, id) is { Category: CategoryRules.None } item)
                    Place(connection, item, item with { Category = category, Folder = categories.FolderOf(category) });
                return QueueStore.Find(connection, id);
            },
            cancellationToken);

    /// <summary>Stores name and category of an item. Its file is renamed too if it has no other item.</summary>
    private static void Place(DbConnection connection, QueueItem before, QueueItem item)
    {
        QueueStore.SetPlace(connection, item);
        // A file with several items keeps its name, because they share it.
        if (QueueFileStore.FindOf(connection, item.Id) is not { } file || QueueStore.ListFile(connection, file.Id).Count > 1)
            return;
        var name = QueueFile.IsNamedAfter(file.Name, before.Name) ? QueueFileStore.FindFree(connection, item.Folder, item.Name, file.Id) : file.Name;
        if (QueueFileStore.Find(connection, item.Folder, name) is null)
            QueueFileStore.SetPlace(connection, file.Id, item.Folder, name);
    }

    /// <summary>Renames the item as a PUT of this file name would. Whatever the new name lacks, such as a password, stays unchanged.</summary>
    private QueueItem Rename(QueueItem item, string fileName)
    {
        var given = ItemName.Parse(fileName);
        var name = given.Name.Length == 0 ? item.Name : ReleaseName.Clean(given.Name, webDav.CurrentValue.WindowsSafePaths);
        return item with
        {
            Name = name,
            NzbName = given.Name.Length == 0 ? item.NzbName : QueueFile.NameOf(name),
            Password = given.Password is { } password ? passwords.Seal(item.Id, QueueItem.LimitPassword(password)) : item.Password,
        };
    }
}
