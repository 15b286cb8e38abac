using System.Data.Common;

namespace Sluice.Server.Queue;

/// <summary>A change of one item; null leaves a property as it is.</summary>
internal sealed record ItemChange(string? Name = null, string? Category = null, QueuePriority? Priority = null, bool? Paused = null)
{
    /// <summary>Empty removes the password.</summary>
    public string? Password { get; init; }

    /// <summary>0-based place in the whole queue; a place after the last one means the last.</summary>
    public int? Position { get; init; }

    /// <summary>How many places the item moves, negative towards the front. Counts only without a position.</summary>
    public int? Step { get; init; }
}

/// <summary>Changes items of the queue for every API, and wakes the worker because a changed item may start now.</summary>
internal sealed class QueueCommands(
    QueueStore store, QueueOrderStore order, QueueRenaming renaming, QueueActivity activity, QueueSchedule schedule)
{
    /// <summary>Changes an item one property after the other; does nothing if it is not in the queue.</summary>
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

    /// <summary>Makes the same change to several items; null leaves a property as it is.</summary>
    public async Task ChangeAsync(IReadOnlyList<string> ids, string? category, QueuePriority? priority, bool? paused, CancellationToken cancellationToken)
    {
        if (category is not null)
            await renaming.SetCategoryAsync(ids, category, cancellationToken);
        if (priority is not null)
            await SetPriorityAsync(ids, priority, cancellationToken);
        if (paused is { } value)
            await SetPausedAsync(ids, value, cancellationToken);
    }

    /// <summary>Pauses or resumes items. A running import of a paused item is canceled; it starts over after the item is resumed.</summary>
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
        // An item of Force may start now even if the queue is paused.
        schedule.Wake();
        return place;
    }

    /// <summary>Moves an item to the place of another one.</summary>
    /// <returns>The new place of the item, or null if either item is unknown or both are the same.</returns>
    public Task<QueuePlace?> MoveAsync(string id, string other, CancellationToken cancellationToken) => MoveAsync(id, _ => other, cancellationToken);

    /// <summary>Moves an item to a 0-based place of the whole queue.</summary>
    /// <returns>The new place of the item, or null if it is unknown or no other item has that place.</returns>
    public Task<QueuePlace?> MoveAsync(string id, int index, CancellationToken cancellationToken) =>
        MoveAsync(id, connection => QueueOrderStore.FindAt(connection, index), cancellationToken);

    /// <summary>Sorts the items of each band. Equal items keep their order.</summary>
    public Task SortAsync(QueueSortKey key, bool descending, CancellationToken cancellationToken) => order.SortAsync(
        key, descending, [.. activity.Current.OrderByDescending(item => item.Value.Percent).Select(item => item.Key)], cancellationToken);

    private async Task<QueuePlace?> MoveAsync(string id, Func<DbConnection, string?> target, CancellationToken cancellationToken)
    {
        var place = await order.MoveAsync(id, target, [.. activity.Current.Keys], cancellationToken);
        schedule.Wake();
        return place;
    }
}
