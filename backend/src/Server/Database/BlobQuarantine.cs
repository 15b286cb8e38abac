using System.Globalization;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>
/// Keeps unreferenced blobs for at least <see cref="Days"/> days before deletion, in one folder per remaining day (F41, F43). A day counts only after 24 hours
/// by both the wall clock and the uptime, because either may jump. Blobs referenced by a backup are kept in a separate folder for as long as that backup exists
/// (OPS-4). Thread-safe, because files move only by rename.
/// </summary>
/// <param name="backedUp">Reads the keys of all blobs that backups reference; null if there are no backups.</param>
internal sealed class BlobQuarantine(DataFolder folder, TimeProvider time, BackedUpBlobs? backedUp = null)
{
    public const int Days = 7;

    // One extra, because a file may arrive at the end of its first day.
    private const int Folders = Days + 1;
    private static readonly TimeSpan Day = TimeSpan.FromHours(24);

    // Guards _passedAt and renames of the day folders.
    private readonly Lock _gate = new();
    private long? _passedAt;

    /// <summary>Moves a file into the quarantine; does nothing if the file does not exist.</summary>
    public void Take(string path)
    {
        Directory.CreateDirectory(FolderOf(Folders));
        try
        {
            File.Move(path, Path.Combine(FolderOf(Folders), Path.GetFileName(path)), overwrite: true);
        }
        catch (FileNotFoundException)
        {
            // The file was already moved or never existed. The caller need not know which.
        }
    }

    /// <summary>Paths of all quarantined files.</summary>
    public IEnumerable<string> List() => DayFolders().Where(Directory.Exists).SelectMany(Directory.EnumerateFiles);

    /// <summary>Returns the path of the newest quarantined file of this name, or null.</summary>
    public string? Find(string name) => DayFolders().Select(day => Path.Combine(day, name)).FirstOrDefault(File.Exists);

    /// <summary>The file under this name in the newest folder. It may not exist.</summary>
    public FileInfo Newest(string path) => new(Path.Combine(FolderOf(Folders), Path.GetFileName(path)));

    /// <summary>Restores the latest quarantined file of this name. Returns whether there was one; throws if the target exists.</summary>
    public bool TryRestore(string path)
    {
        if (Find(Path.GetFileName(path)) is not { } kept)
            return false;
        File.Move(kept, path);
        return true;
    }

    /// <summary>Moves every file one day closer to deletion if 24 hours have passed. Deletes expired blobs, except those in backups.</summary>
    /// <exception cref="IOException">A backup cannot be read. Nothing was deleted.</exception>
    public void AdvanceDay()
    {
        lock (_gate)
        {
            if (!Directory.Exists(folder.Quarantine) || (_passedAt is { } last && time.GetElapsedTime(last) < Day) || !IsDue())
                return;

            KeepBackedUp();
            if (Directory.Exists(FolderOf(1)))
                Directory.Delete(FolderOf(1), recursive: true);
            for (var day = 2; day <= Folders; day++)
            {
                if (Directory.Exists(FolderOf(day)))
                    Directory.Move(FolderOf(day), FolderOf(day - 1));
            }

            _passedAt = time.GetTimestamp();
        }
    }

    /// <summary>
    /// Moves expired blobs that a backup references to their own folder. Moves blobs that are no longer in any backup from there back to the first day. Such
    /// blobs are not deleted on that day, because one reading of the backups may have missed them.
    /// </summary>
    private void KeepBackedUp()
    {
        if (backedUp is null || !(HasFiles(FolderOf(1)) || HasFiles(BackedUpFolder)))
            return;
        var keys = backedUp();
        foreach (var needed in (ReadOnlySpan<string>)[BackedUpFolder, FolderOf(1), FolderOf(2)])
            Directory.CreateDirectory(needed);
        var released = Directory.EnumerateFiles(BackedUpFolder).Where(file => !IsNamed(file)).ToList();
        foreach (var file in Directory.EnumerateFiles(FolderOf(1)).Where(IsNamed).ToList())
            File.Move(file, Path.Combine(BackedUpFolder, Path.GetFileName(file)), overwrite: true);
        foreach (var file in released)
            File.Move(file, Path.Combine(FolderOf(2), Path.GetFileName(file)), overwrite: true);

        bool IsNamed(string file) => keys.Contains(BlobStore.KeyOf(Path.GetFileName(file).Split('.')[0]));
    }

    private static bool HasFiles(string path) => Directory.Exists(path) && Directory.EnumerateFiles(path).Any();

    /// <summary>Whether a day has passed since the mark file was written. The first call, or a clock set back, only resets the mark.</summary>
    private bool IsDue()
    {
        var mark = Path.Combine(folder.Quarantine, "day");
        var now = time.WallTime().UtcDateTime;
        var age = File.Exists(mark) ? now - File.GetLastWriteTimeUtc(mark) : TimeSpan.MinValue;
        if (age >= TimeSpan.Zero && age < Day)
            return false;
        File.WriteAllBytes(mark, []);
        File.SetLastWriteTimeUtc(mark, now);
        return age >= Day;
    }

    private string BackedUpFolder => Path.Combine(folder.Quarantine, "backed-up");

    /// <summary>The folders from which a blob can be restored, newest first.</summary>
    private IEnumerable<string> DayFolders() => Enumerable.Range(1, Folders).Reverse().Select(FolderOf).Append(BackedUpFolder);

    private string FolderOf(int day) => Path.Combine(folder.Quarantine, day.ToString(CultureInfo.InvariantCulture));
}

/// <summary>Reads the keys of all blobs that backups reference (<see cref="BlobStore.KeyOf"/>).</summary>
/// <exception cref="IOException">A backup cannot be read, so no blob may be deleted.</exception>
internal delegate IReadOnlySet<UInt128> BackedUpBlobs();
