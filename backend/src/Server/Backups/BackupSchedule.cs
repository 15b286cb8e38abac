using Sluice.Server.Settings;

namespace Sluice.Server.Backups;

/// <summary>Decides when the next backup is due (OPS-3).</summary>
internal static class BackupSchedule
{
    /// <summary>Minimum time between startup and a scheduled backup, because players and imports should resume first.</summary>
    public static readonly TimeSpan StartPause = TimeSpan.FromMinutes(10);

    private static readonly TimeSpan Day = TimeSpan.FromHours(24);

    // Pauses after consecutive failures; the last one repeats.
    private static readonly TimeSpan[] RetryPauses = [TimeSpan.FromHours(1), TimeSpan.FromHours(4), Day];

    public static TimeSpan RetryPause(int failures) => RetryPauses[Math.Clamp(failures, 1, RetryPauses.Length) - 1];

    /// <summary>Returns when the next scheduled backup is due; null if backups are off. May be in the past.</summary>
    /// <param name="options">The settings.</param>
    /// <param name="last">When the database was last known to match a verified backup; null for never.</param>
    /// <param name="now">The current time.</param>
    /// <param name="started">When the process started.</param>
    /// <param name="zone">The time zone of this machine.</param>
    public static DateTimeOffset? Next(BackupOptions options, DateTimeOffset? last, DateTimeOffset now, DateTimeOffset started, TimeZoneInfo zone)
    {
        if (!options.IsScheduled)
            return null;
        if (last is not { } before)
            return started + StartPause;
        // A backup from the future means that the clock was wrong. It must not stop all further backups.
        var missed = NextMoment(options.At, before < now ? before : now, zone);
        // A server that is off every night still gets a backup every other day.
        var due = missed >= started ? missed : missed + Day;
        return due > started + StartPause ? due : started + StartPause;
    }

    /// <summary>The first occurrence of the time of day <paramref name="at"/> after a moment.</summary>
    private static DateTimeOffset NextMoment(TimeSpan at, DateTimeOffset after, TimeZoneInfo zone)
    {
        var day = TimeZoneInfo.ConvertTime(after, zone).Date;
        // Start with the day before, because a clock change may move the time of day past midnight.
        return Enumerable.Range(-1, 4).Select(offset => ToTime(day.AddDays(offset) + at, zone)).First(moment => moment > after);
    }

    private static DateTimeOffset ToTime(DateTime local, TimeZoneInfo zone)
    {
        // In spring, one hour does not exist.
        if (zone.IsInvalidTime(local))
            local = local.AddHours(1);
        return new DateTimeOffset(local, zone.GetUtcOffset(local));
    }
}
