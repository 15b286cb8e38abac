using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
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
/// Gives files below <c>/nzbs</c> another name or category, and their items with them, or single items. Work that has begun goes on: a
/// release is named when it is published.
/// </summary>
internal sealed class QueueRenaming(
    SluiceDatabase database,
    QueueRemoval removal,
    CategoryRules categories,
    ItemPasswords passwords,
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

    /// <summary>Gives an item another name.</summary>
    /// <param name="id">The item.</param>
    /// <param name="name">Its new name, which may bring a password (SAB-27).</param>
    /// <param name="password">Its new password, which goes before one in the name; empty for none.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>Whether it is there.</returns>
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

    /// <summary>Gives an item a password, or takes it away.</summary>
    /// <param name="id">The item.</param>
    /// <param name="password">Empty for none.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>Whether it is there.</returns>
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

    /// <summary>Gives items a category, also those that are worked on: it counts when they are published.</summary>
    /// <param name="ids">Which; unknown ones are passed over.</param>
    /// <param name="category">As a client has sent it.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>How many there are of them.</returns>
    public Task<int> SetCategoryAsync(IReadOnlyList<string> ids, string category, CancellationToken cancellationToken)
    {
        var stored = categories.Resolve(category);
        var folder = categories.FolderOf(stored);
        return database.WriteAsync(
            connection =>
            {
                List<QueueItem> items = [.. ids.Distinct().Select(id => QueueStore.Find(connection, id)).OfType<QueueItem>()];
                foreach (var item in items.Where(item => item.Category != stored || item.Folder != folder))
                    Place(connection, item, Rename(item, item.NzbName) with { Password = item.Password, Category = stored, Folder = folder });
                return items.Count;
            },
            cancellationToken);
    }

    /// <summary>Gives an item the category that its NZB names, unless a client has given it one.</summary>
    /// <param name="id">The item.</param>
    /// <param name="category">A configured one.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>The item as it is then, or null when it has left the queue.</returns>
    public Task<QueueItem?> SetNamedCategoryAsync(string id, string category, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection =>
            {
                if (QueueStore.Find(connection, id) is { Category: CategoryRules.None } item)
                    Place(connection, item, Rename(item, item.NzbName) with { Password = item.Password, Category = category, Folder = categories.FolderOf(category) });
                return QueueStore.Find(connection, id);
            },
            cancellationToken);

    /// <summary>Puts an item under a wished name, or the next free one, and the file along that lists for this item alone.</summary>
    private static void Place(DbConnection connection, QueueItem before, QueueItem wished)
    {
        // Several items of one file share its name and folder, so that it stays where it is.
        var file = QueueFileStore.FindOf(connection, before.Id);
        var own = file is not null && QueueStore.ListFile(connection, file.Id).Count == 1 ? file : null;
        var isNamedAfter = own?.Name == QueueFile.NameOf(before.Name);
        var item = wished with
        {
            Name = ReleaseName.FindFree(
                wished.Name,
                name => QueueStore.Contains(connection, wished.Folder, name, wished.Id)
                    || (isNamedAfter && IsTaken(connection, wished.Folder, QueueFile.NameOf(name), own!))),
        };
        QueueStore.SetPlace(connection, item);
        var fileName = isNamedAfter ? QueueFile.NameOf(item.Name) : own?.Name;
        if (fileName is not null && !IsTaken(connection, item.Folder, fileName, own!))
            QueueFileStore.SetPlace(connection, own!.Id, item.Folder, fileName);
    }

    private static bool IsTaken(DbConnection connection, string folder, string name, QueueFile file) =>
        QueueFileStore.Find(connection, folder, name) is { } other && other.Id != file.Id;

    /// <summary>The item with the name that a PUT under the file's name would give it. What the name does not say stays.</summary>
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
