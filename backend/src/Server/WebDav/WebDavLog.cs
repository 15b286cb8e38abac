namespace Sluice.Server.WebDav;

/// <summary>Messages of the WebDAV edge: event ids 7000 to 7099.</summary>
internal static partial class WebDavLog
{
    [LoggerMessage(7000, LogLevel.Debug, "Refused {Method} {Target} with {Status} for {Client}")]
    public static partial void Refused(ILogger log, string method, string target, int status, string client);

    [LoggerMessage(7001, LogLevel.Warning, "Answered 503 because the tree cannot be read: {Reason}")]
    public static partial void StoreUnavailable(ILogger log, string reason, Exception cause);

    [LoggerMessage(7002, LogLevel.Information, "Could not open a file ({Fault}): {Reason}")]
    public static partial void BodyRefused(ILogger log, ContentFault fault, string reason);

    [LoggerMessage(7003, LogLevel.Warning, "Aborted a response ({Fault}): {Reason}")]
    public static partial void BodyCut(ILogger log, ContentFault fault, string reason);

    [LoggerMessage(7004, LogLevel.Error, "{Method} request failed")]
    public static partial void Failed(ILogger log, string method, Exception cause);
}
