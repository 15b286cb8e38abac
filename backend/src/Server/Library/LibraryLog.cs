namespace Sluice.Server.Library;

/// <summary>Messages of the library, events 2000–2099.</summary>
internal static partial class LibraryLog
{
    [LoggerMessage(2000, LogLevel.Warning, "Message-id list of {Hash} is missing or damaged. Rebuilding it from the stored NZB")]
    public static partial void DerivingIds(ILogger logger, string hash);

    [LoggerMessage(2001, LogLevel.Information, "{Release}: corrected the map of posted file {Ordinal}, because article {Number} has a different offset than the map")]
    public static partial void MapCorrected(ILogger logger, string release, int ordinal, int number);

    [LoggerMessage(2002, LogLevel.Debug, "{Release}: ignored the offset of article {Number} of posted file {Ordinal}, because it contradicts its neighbors")]
    public static partial void ClaimRefused(ILogger logger, string release, int ordinal, int number);

    [LoggerMessage(2006, LogLevel.Warning, "{Release}: article {Number} of posted file {Ordinal} is intact but contradicts the map from the old server. Reopening the NZB")]
    public static partial void MapAccused(ILogger logger, string release, int ordinal, int number);

    [LoggerMessage(2004, LogLevel.Warning, "Category {Category} is not in api.categories; the item gets no category")]
    public static partial void UnknownCategory(ILogger logger, string category);

    [LoggerMessage(2003, LogLevel.Warning, "Could not read or store a corrected map: {Reason}. Retrying at the next read")]
    public static partial void MapNotStored(ILogger logger, string reason);

    [LoggerMessage(2005, LogLevel.Debug, "Could not check the predicted volumes of release {Release} in the background: {Reason}")]
    public static partial void NotProved(ILogger logger, long release, string reason);
}
