using System.Globalization;

namespace Sluice.Server.Backups;

/// <summary>Decides which backups may be deleted (OPS-6).</summary>
internal static class RetentionPolicy
{
    /// <summary>Number of manual backups to keep.</summary>
    public const int Manual = 10;

    /// <summary>Returns the backups to delete now: at most one day's of each kind, so that a wrong clock or setting costs little at first.</summary>
    /// <param name="all">All verified backups.</param>
    /// <param name="days">On how many recent days with a scheduled backup the newest one is kept.</param>
    /// <param name="weeks">The same, for weeks.</param>
    /// <param name="now">The current time. If any backup is newer, nothing is deleted, because the clock was set back.</param>
    public static IReadOnlyList<Backup> Choose(IReadOnlyList<Backup> all, int days, int weeks, DateTimeOffset now)
    {
        if (all.Count == 0 || all.Any(backup => backup.Manifest.At > now))
            return [];
        List<Backup> newestFirst = [.. all.OrderByDescending(backup => backup.Manifest.At)];
        var scheduled = newestFirst.Where(backup => backup.Manifest.Kind == BackupKind.Daily).ToList();
        HashSet<Backup> kept =
        [
            newestFirst[0],
            .. scheduled.DistinctBy(DayOf).Take(days),
            .. scheduled.DistinctBy(WeekOf).Take(weeks),
            .. newestFirst.Where(backup => backup.Manifest.Kind == BackupKind.Manual).Take(Manual),
        ];
        return [.. newestFirst.Where(backup => !kept.Contains(backup)).GroupBy(backup => backup.Manifest.Kind).SelectMany(OfOldestDay)];

        static IEnumerable<Backup> OfOldestDay(IEnumerable<Backup> dropped) => dropped.GroupBy(DayOf).Last();
    }

    private static DateOnly DayOf(Backup backup) => DateOnly.FromDateTime(backup.Manifest.At.UtcDateTime);

    private static (int, int) WeekOf(Backup backup) =>
        (ISOWeek.GetYear(backup.Manifest.At.UtcDateTime), ISOWeek.GetWeekOfYear(backup.Manifest.At.UtcDateTime));
}
