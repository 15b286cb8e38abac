namespace Sluice.Server.Library;

/// <summary>Messages of the library, events 2000–2099.</summary>
internal static partial class LibraryLog
{
    [LoggerMessage(2000, LogLevel.Warning, "The list of message-ids of {Hash} is lost or damaged; deriving it again from the stored NZB")]
    public static partial void DerivingIds(ILogger logger, string hash);
}
