namespace Sluice.Server.Outbound;

/// <summary>Messages about calls to other servers, ids 2200 to 2299. They must not contain release names.</summary>
internal static partial class OutboundLog
{
    [LoggerMessage(2200, LogLevel.Warning, "Could not notify rclone of changed folders, so its mount may show old listings: {Cause}")]
    public static partial void NotifyFailed(ILogger logger, string cause);

    [LoggerMessage(2201, LogLevel.Debug, "Still could not notify rclone of changed folders: {Cause}")]
    public static partial void NotifyFailedAgain(ILogger logger, string cause);

    [LoggerMessage(2202, LogLevel.Information, "Notifying rclone of changed folders works again")]
    public static partial void NotifyRecovered(ILogger logger);

    [LoggerMessage(2203, LogLevel.Debug, "Notified rclone of {Folders} changed folders (0 for all)")]
    public static partial void Notified(ILogger logger, int folders);

    [LoggerMessage(2204, LogLevel.Information, "Could not check the update feed for a newer version: {Cause}. Retrying in {Hours} h")]
    public static partial void FeedFailed(ILogger logger, string cause, double hours);

    [LoggerMessage(2205, LogLevel.Information, "Version {Version} of Sluice is available")]
    public static partial void NewerVersion(ILogger logger, string version);
}
