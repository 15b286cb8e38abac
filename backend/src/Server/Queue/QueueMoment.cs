using Sluice.Server.Providers;
using Sluice.Server.Settings;

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
/// <param name="LockCause">Why secrets are locked; null if they are not.</param>
internal sealed record QueueMoment(
    IReadOnlyDictionary<string, ItemActivity> Running, IReadOnlySet<string> Retrying, bool IsPaused, bool HasProviders, string? LockCause = null)
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

    /// <summary>Why an item waits whose state is <see cref="ItemState.Waiting"/>.</summary>
    public string ReasonOf(QueueItem item) => LockCause switch
    {
        { } cause when SecretBox.IsSealed(item.Password) => $"Its password is locked, because {cause}.",
        { } cause when !HasProviders => $"The providers are locked, because {cause}.",
        _ => HasProviders ? "No provider can be asked; it is tried again by itself." : "No provider yet",
    };

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
internal sealed class QueueMoments(QueueActivity activity, QueueSchedule schedule, QueuePause pause, ProviderHost providers, SecretBox box)
{
    /// <summary>This moment.</summary>
    public QueueMoment Now => new(
        activity.Current, schedule.ListRetrying().ToHashSet(), pause.IsPaused, providers.HasProviders, box.IsLocked ? box.Cause : null);
}
