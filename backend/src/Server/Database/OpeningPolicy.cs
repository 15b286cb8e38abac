namespace Sluice.Server.Database;

/// <summary>Decides whether a database may be used with the stored blobs (F32, F42).</summary>
internal static class OpeningPolicy
{
    /// <summary>Returns the reason for safe mode with details, or null to continue. Runs before anything is written.</summary>
    /// <param name="beside">The generation recorded next to the blobs; null if there is no such file.</param>
    public static (SafeModeCause Cause, string Detail)? Judge(DatabaseInspection found, BlobGeneration? beside, int stored)
    {
        if (found.Damage is { } damage)
            return (SafeModeCause.Damaged, damage);
        // Without stored NZBs there is nothing to lose.
        if (stored > 0)
        {
            if (found.IsEmpty || (beside is null && found.Generation is null && found.Referenced == 0))
                return (SafeModeCause.Emptied, $"{stored} NZBs are stored");
            if (beside is not null && (found.Generation?.Epoch ?? 0) is var epoch)
            {
                if (found.Generation is { } generation && generation.Id != beside.Id)
                    return (SafeModeCause.Foreign, $"it is of the generation {generation.Id}, they are of {beside.Id}");
                if (epoch < beside.Epoch)
                    return (SafeModeCause.Older, $"it was last started with as number {epoch}, they as number {beside.Epoch}");
                // Within one epoch, only the row numbers reveal an older copy.
                var rows = found.Numbers ?? new RowNumbers(0, 0);
                if (epoch == beside.Epoch && beside.Numbers is { } noted && rows.AreBelow(noted))
                    return (SafeModeCause.Older, $"its last NZB and item are number {rows.QueueFile} and {rows.HistoryItem}, theirs {noted.QueueFile} and {noted.HistoryItem}");
            }
        }

        return found.NewlyMissing > MostLost(found.Referenced)
            ? (SafeModeCause.NzbsMissing, $"{found.NewlyMissing} of {found.Referenced}")
            : null;
    }

    /// <summary>Maximum missing or unreferenced blobs that do not raise an alarm: five or one percent, whichever is larger (F41).</summary>
    public static int MostLost(int all) => Math.Max(5, all / 100);
}
