using System.Globalization;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>
/// Keeps unreferenced blobs before they are deleted, in one folder per day that is left. A day passes at most once in 24 hours of the
/// wall clock and of the running process, also when the clock is set, so a blob can be restored for at least <see cref="Days"/> days
/// (F41, F43).
/// </summary>
/// <remarks>Thread-safe: files are moved by renames alone.</remarks>
internal sealed class BlobQuarantine(DataFolder folder, TimeProvider time)
{
    /// <summary>Whole days that a file stays.</summary>
    public const int Days = 7;

    // A file comes at any time of the first day, which therefore does not count.
    private const int Folders = Days + 1;
    private static readonly TimeSpan Day = TimeSpan.FromHours(24);

    // Guards the field below and the passing of a day.
    private readonly Lock _gate = new();
    private long? _passedAt;

    /// <summary>Takes a file in, under its name. Nothing happens where there is none.</summary>
    public void Take(string path)
    {
        Directory.CreateDirectory(FolderOf(Folders));
        try
        {
            File.Move(path, Path.Combine(FolderOf(Folders), Path.GetFileName(path)), overwrite: true);
        }
        catch (FileNotFoundException)
        {
            // Taken or never there, which is the same to the caller.
        }
    }

    /// <summary>The file that was last taken in under a name.</summary>
    public FileInfo Newest(string path) => new(Path.Combine(FolderOf(Folders), Path.GetFileName(path)));

    /// <summary>Moves the newest file of a name back to where it was, unless there is one already.</summary>
    /// <returns>Whether one was found.</returns>
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

    /// <summary>Lets a day pass for everything that is here, once one has passed since the last time.</summary>
    public void TryPassDay()
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

    /// <summary>Looks when a day last passed and notes that one does; the first look, and one after the clock went back, only note.</summary>
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
