using System.Globalization;
using System.Text.Json;
using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// A requested restore, performed at the next startup before the database is opened (OPS-11). Stored as <c>restore.json</c> until the last step is done, so
/// that a kill at any time only delays the restore.
/// </summary>
/// <param name="Folder">The folder of the backup.</param>
/// <param name="Sha256">Hash of the backup's database, so that no other backup is restored instead.</param>
/// <param name="At">Time of the request; also the name of the replaced database's folder.</param>
/// <param name="By">Who requested it: <c>web UI</c>, <c>safe mode</c> or <c>command line</c>.</param>
/// <param name="Requeue">Whether NZBs added after the backup return to the queue automatically.</param>
internal sealed record RestoreWish(string Folder, string Sha256, DateTimeOffset At, string By, bool Requeue)
{
    private const int MaxBytes = 64 << 10;

    /// <summary>Returns the folder for the replaced database.</summary>
    public string ReplacedIn(DataFolder folder) =>
        Path.Combine(folder.Replaced, At.UtcDateTime.ToString(ReplacedDatabases.TimeFormat, CultureInfo.InvariantCulture));

    public void Write(DataFolder folder) => PrivateFile.Replace(folder.RestoreWish, JsonSerializer.SerializeToUtf8Bytes(this, BackupsJson.Default.RestoreWish));

    /// <summary>Reads the request; null if there is none or the file is not a request.</summary>
    /// <exception cref="StorageException">The file cannot be read.</exception>
    public static RestoreWish? Read(DataFolder folder) => DurableFolder.Read(
        () =>
        {
            try
            {
                return new FileInfo(folder.RestoreWish) is { Exists: true, Length: <= MaxBytes }
                    ? JsonSerializer.Deserialize(File.ReadAllBytes(folder.RestoreWish), BackupsJson.Default.RestoreWish)
                    : null;
            }
            catch (JsonException)
            {
                return null;
            }
        },
        folder.RestoreWish);

    /// <summary>Durably removes the request.</summary>
    public static void Remove(DataFolder folder)
    {
        File.Delete(folder.RestoreWish);
        PosixCalls.SyncFolder(folder.Root);
    }
}

/// <summary>The databases that restores have replaced, one folder each, named by time.</summary>
internal static class ReplacedDatabases
{
    public const string TimeFormat = "yyyy-MM-dd'T'HHmmss'Z'";

    private static readonly TimeSpan KeptFor = TimeSpan.FromDays(7);

    /// <summary>Deletes databases replaced at least a week ago. If one is newer than the current time, the clock was set back and none is deleted.</summary>
    public static void Prune(DataFolder folder, DateTimeOffset now)
    {
        if (!Directory.Exists(folder.Replaced))
            return;
        var dated = Directory.GetDirectories(folder.Replaced).Select(path => (Path: path, At: TimeOf(path))).Where(found => found.At is not null).ToList();
        if (dated.Exists(found => found.At > now))
            return;
        foreach (var (path, _) in dated.Where(found => now - found.At >= KeptFor))
            Directory.Delete(path, recursive: true);
    }

    private static DateTimeOffset? TimeOf(string path) =>
        DateTime.TryParseExact(Path.GetFileName(path), TimeFormat, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out var at)
            ? at
            : null;
}
