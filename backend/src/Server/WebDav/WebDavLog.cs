namespace Sluice.Server.WebDav;

/// <summary>Messages of the WebDAV edge: event ids 7000 to 7099.</summary>
internal static partial class WebDavLog
{
    [LoggerMessage(7000, LogLevel.Debug, "Refused {Method} {Target} with {Status} to {Client}")]
    public static partial void Refused(ILogger log, string method, string target, int status, string client);

    [LoggerMessage(7001, LogLevel.Warning, "The tree cannot be read, answering 503: {Reason}")]
    public static partial void StoreUnavailable(ILogger log, string reason, Exception cause);

    [LoggerMessage(7002, LogLevel.Information, "A file could not be opened ({Fault}): {Reason}")]
    public static partial void BodyRefused(ILogger log, ContentFault fault, string reason);

    [LoggerMessage(7003, LogLevel.Warning, "A response was cut off ({Fault}): {Reason}")]
    public static partial void BodyCut(ILogger log, ContentFault fault, string reason);

    [LoggerMessage(7004, LogLevel.Error, "A {Method} request failed")]
    public static partial void Failed(ILogger log, string method, Exception cause);
}
