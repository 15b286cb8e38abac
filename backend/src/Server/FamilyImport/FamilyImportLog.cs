namespace Sluice.Server.FamilyImport;

/// <summary>Messages of the import, events 2900–2919. Names of content stand in the report, not here.</summary>
internal static partial class FamilyImportLog
{
    [LoggerMessage(2900, LogLevel.Information, "The database of an old server is here ({Path}); the setup offers to import it, and SLUICE_IMPORT=true does so at the next start")]
    public static partial void Offered(ILogger logger, string path);

    [LoggerMessage(2901, LogLevel.Information, "The import of {Path} begins; the old file is only read")]
    public static partial void Begun(ILogger logger, string path);

    [LoggerMessage(2902, LogLevel.Information, "The import is done: {Counts}")]
    public static partial void Done(ILogger logger, string counts);

    [LoggerMessage(2903, LogLevel.Warning, "Not imported: {Count} {Kind}, because {Reason}")]
    public static partial void Left(ILogger logger, int count, string kind, string reason);

    [LoggerMessage(2904, LogLevel.Information, "Settings kept without effect: {Keys}")]
    public static partial void Kept(ILogger logger, string keys);

    [LoggerMessage(2905, LogLevel.Error, "The import has not succeeded, and can be begun again: {Cause}")]
    public static partial void Failed(ILogger logger, string cause);

    [LoggerMessage(2906, LogLevel.Information, "SLUICE_IMPORT has no effect: {Cause}")]
    public static partial void Ignored(ILogger logger, string cause);
}
