using Microsoft.Extensions.Logging;

namespace Sluice.Usenet.Streams;

/// <summary>Log messages of this folder; event ids 1100–1199.</summary>
internal static partial class StreamsLog
{
    [LoggerMessage(1100, LogLevel.Debug, "Article {Number} of a file came damaged from provider {Provider}")]
    public static partial void CorruptArticle(ILogger logger, int number, int provider);

    [LoggerMessage(1102, LogLevel.Debug, "A damaged entry of the segment cache was removed")]
    public static partial void CacheEntryDamaged(ILogger logger);

    [LoggerMessage(1103, LogLevel.Warning, "The segment cache on disk cannot be used: {Reason}")]
    public static partial void CacheUnusable(ILogger logger, string reason);

    [LoggerMessage(1101, LogLevel.Error, "A fetch ended in a defect")]
    public static partial void FetchBroke(ILogger logger, Exception failure);
}
