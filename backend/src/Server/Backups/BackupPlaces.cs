using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Backups;

/// <summary>Where a backup is.</summary>
internal enum BackupPlace
{
    DataFolder,

    /// <summary>Both in the data folder and in the second folder.</summary>
    Both,

    SecondFolder,
}

/// <summary>All backups that can be restored: backups in the data folder, and backups that exist only in the second folder.</summary>
/// <remarks>Thread-safe. Every call reads from disks, one of which may be a slow network share.</remarks>
internal sealed class BackupPlaces(DataFolder folder, BackupFolder first, IOptionsMonitor<BackupOptions> options)
{
    /// <summary>All backups, newest first. Omits an unreadable second folder.</summary>
    public IReadOnlyList<(Backup Backup, BackupPlace Place)> List() => Merge(first.List(), TryList());

    /// <summary>Finds a backup by name, starting in the data folder; null if there is none.</summary>
    public Backup? Find(string name) => first.Find(name) ?? Second?.Find(name);

    /// <summary>Finds the newest backup up to a schema version; null if there is none.</summary>
    public Backup? FindNewest(int schema) => List().Select(found => found.Backup).FirstOrDefault(backup => backup.Manifest.Schema <= schema);

    /// <summary>Merges the lists of both folders, newest first.</summary>
    public static IReadOnlyList<(Backup Backup, BackupPlace Place)> Merge(IReadOnlyList<Backup> first, IReadOnlyList<Backup> second)
    {
        var (inFirst, inSecond) = (first.Select(backup => backup.Id).ToHashSet(), second.Select(backup => backup.Id).ToHashSet());
        return
        [
            .. first.Select(backup => (Backup: backup, Place: inSecond.Contains(backup.Id) ? BackupPlace.Both : BackupPlace.DataFolder))
                .Concat(second.Where(backup => !inFirst.Contains(backup.Id)).Select(backup => (Backup: backup, Place: BackupPlace.SecondFolder)))
                .OrderByDescending(found => found.Backup.Manifest.At),
        ];
    }

    // In safe mode and for commands, the settings are not loaded.
    private BackupFolder? Second =>
        options.CurrentValue.SecondDir is { Length: > 0 } set ? new BackupFolder(set) : SecondFolderNote.Read(folder) is { } note ? new BackupFolder(note.Path) : null;

    private IReadOnlyList<Backup> TryList()
    {
        try
        {
            return Second?.List() ?? [];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }
}
