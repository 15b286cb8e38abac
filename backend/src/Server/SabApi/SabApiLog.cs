namespace Sluice.Server.SabApi;

/// <summary>Messages of the SABnzbd API, events 2300–2399. What a client should see is a warning: clients ask for those.</summary>
internal static partial class SabApiLog
{
    [LoggerMessage(2300, LogLevel.Warning, "A client asked to delete the files of completed items from the disk: the items are deleted, and their files stay mounted")]
    public static partial void ContentStays(ILogger logger);

    [LoggerMessage(2310, LogLevel.Warning, "A speed limit in percent changes nothing while usenet.bandwidth-limit-mbps is 0, which it would be a share of")]
    public static partial void NothingToLimit(ILogger logger);

    [LoggerMessage(2311, LogLevel.Warning, "A speed limit that is neither a percentage nor a number of bytes per second changes nothing")]
    public static partial void NoSpeedLimit(ILogger logger);
}
