namespace Sluice.Server.Providers;

/// <summary>Messages about providers; ids 1400 to 1499.</summary>
internal static partial class ProvidersLog
{
    [LoggerMessage(1400, LogLevel.Information, "{Name}: connected to {Host}:{Port} in {Milliseconds} ms ({Security}, {Login}, {Connections} connections)")]
    public static partial void Connected(
        ILogger logger, string name, string host, int port, long milliseconds, string security, string login, int connections);

    [LoggerMessage(1401, LogLevel.Warning, "{Name}: {Reason}")]
    public static partial void Failed(ILogger logger, string name, string reason);

    [LoggerMessage(1402, LogLevel.Information, "{Name}: disabled in the settings")]
    public static partial void Disabled(ILogger logger, string name);

    [LoggerMessage(1403, LogLevel.Warning, "Check the settings: {Sentence}")]
    public static partial void LeftOut(ILogger logger, string sentence);

    [LoggerMessage(1404, LogLevel.Information, "No provider is configured: only the built-in clip can be played. Set SLUICE_CONFIG__USENET__PROVIDERS")]
    public static partial void NoProvider(ILogger logger);

    [LoggerMessage(1408, LogLevel.Information, "Connection limits while other lanes are idle: {Playback} for playback, {Imports} for imports, {Checks} for health checks")]
    public static partial void Permits(ILogger logger, int playback, int imports, int checks);

    [LoggerMessage(1409, LogLevel.Error, "Could not open or close connections to the providers")]
    public static partial void WorkBroke(ILogger logger, Exception failure);

    [LoggerMessage(1407, LogLevel.Warning, "usenet.crc-check is off: damaged articles of the right length are played and cached as if they were good")]
    public static partial void CrcNotChecked(ILogger logger);

    [LoggerMessage(1410, LogLevel.Warning, "{Name} has used {Percent} % of its data cap: {Used:F1} of {Limit:F1} GB")]
    public static partial void QuotaLow(ILogger logger, string name, int percent, double used, double limit);

    [LoggerMessage(1411, LogLevel.Warning, "{Name} has used up its data cap: {Used:F1} of {Limit:F1} GB. It is not asked for articles until the cap is reset or refilled")]
    public static partial void QuotaSpent(ILogger logger, string name, double used, double limit);

    [LoggerMessage(1405, LogLevel.Warning, "Could not read {Values} from earlier runs: {Reason}")]
    public static partial void MemoryNotRead(ILogger logger, string values, string reason);

    [LoggerMessage(1406, LogLevel.Warning, "Could not store {Values}: {Reason}")]
    public static partial void MemoryNotWritten(ILogger logger, string values, string reason);
}
