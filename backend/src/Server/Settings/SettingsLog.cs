namespace Sluice.Server.Settings;

/// <summary>Messages of the settings; ids 1100 to 1199.</summary>
internal static partial class SettingsLog
{
    [LoggerMessage(1100, LogLevel.Warning, "Setting: {Sentence}")]
    public static partial void Replaced(ILogger logger, string sentence);

    [LoggerMessage(1101, LogLevel.Warning, "These settings are locked, because {Cause}: {Keys}. Put the key file back and restart. If it is gone for good, give it up on the settings page")]
    public static partial void SecretsLocked(ILogger logger, string cause, string keys);

    [LoggerMessage(1102, LogLevel.Warning, "The last start did not succeed with the settings saved at {Failed:u}; those saved at {Used:u} are in force. They differ in: {Keys}")]
    public static partial void SetLeftOut(ILogger logger, DateTimeOffset failed, DateTimeOffset used, string keys);
}
