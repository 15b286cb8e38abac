namespace Sluice.Server.Diagnostics;

/// <summary>Messages of start and self-checks; ids 1200 to 1299.</summary>
internal static partial class DiagnosticsLog
{
    [LoggerMessage(1200, LogLevel.Critical, "{Path} is damaged ({Reason}). Sluice runs without it: nothing is served until it is restored from a backup")]
    public static partial void DatabaseDamaged(ILogger logger, string path, string reason);

    [LoggerMessage(1201, LogLevel.Information, "Removed {Count} blobs that a crash left behind")]
    public static partial void Swept(ILogger logger, int count);

    [LoggerMessage(1202, LogLevel.Error, "{Method} {Path} failed")]
    public static partial void RequestFailed(ILogger logger, Exception failure, string method, string path);
}
