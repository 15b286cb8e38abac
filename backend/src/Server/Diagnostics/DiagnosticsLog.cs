namespace Sluice.Server.Diagnostics;

/// <summary>Messages of start and self-checks; ids 1200 to 1299.</summary>
internal static partial class DiagnosticsLog
{
    [LoggerMessage(1202, LogLevel.Error, "{Method} {Path} failed")]
    public static partial void RequestFailed(ILogger logger, Exception failure, string method, string path);
}
