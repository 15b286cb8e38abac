namespace Sluice.Server.Events;

/// <summary>Messages about live events; ids 1350 to 1399.</summary>
internal static partial class EventsLog
{
    [LoggerMessage(1350, LogLevel.Warning, "What has changed about {Topic} cannot be told; those who watch begin again")]
    public static partial void TopicFailed(ILogger logger, Exception failure, string topic);
}
