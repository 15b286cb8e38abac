namespace Sluice.Server.SabApi;

/// <summary>Messages of the SABnzbd API, events 2300–2399. Messages meant for clients are warnings, because clients poll warnings.</summary>
internal static partial class SabApiLog
{
    [LoggerMessage(2300, LogLevel.Warning, "A client asked to delete the files of completed items. Deleted the items; their files stay mounted")]
    public static partial void ContentStays(ILogger logger);

    [LoggerMessage(2311, LogLevel.Warning, "A speed limit has no effect: it must be a percentage or bytes per second")]
    public static partial void NoSpeedLimit(ILogger logger);
}
