namespace Sluice.Server.Settings;

/// <summary>Messages about settings; ids 1100 to 1199.</summary>
internal static partial class SettingsLog
{
    [LoggerMessage(1100, LogLevel.Warning, "Check the settings: {Sentence}")]
    public static partial void Replaced(ILogger logger, string sentence);

    [LoggerMessage(1101, LogLevel.Warning, "These settings are locked because {Cause}: {Keys}. Restore the key file and restart. If it is lost for good, create a new one on the settings page")]
    public static partial void SecretsLocked(ILogger logger, string cause, string keys);

    [LoggerMessage(1102, LogLevel.Warning, "The last start failed with the settings saved at {Failed:u}. Reverted to the settings saved at {Used:u}. Changed keys: {Keys}")]
    public static partial void SetLeftOut(ILogger logger, DateTimeOffset failed, DateTimeOffset used, string keys);
}
