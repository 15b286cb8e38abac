using System.Globalization;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>
/// Keeps unreferenced blobs before deletion, in one folder per remaining day, so a blob can be restored for at least <see cref="Days"/> days
/// (F41, F43). A day passes at most once per 24 hours of both the wall clock and the process's uptime, because either clock may jump.
/// </summary>
/// <remarks>Thread-safe, because files move only by renames.</remarks>
internal sealed class BlobQuarantine(DataFolder folder, TimeProvider time)
{
    public const int Days = 7;

    // A file may arrive late on the first day, so that day does not count.
    private const int Folders = Days + 1;
    private static readonly TimeSpan Day = TimeSpan.FromHours(24);

    // Guards _passedAt and the renaming of the day folders.
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
            // Already moved, or never there. The caller treats both alike.
        }
    }

    /// <summary>The file most recently quarantined under this name.</summary>
    public FileInfo Newest(string path) => new(Path.Combine(FolderOf(Folders), Path.GetFileName(path)));

    /// <summary>Moves the newest quarantined file of a name back. Returns whether there was one; throws if the target exists.</summary>
    public bool TryRestore(string path)
    {
        for (var day = Folders; day > 0; day--)
        {
            var kept = Path.Combine(FolderOf(day), Path.GetFileName(path));
            if (!File.Exists(kept))
                continue;
            File.Move(kept, path);
            return true;
        }

        return false;
    }

    /// <summary>Advances every file by one day if 24 hours have passed, and deletes the expired folder.</summary>
    public void AdvanceDay()
    {
        lock (_gate)
        {
            if (!Directory.Exists(folder.Quarantine) || (_passedAt is { } last && time.GetElapsedTime(last) < Day) || !IsDue())
                return;

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

    /// <summary>Whether a day has passed since the mark file. The first call, and one after the clock went back, only reset the mark.</summary>
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

    private string FolderOf(int day) => Path.Combine(folder.Quarantine, day.ToString(CultureInfo.InvariantCulture));
}
