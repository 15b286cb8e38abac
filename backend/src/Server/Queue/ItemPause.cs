namespace Sluice.Server.Queue;

/// <summary>Lets single items wait, or no longer. Work that is under way stops, and starts over when it goes on.</summary>
internal sealed class ItemPause(QueueStore store, QueueActivity activity, QueueSchedule schedule)
{
    /// <summary>Sets it.</summary>
    /// <param name="ids">Which; unknown ones are passed over.</param>
    /// <param name="paused">Whether they wait.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    public async Task SetAsync(IReadOnlyList<string> ids, bool paused, CancellationToken cancellationToken)
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
}
