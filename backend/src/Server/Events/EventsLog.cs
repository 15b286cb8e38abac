namespace Sluice.Server.Events;

/// <summary>Messages of live events, ids 1350 to 1399.</summary>
internal static partial class EventsLog
{
    [LoggerMessage(1350, LogLevel.Warning, "Could not publish changes of {Topic}; its clients reconnect and reload")]
    public static partial void TopicFailed(ILogger logger, Exception failure, string topic);
}
