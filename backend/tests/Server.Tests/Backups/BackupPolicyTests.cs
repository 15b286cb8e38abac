using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>The schedule of backups, and the deletion of old ones (OPS-3, OPS-6).</summary>
public sealed class BackupPolicyTests
{
    private static readonly DateTimeOffset Noon = new(2026, 3, 10, 12, 0, 0, TimeSpan.Zero);

    private static readonly BackupOptions Nightly = new() { IsScheduled = true, At = TimeSpan.FromHours(3), Days = 5, Weeks = 4, Passphrase = "", SecondDir = "" };

    [Theory]
    // The server has just started and has no backup: ten minutes after the start.
    [InlineData(null, 0, 0.17)]
    // The server has run for days: the next night.
    [InlineData(-9.0, -72, 15)]
    // The start finds a backup that is only nine hours overdue: the next night.
    [InlineData(-33.0, -0.1, 15)]
    // The start finds a backup that is 33 hours overdue: ten minutes after the start.
    [InlineData(-57.0, -0.1, 0.07)]
    // The server has run for days without the due backup: its time was nine hours ago.
    [InlineData(-33.0, -72, -9)]
    // The last backup is a year in the future, because the clock was wrong: the next night.
    [InlineData(8760.0, -72, 15)]
    public void OPS_3_Next_backup_is_due_at_night_or_soon_after_startup(double? lastHours, double startHours, double dueHours)
    {
        var due = BackupSchedule.Next(
            Nightly, lastHours is { } last ? Noon.AddHours(last) : null, Noon, Noon.AddHours(startHours), TimeZoneInfo.Utc);
        Assert.Equal(dueHours, (due!.Value - Noon).TotalHours, 0.01);
    }

    [Fact]
    public void OPS_3_Backup_in_a_skipped_hour_runs_an_hour_later()
    {
        var zone = TimeZoneInfo.FindSystemTimeZoneById("Europe/Berlin");
        var midnight = new DateTimeOffset(2026, 3, 28, 23, 30, 0, TimeSpan.Zero);
        var due = BackupSchedule.Next(Nightly with { At = TimeSpan.FromMinutes(150) }, midnight, midnight, midnight.AddDays(-1), zone);
        Assert.Equal(new DateTimeOffset(2026, 3, 29, 1, 30, 0, TimeSpan.Zero), due);
    }

    [Fact]
    public void OPS_3_Disabled_schedule_makes_no_backup() =>
        Assert.Null(BackupSchedule.Next(Nightly with { IsScheduled = false }, null, Noon, Noon, TimeZoneInfo.Utc));

    [Fact]
    public void OPS_6_Retention_keeps_days_weeks_and_manual_backups()
    {
        List<Backup> all = [];
        for (var hour = 0; hour < 24 * 60; hour += 24)
        {
            all.Add(Of(BackupKind.Daily, Noon.AddHours(hour)));
            if (hour % 96 == 0)
                all.Add(Of(BackupKind.Manual, Noon.AddHours(hour + 1)));
            var now = Noon.AddHours(hour + 2);
            var dropped = RetentionPolicy.Choose(all, 5, 4, now);
            Assert.True(dropped.DistinctBy(backup => backup.Manifest.At.Date).Count() <= 2);
            all = [.. all.Except(dropped)];
        }

        var daily = all.Where(backup => backup.Manifest.Kind == BackupKind.Daily).ToList();
        Assert.Equal(10, all.Count - daily.Count);
        Assert.InRange(daily.Count, 7, 8);
        Assert.Equal(Enumerable.Range(55, 5).Select(day => Noon.AddDays(day).Date), daily.TakeLast(5).Select(backup => backup.Manifest.At.Date));
    }

    [Fact]
    public void OPS_6_Clock_set_back_deletes_nothing()
    {
        List<Backup> all = [.. Enumerable.Range(0, 40).Select(day => Of(BackupKind.Daily, Noon.AddDays(day)))];
        Assert.Empty(RetentionPolicy.Choose(all, 1, 0, Noon.AddDays(38)));
        Assert.Single(RetentionPolicy.Choose(all, 1, 0, Noon.AddDays(40)));
    }

    [Fact]
    public void OPS_6_Newest_backup_is_kept_with_any_settings() =>
        Assert.Empty(RetentionPolicy.Choose([Of(BackupKind.Manual, Noon.AddYears(-3))], 1, 0, Noon));

    private static Backup Of(BackupKind kind, DateTimeOffset at) => new(
        "", new BackupManifest(BackupFolder.NameOf(at, 35), kind, at, "", 35, "", null, new RowNumbers(0, 0), "", "", 0, new Dictionary<string, long>(), 0, 0));
}
