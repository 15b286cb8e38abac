using System.Data.Common;
using System.Globalization;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Backups;

/// <summary>The cost of a restore (OPS-10). A count is null if the current database cannot be read.</summary>
/// <param name="Backup">The backup.</param>
/// <param name="Age">How long ago the database was last known to be in this state.</param>
/// <param name="Later">NZBs added after the backup. They stay, and can be queued again.</param>
/// <param name="Settings">Settings whose values differ.</param>
/// <param name="Logins">Browsers whose login is missing from the backup.</param>
/// <param name="Files">Files that can be played.</param>
/// <param name="Locked">Keys of settings whose secrets neither this server's key file nor the backup's key can decrypt.</param>
internal sealed record RestoreCost(
    Backup Backup, TimeSpan Age, int Later, int? Settings, int? Logins, long Files, IReadOnlyList<string> Locked)
{
    /// <summary>Whether the backup's passphrase would unlock settings.</summary>
    public bool NeedsPassphrase => Locked.Count > 0 && Backup.Manifest.SealedKeySha256 is not null;

    /// <summary>The cost in two or three sentences.</summary>
    public string Sentence
    {
        get
        {
            var lost = new List<string>();
            if (Settings > 0)
                lost.Add(Count(Settings.Value, "changed setting", "changed settings"));
            if (Logins > 0)
                lost.Add(Count(Logins.Value, "login", "logins"));
            var sentences = new List<string> { $"The backup is {AgeText} old{(lost.Count > 0 ? $"; you lose {string.Join(" and ", lost)}" : "")}." };
            sentences.Add($"{Count(Files, "file plays", "files play")} by it.");
            if (Later > 0)
                sentences.Add($"{Count(Later, "NZB came", "NZBs came")} after it, and can be queued again.");
            if (Locked.Count > 0)
                sentences.Add($"These settings stay locked, because this server has another key: {string.Join(", ", Locked)}.");
            if (NeedsPassphrase)
                sentences.Add("The passphrase of the backup unlocks them.");
            return string.Join(' ', sentences);
        }
    }

    private string AgeText => Age.TotalDays >= 2 ? Count((long)Age.TotalDays, "day", "days")
        : Age.TotalHours >= 2 ? Count((long)Age.TotalHours, "hour", "hours")
        : Count(Math.Max(0, (long)Age.TotalMinutes), "minute", "minutes");

    private static string Count(long count, string one, string many) => string.Create(CultureInfo.InvariantCulture, $"{count} {(count == 1 ? one : many)}");
}

/// <summary>Reports the cost of a restore and schedules the restore for the next startup. Web UI, safe mode and commands all use it (OPS-10, OPS-11).</summary>
internal sealed class RestorePlan(
    DataFolder folder, BackupProof proof, BlobStore blobs, IBlobFiles files, MigrationRunner migrations, TimeProvider time)
{
    /// <summary>Reads the whole backup. Returns why it cannot be restored, as the end of a sentence, or null if it can. Blocks the calling thread.</summary>
    public string? FindObstacle(Backup backup, CancellationToken cancellationToken) =>
        backup.Manifest.Schema > migrations.Latest
            ? string.Create(CultureInfo.InvariantCulture, $"a newer Sluice made it (version {backup.Manifest.Schema} of the database, this one knows {migrations.Latest})")
            : proof.FindFlaw(backup.Path, BlobPool.Beside(backup.Path, files) ?? (IBlobSource)blobs, cancellationToken);

    /// <summary>Calculates the cost of restoring a verified backup. Blocks the calling thread.</summary>
    /// <param name="key">The key from the backup (<see cref="SealedKey"/>); null if no passphrase was given.</param>
    public RestoreCost Estimate(Backup backup, byte[]? key = null)
    {
        var known = BackupKeys.Read(backup.Path).ToHashSet();
        using var copy = DatabaseCopy.Open(Path.Combine(backup.Path, BackupFolder.DatabaseName));
        var (then, now) = (copy.Read(PastState.Read), ReadPresent());
        return new RestoreCost(
            backup,
            time.WallTime() - backup.Manifest.StillTrueAt,
            blobs.ListNzbs().Count(key => !known.Contains(key)),
            now is null ? null : then.Settings.Keys.Union(now.Settings.Keys).Count(key => then.Settings.GetValueOrDefault(key) != now.Settings.GetValueOrDefault(key)),
            now?.Sessions.Count(session => !then.Sessions.Contains(session)),
            backup.Manifest.Rows.GetValueOrDefault("library_file"),
            FindLocked(then, key));
    }

    /// <summary>Schedules the restore of a backup for the next startup.</summary>
    /// <param name="by">Who requested the restore, for the log.</param>
    /// <param name="requeue">Whether NZBs added after the backup return to the queue.</param>
    /// <param name="key">The key from the backup, which replaces the key file; null to keep the current key file.</param>
    /// <exception cref="StorageException">The restore request cannot be written.</exception>
    public void Request(Backup backup, string by, bool requeue, byte[]? key = null)
    {
        var wish = new RestoreWish(backup.Path, backup.Manifest.Sha256, time.WallTime(), by, requeue);
        // The folder of the replaced database also marks this restore's progress, so no other restore may use it.
        while (Directory.Exists(wish.ReplacedIn(folder)))
            wish = wish with { At = wish.At.AddSeconds(1) };
        try
        {
            // Stage the key first, so that the request is never on disk without it.
            RestoredKey.Stage(folder, key);
            wish.Write(folder);
        }
        catch (Exception e) when (StorageException.From(e, folder.RestoreWish) is { } fault)
        {
            throw fault;
        }

        Failpoint.Reach("restore-requested");
    }

    private PastState? ReadPresent()
    {
        try
        {
            if (!File.Exists(folder.Database))
                return null;
            using var present = DatabaseCopy.OpenPresent(folder);
            return present.Read(PastState.Read);
        }
        catch (DbException)
        {
            // The database is damaged or another program's, which may be the reason for the restore.
            return null;
        }
    }

    private string[] FindLocked(PastState then, byte[]? key)
    {
        // Use a separate box, because the running server's box belongs to the current database.
        var box = new SecretBox(folder);
        var values = then.Settings.Where(setting => SecretBox.IsSealed(setting.Value)).ToDictionary();
        box.Prepare(then.Fingerprint, values);
        return [.. values.Where(setting => box.Open(setting.Key, setting.Value) is null && (key is null || !SecretBox.IsKeyOf(key, setting.Key, setting.Value))).Select(setting => setting.Key).Order(StringComparer.Ordinal)];
    }

    /// <summary>The rows of a database that a restore changes.</summary>
    private sealed record PastState(IReadOnlyDictionary<string, string> Settings, IReadOnlySet<string> Sessions, string? Fingerprint)
    {
        public static PastState Read(DbConnection connection) => new(
            connection.Query<SettingsStore.SavedRow>("SELECT key AS Key, value AS Value FROM setting").ToDictionary(row => row.Key, row => row.Value),
            connection.Query<string>("SELECT hash FROM admin_session").ToHashSet(),
            SettingKeyStore.Find(connection));
    }
}
