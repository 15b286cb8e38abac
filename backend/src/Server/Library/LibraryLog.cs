namespace Sluice.Server.Library;

/// <summary>Messages of the library, events 2000–2099.</summary>
internal static partial class LibraryLog
{
    [LoggerMessage(2000, LogLevel.Warning, "The list of message-ids of {Hash} is lost or damaged; deriving it again from the stored NZB")]
    public static partial void DerivingIds(ILogger logger, string hash);

    [LoggerMessage(2001, LogLevel.Information, "{Release}: article {Number} of posted file {Ordinal} lies elsewhere than its head said; the map was corrected")]
    public static partial void MapCorrected(ILogger logger, string release, int ordinal, int number);

    [LoggerMessage(2002, LogLevel.Debug, "{Release}: article {Number} of posted file {Ordinal} claims a place that those beside it contradict")]
    public static partial void ClaimRefused(ILogger logger, string release, int ordinal, int number);

    [LoggerMessage(2004, LogLevel.Warning, "{Category} is not one of the categories (api.categories): the item has none")]
    public static partial void UnknownCategory(ILogger logger, string category);

    [LoggerMessage(2003, LogLevel.Warning, "A corrected map could not be stored, and will be found again: {Reason}")]
    public static partial void MapNotStored(ILogger logger, string reason);

    [LoggerMessage(2005, LogLevel.Debug, "The predicted volumes of release {Release} could not be looked into in the background: {Reason}")]
    public static partial void NotProved(ILogger logger, long release, string reason);
}
