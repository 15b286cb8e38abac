namespace Sluice.Server.Outbound;

/// <summary>Messages about calls to other servers, events 2200–2299. Releases are not named.</summary>
internal static partial class OutboundLog
{
    [LoggerMessage(2200, LogLevel.Warning, "rclone was not told of changed folders, so its mount may show old listings: {Cause}")]
    public static partial void RcloneNotTold(ILogger logger, string cause);

    [LoggerMessage(2201, LogLevel.Debug, "rclone was not told of changed folders either: {Cause}")]
    public static partial void RcloneStillNotTold(ILogger logger, string cause);

    [LoggerMessage(2202, LogLevel.Information, "rclone is told of changed folders again")]
    public static partial void RcloneToldAgain(ILogger logger);

    [LoggerMessage(2203, LogLevel.Debug, "rclone was told of {Folders} changed folders, 0 standing for all")]
    public static partial void RcloneTold(ILogger logger, int folders);
}
