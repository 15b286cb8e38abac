using System.Data.Common;

namespace Sluice.Server.Queue;

/// <summary>A change of one item. Null leaves a property unchanged.</summary>
internal sealed record ItemChange(string? Name = null, string? Category = null, QueuePriority? Priority = null, bool? Paused = null)
{
    /// <summary>New password; empty removes it.</summary>
    public string? Password { get; init; }

    /// <summary>0-based position in the whole queue, limited to the last one.</summary>
    public int? Position { get; init; }

    /// <summary>How many positions the item moves; negative values move it forward. Ignored if a position is set.</summary>
    public int? Step { get; init; }
}

/// <summary>Changes queue items for all APIs. Wakes the worker, because a changed item may start now.</summary>
internal sealed class QueueCommands(
    QueueStore store, QueueOrderStore order, QueueRenaming renaming, QueueActivity activity, QueueSchedule schedule)
{
    /// <summary>Changes an item, one property after the other. Does nothing if it is not in the queue.</summary>
    public async Task ChangeAsync(string id, ItemChange change, CancellationToken cancellationToken)
    {
        if (change.Name is { } name)
            await renaming.RenameAsync(id, name, "", cancellationToken);
        if (change.Password is { } password)
            await renaming.SetPasswordAsync(id, password, cancellationToken);
        await ChangeAsync([id], change.Category, change.Priority, null, cancellationToken);
        if (change.Position is { } position)
            await MoveAsync(id, connection => QueueOrderStore.FindAt(connection, Math.Min(position, QueueStore.Count(connection) - 1)), cancellationToken);
        else if (change.Step is { } step)
            await MoveAsync(id, connection => QueueOrderStore.FindBeside(connection, id, step), cancellationToken);
        if (change.Paused is { } paused && await store.FindAsync(id, cancellationToken) is { } item && item.Paused != paused)
            await SetPausedAsync([id], paused, cancellationToken);
        schedule.Wake();
    }

    /// <summary>Applies the same change to several items. Null leaves a property unchanged.</summary>
    public async Task ChangeAsync(IReadOnlyList<string> ids, string? category, QueuePriority? priority, bool? paused, CancellationToken cancellationToken)
    {
        if (category is not null)
            await renaming.SetCategoryAsync(ids, category, cancellationToken);
        if (priority is not null)
            await SetPriorityAsync(ids, priority, cancellationToken);
        if (paused is { } value)
            await SetPausedAsync(ids, value, cancellationToken);
    }

    /// <summary>Pauses or resumes items. Pausing cancels a running import, which starts over after the item is resumed.</summary>
    public async Task SetPausedAsync(IReadOnlyList<string> ids, bool paused, CancellationToken cancellationToken)
    {
        await store.SetPausedAsync(ids, paused, cancellationToken);
        foreach (var id in ids)
        {
            if (paused)
                activity.Cancel(id);
            else
                schedule.Forget(id);
        }

        schedule.Wake();
    }

    /// <inheritdoc cref="QueueOrderStore.SetPriorityAsync"/>
    public async Task<QueuePlace?> SetPriorityAsync(IReadOnlyList<string> ids, QueuePriority? priority, CancellationToken cancellationToken)
    {
        var place = await order.SetPriorityAsync(ids, priority, cancellationToken);
        // Wake the worker, because a Force item may start even if the queue is paused.
        schedule.Wake();
        return place;
    }

    /// <summary>Moves an item to the position of another item. Returns its new position; null if either is unknown or both are the same.</summary>
    public Task<QueuePlace?> MoveAsync(string id, string other, CancellationToken cancellationToken) => MoveAsync(id, _ => other, cancellationToken);

    /// <summary>Moves an item to a 0-based position in the whole queue.</summary>
    /// <returns>The new position; null if the item is unknown or no other item has that position.</returns>
    public Task<QueuePlace?> MoveAsync(string id, int index, CancellationToken cancellationToken) =>
        MoveAsync(id, connection => QueueOrderStore.FindAt(connection, index), cancellationToken);

    /// <summary>Sorts the items within each priority. Equal items keep their order.</summary>
    public Task SortAsync(QueueSortKey key, bool descending, CancellationToken cancellationToken) => order.SortAsync(
        key, descending, [.. activity.Current.OrderByDescending(item => item.Value.Percent).Select(item => item.Key)], cancellationToken);

    private async Task<QueuePlace?> MoveAsync(string id, Func<DbConnection, string?> target, CancellationToken cancellationToken)
    {
        var place = await order.MoveAsync(id, target, [.. activity.Current.Keys], cancellationToken);
        schedule.Wake();
        return place;
    }
}
