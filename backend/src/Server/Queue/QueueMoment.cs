using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

internal enum ItemState
{
    Queued,

    /// <summary>Its NZB is being fetched from an address.</summary>
    Fetching,

    Running,

    /// <summary>No provider is available, so the item retries later.</summary>
    Waiting,

    /// <summary>The item or the whole queue is paused.</summary>
    Paused,
}

/// <summary>A snapshot of the queue state in memory.</summary>
/// <param name="Retrying">Items that wait for a provider.</param>
/// <param name="LockCause">Why encrypted secrets are unreadable, or null.</param>
internal sealed record QueueMoment(
    IReadOnlyDictionary<string, ItemActivity> Running, IReadOnlySet<string> Retrying, bool IsPaused, bool HasProviders, string? LockCause = null)
{
    /// <summary>SQL expression for an item's <see cref="ItemState"/> number. Parameter names equal the property names.</summary>
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

    /// <summary>Returns why an item is in state <see cref="ItemState.Waiting"/>.</summary>
    public string ReasonOf(QueueItem item) => LockCause switch
    {
        { } cause when SecretBox.IsSealed(item.Password) => $"Its password is locked, because {cause}.",
        { } cause when !HasProviders => $"The providers are locked, because {cause}.",
        _ => HasProviders ? "No provider can be asked; it is tried again by itself." : "No provider yet",
    };

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

internal sealed class QueueMoments(QueueActivity activity, QueueSchedule schedule, QueuePause pause, ProviderHost providers, SecretBox box)
{
    public QueueMoment Now => new(
        activity.Current, schedule.ListRetrying().ToHashSet(), pause.IsPaused, providers.HasProviders, box.IsLocked ? box.Cause : null);
}
