namespace Sluice.Server.FamilyImport;

/// <summary>Messages of the import, ids 2900 to 2919. They name no content; only the report does.</summary>
internal static partial class FamilyImportLog
{
    [LoggerMessage(2900, LogLevel.Information, "Found the database of an old server: {Path}. Import it in the setup, or restart with SLUICE_IMPORT=true")]
    public static partial void Offered(ILogger logger, string path);

    [LoggerMessage(2901, LogLevel.Information, "Importing {Path}. The old file is not changed")]
    public static partial void Begun(ILogger logger, string path);

    [LoggerMessage(2902, LogLevel.Information, "Import finished: {Counts}")]
    public static partial void Done(ILogger logger, string counts);

    [LoggerMessage(2903, LogLevel.Warning, "Not imported: {Count} {Kind}, because {Reason}")]
    public static partial void Left(ILogger logger, int count, string kind, string reason);

    [LoggerMessage(2904, LogLevel.Information, "Kept unknown settings, which have no effect: {Keys}")]
    public static partial void Kept(ILogger logger, string keys);

    [LoggerMessage(2905, LogLevel.Error, "Import failed: {Cause}. You can start it again")]
    public static partial void Failed(ILogger logger, string cause);

    [LoggerMessage(2907, LogLevel.Information, "Repaired the earlier import: added {Added} files that it had omitted; {Waiting} releases are waiting to be opened")]
    public static partial void Healed(ILogger logger, int added, int waiting);

    [LoggerMessage(2908, LogLevel.Warning, "Could not repair the earlier import: {Cause}. Retrying at the next start")]
    public static partial void NotHealed(ILogger logger, string cause);

    [LoggerMessage(2909, LogLevel.Warning, "Found InfiniDysk data without db.sqlite. Its library is in PostgreSQL, which Sluice cannot import yet")]
    public static partial void OnPostgres(ILogger logger);

    [LoggerMessage(2906, LogLevel.Information, "Ignored SLUICE_IMPORT: {Cause}")]
    public static partial void Ignored(ILogger logger, string cause);
}
