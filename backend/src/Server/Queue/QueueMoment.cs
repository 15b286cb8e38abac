using Sluice.Server.Providers;

namespace Sluice.Server.Queue;

/// <summary>What becomes of an item right now.</summary>
internal enum ItemState
{
    /// <summary>Its turn has not come.</summary>
    Queued,

    /// <summary>Its NZB is being fetched from an address.</summary>
    Fetching,

    /// <summary>It is worked on.</summary>
    Running,

    /// <summary>No provider can be asked; it is tried again by itself.</summary>
    Waiting,

    /// <summary>It, or the queue, is paused.</summary>
    Paused,
}

/// <summary>What is known at one moment of the items beside their rows.</summary>
/// <param name="Running">Items being worked on.</param>
/// <param name="Retrying">Items that wait for a provider.</param>
/// <param name="IsPaused">Whether the queue is paused.</param>
/// <param name="HasProviders">Whether there is a provider that may be asked.</param>
internal sealed record QueueMoment(IReadOnlyDictionary<string, ItemActivity> Running, IReadOnlySet<string> Retrying, bool IsPaused, bool HasProviders)
{
    /// <summary>The state of an item in SQL, as the number of an <see cref="ItemState"/>. The parameters have the names of the properties.</summary>
    public static readonly string StateSql =
        $"""
        CASE
          WHEN {Database.SqlDialect.In("id", "@running")} THEN {(int)ItemState.Running}
          WHEN paused <> 0 THEN {(int)ItemState.Paused}
          WHEN url IS NOT NULL THEN {(int)ItemState.Fetching}
          WHEN @isPaused AND priority < {(int)QueuePriority.Force} THEN {(int)ItemState.Paused}
          WHEN NOT @hasProviders OR {Database.SqlDialect.In("id", "@retrying")} THEN {(int)ItemState.Waiting}
          ELSE {(int)ItemState.Queued}
        END
        """;

    /// <summary>The state of an item.</summary>
    public ItemState StateOf(QueueItem item)
    {
        if (Running.ContainsKey(item.Id))
            return ItemState.Running;
        if (item.Paused)
            return ItemState.Paused;
        if (item.Url is not null)
            return ItemState.Fetching;
        if (IsPaused && item.Priority < QueuePriority.Force)
            return ItemState.Paused;
        return !HasProviders || Retrying.Contains(item.Id) ? ItemState.Waiting : ItemState.Queued;
    }
}

/// <summary>Takes moments.</summary>
internal sealed class QueueMoments(QueueActivity activity, QueueSchedule schedule, QueuePause pause, ProviderHost providers)
{
    /// <summary>This moment.</summary>
    public QueueMoment Now => new(activity.Current, schedule.ListRetrying().ToHashSet(), pause.IsPaused, providers.HasProviders);
}
