namespace Sluice.Server.Database;

/// <summary>Messages about database and stored NZBs; ids 1500 to 1599.</summary>
internal static partial class DatabaseLog
{
    [LoggerMessage(1500, LogLevel.Critical,
        "{Path} is damaged ({Reason}). Safe mode: nothing is served from it or written to it, and no stored NZB is removed, until a sound copy stands in its place and Sluice is started again")]
    public static partial void Damaged(ILogger logger, string path, string reason);

    [LoggerMessage(1501, LogLevel.Critical,
        "Safe mode: {Reason} ({Detail}). Nothing is served, taken or removed. Put the right {Path} back and start again, or go on with what is there by one start with SLUICE_ACCEPT_DATABASE={Id}, which deletes nothing")]
    public static partial void NotOfTheseBlobs(ILogger logger, string reason, string detail, string path, string id);

    [LoggerMessage(1502, LogLevel.Warning, "Going on as SLUICE_ACCEPT_DATABASE says, although {Detail}. The variable has no further effect")]
    public static partial void Accepted(ILogger logger, string detail);

    [LoggerMessage(1503, LogLevel.Information, "Moved {Count} files that nothing refers to to the quarantine, where they stay for at least {Days} days")]
    public static partial void Quarantined(ILogger logger, int count, int days);

    [LoggerMessage(1504, LogLevel.Information, "Found {Count} NZBs again that lay in the quarantine")]
    public static partial void Restored(ILogger logger, int count);

    [LoggerMessage(1505, LogLevel.Warning, "{Count} of {Total} stored NZBs seem to be referred to by nothing, more than a brake of {Most} lets move; they stay where they are")]
    public static partial void Braked(ILogger logger, int count, int total, int most);

    [LoggerMessage(1506, LogLevel.Warning, "{Count} NZBs that items refer to are missing; these items wait, and fail at the next start that still misses them")]
    public static partial void Missing(ILogger logger, int count);

    [LoggerMessage(1507, LogLevel.Warning, "{Path} could not be brought up to date ({Reason}); the next start may check the whole database")]
    public static partial void GenerationNotWritten(ILogger logger, string path, string reason);

    [LoggerMessage(1508, LogLevel.Warning, "The database could not be checked, or the quarantine not be looked after: {Reason}. Next try in {Minutes} minutes")]
    public static partial void CheckFailed(ILogger logger, string reason, long minutes);

    [LoggerMessage(1510, LogLevel.Error, "{Sentence}. What is stored is still served where it can be read; what has to be written is refused until this has passed")]
    public static partial void StorageFails(ILogger logger, string sentence);

    [LoggerMessage(1511, LogLevel.Information, "{Path} can be used again")]
    public static partial void StorageWorks(ILogger logger, string path);

    [LoggerMessage(1512, LogLevel.Warning, "{Path} cannot be closed to other users of this machine: its file system keeps no modes, or some of it belongs to another user")]
    public static partial void FilesNotPrivate(ILogger logger, string path);

    [LoggerMessage(1513, LogLevel.Warning, "The disk of {Path} is full: its reserve was given up so that Sluice can start. Free some space")]
    public static partial void ReserveGivenUp(ILogger logger, string path);

    [LoggerMessage(1514, LogLevel.Debug, "The database is as it was closed; it was found sound at {CheckedAt:O}")]
    public static partial void Unchanged(ILogger logger, DateTimeOffset checkedAt);

    [LoggerMessage(1509, LogLevel.Information, "The database was checked and is sound")]
    public static partial void Checked(ILogger logger);
}
