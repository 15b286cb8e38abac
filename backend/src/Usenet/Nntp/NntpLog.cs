using Microsoft.Extensions.Logging;

namespace Sluice.Usenet.Nntp;

/// <summary>Log messages of the NNTP client; event ids 1000–1099.</summary>
internal static partial class NntpLog
{
    [LoggerMessage(1000, LogLevel.Debug, "Connection closed ({Fault}): {Reason}")]
    public static partial void ConnectionClosed(ILogger logger, NntpFault fault, string reason);

    [LoggerMessage(1001, LogLevel.Warning, "{Provider} accepts only {Cap} connections. Sluice will try more later")]
    public static partial void CapLearned(ILogger logger, string provider, int cap);

    [LoggerMessage(1002, LogLevel.Warning, "Could not connect to {Provider}: {Reason}")]
    public static partial void DialFailed(ILogger logger, string provider, string reason);

    [LoggerMessage(1004, LogLevel.Warning, "Pipelining turned off for {Provider}: {Reason}")]
    public static partial void PipeliningGivenUp(ILogger logger, string provider, string reason);

    [LoggerMessage(1003, LogLevel.Information, "Connected to {Provider} again")]
    public static partial void Recovered(ILogger logger, string provider);
}
