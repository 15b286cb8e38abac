namespace Sluice.Server.Database;

/// <summary>Messages about the database and stored NZBs; ids 1500 to 1599.</summary>
internal static partial class DatabaseLog
{
    [LoggerMessage(1500, LogLevel.Critical,
        "{Path} is damaged ({Reason}). Entered safe mode: the database is neither read nor written, and no stored NZB is removed. Restore a backup at /rescue, or replace the file with a sound copy and restart Sluice")]
    public static partial void Damaged(ILogger logger, string path, string reason);

    [LoggerMessage(1501, LogLevel.Critical,
        "Safe mode: {Reason} ({Detail}). Nothing is served, accepted or removed. Restore a backup at /rescue, put the correct {Path} back and restart, or start once with SLUICE_ACCEPT_DATABASE={Id} to keep the current one; that deletes nothing")]
    public static partial void Mismatched(ILogger logger, string reason, string detail, string path, string id);

    [LoggerMessage(1502, LogLevel.Warning, "Accepted the database because SLUICE_ACCEPT_DATABASE is set, although {Detail}. The variable has no further effect")]
    public static partial void Accepted(ILogger logger, string detail);

    [LoggerMessage(1503, LogLevel.Information, "Moved {Count} unreferenced files to the quarantine. They are kept there for at least {Days} days")]
    public static partial void Quarantined(ILogger logger, int count, int days);

    [LoggerMessage(1504, LogLevel.Information, "Restored {Count} missing NZBs from the quarantine")]
    public static partial void Restored(ILogger logger, int count);

    [LoggerMessage(1505, LogLevel.Warning, "Left {Count} of {Total} unreferenced NZBs in place: more than the safety limit of {Most}")]
    public static partial void SweepRefused(ILogger logger, int count, int total, int most);

    [LoggerMessage(1506, LogLevel.Warning, "{Count} NZBs of queued or finished items are missing. Restore them before the next start, or these items will fail")]
    public static partial void Missing(ILogger logger, int count);

    [LoggerMessage(1507, LogLevel.Warning, "Could not update {Path} ({Reason}). The next start may check the whole database")]
    public static partial void GenerationNotWritten(ILogger logger, string path, string reason);

    [LoggerMessage(1508, LogLevel.Warning, "Database check or quarantine cleanup failed: {Reason}. Retrying in {Minutes} minutes")]
    public static partial void CheckFailed(ILogger logger, string reason, long minutes);

    [LoggerMessage(1510, LogLevel.Error, "{Sentence}. Stored releases are still served if they can be read. Writes are refused until the problem is fixed")]
    public static partial void StorageFails(ILogger logger, string sentence);

    [LoggerMessage(1511, LogLevel.Information, "{Path} can be used again")]
    public static partial void StorageWorks(ILogger logger, string path);

    [LoggerMessage(1512, LogLevel.Warning, "{Path} cannot be made private: its file system does not support permissions, or another user owns some of its files. Other users of this machine may be able to read it")]
    public static partial void FilesNotPrivate(ILogger logger, string path);

    [LoggerMessage(1513, LogLevel.Warning, "The disk of {Path} is full. Sluice deleted its reserve file in order to start. Free some space")]
    public static partial void ReserveGivenUp(ILogger logger, string path);

    [LoggerMessage(1514, LogLevel.Debug, "The database is unchanged since it was closed, so the check is skipped. Last check passed at {CheckedAt:O}")]
    public static partial void Unchanged(ILogger logger, DateTimeOffset checkedAt);

    [LoggerMessage(1509, LogLevel.Information, "Database check passed")]
    public static partial void Checked(ILogger logger);
}
