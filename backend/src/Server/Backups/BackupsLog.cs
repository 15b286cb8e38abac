namespace Sluice.Server.Backups;

/// <summary>Messages about backups and restores; ids 1600 to 1699.</summary>
internal static partial class BackupsLog
{
    [LoggerMessage(1600, LogLevel.Information, "Backup {Id} is complete and verified: {Bytes} bytes of database, {Blobs} NZBs, {Milliseconds} ms")]
    public static partial void Made(ILogger logger, string id, long bytes, long blobs, long milliseconds);

    [LoggerMessage(1601, LogLevel.Error, "Backup failed: {Reason}. Earlier backups are kept. Retrying in {Hours} h")]
    public static partial void Failed(ILogger logger, string reason, double hours);

    [LoggerMessage(1602, LogLevel.Information, "Nothing has changed since backup {Id}, so no new one was made")]
    public static partial void Unchanged(ILogger logger, string id);

    [LoggerMessage(1603, LogLevel.Information, "Deleted backup {Id}, because newer ones replace it")]
    public static partial void Rotated(ILogger logger, string id);

    [LoggerMessage(1604, LogLevel.Warning, "Could not delete old backups: {Reason}. Retrying after the next backup")]
    public static partial void NotRotated(ILogger logger, string reason);

    [LoggerMessage(1605, LogLevel.Information, "Copied backup {Id} to {Path} and verified the copy: {Nzbs} new NZBs, {Milliseconds} ms")]
    public static partial void Copied(ILogger logger, string id, string path, int nzbs, long milliseconds);

    [LoggerMessage(1606, LogLevel.Error, "Could not copy backups to {Path}: {Reason}. The backups in the data folder are complete. Retrying in {Hours} h")]
    public static partial void NotCopied(ILogger logger, string path, string reason, double hours);

    [LoggerMessage(1607, LogLevel.Warning, "Replaced {Count} damaged copies of NZBs in {Path}. If this repeats, its disk may be failing")]
    public static partial void CopiesReplaced(ILogger logger, int count, string path);

    [LoggerMessage(1608, LogLevel.Error, "{Count} NZBs in {Path} are damaged, and so are their originals in the data folder")]
    public static partial void CopiesDamaged(ILogger logger, int count, string path);

    [LoggerMessage(1610, LogLevel.Warning, "Restored {Backup}, as requested from the {By}. The replaced database is kept in {Replaced} for a week")]
    public static partial void Restored(ILogger logger, string backup, string by, string replaced);

    [LoggerMessage(1611, LogLevel.Error, "Could not restore {Backup}: {Reason}. The database is unchanged. Choose another backup")]
    public static partial void NotRestored(ILogger logger, string backup, string reason);

    [LoggerMessage(1612, LogLevel.Error, "Deleted {Path}, because it cannot be read. The database is unchanged. Request the restore again")]
    public static partial void WishUnreadable(ILogger logger, string path);

    [LoggerMessage(1613, LogLevel.Debug, "Could not record the names of accepted NZBs: {Reason}. A restore may list them without a name")]
    public static partial void NameNotNoted(ILogger logger, string reason);
}
