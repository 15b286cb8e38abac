namespace Sluice.Server.Settings;

/// <summary>Backups of the database (<c>backup.*</c>).</summary>
internal sealed record BackupOptions
{
    public required bool IsScheduled { get; init; }

    /// <summary>Time of the daily backup, in the machine's time zone.</summary>
    public required TimeSpan At { get; init; }

    /// <summary>Number of recent days for which the newest backup is kept.</summary>
    public required int Days { get; init; }

    /// <summary>Number of recent weeks for which the newest backup is kept.</summary>
    public required int Weeks { get; init; }

    /// <summary>Folder for complete copies of the backups, preferably on another disk; empty for none.</summary>
    public required string SecondDir { get; init; }

    /// <summary>Encrypts the key file in each backup; empty for backups without the key.</summary>
    public required string Passphrase { get; init; }

    public static BackupOptions Read(EffectiveSettings settings) => new()
    {
        IsScheduled = settings.Boolean("backup.schedule-enabled"),
        At = TimeSpan.FromMinutes(settings.Number("backup.schedule-time")),
        Days = (int)settings.Number("backup.retention-count"),
        Weeks = (int)settings.Number("backup.retention-weeks"),
        Passphrase = settings.Text("backup.passphrase"),
        SecondDir = settings.Text("backup.second-dir"),
    };
}
