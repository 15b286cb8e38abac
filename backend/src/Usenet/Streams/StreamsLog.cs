using Microsoft.Extensions.Logging;

namespace Sluice.Usenet.Streams;

/// <summary>Log messages of this folder; event ids 1100–1199.</summary>
internal static partial class StreamsLog
{
    [LoggerMessage(1100, LogLevel.Debug, "Article {Number} of a file arrived damaged from provider {Provider}")]
    public static partial void CorruptArticle(ILogger logger, int number, int provider);

    [LoggerMessage(1102, LogLevel.Debug, "Removed a damaged entry from the segment cache on disk")]
    public static partial void CacheEntryDamaged(ILogger logger);

    [LoggerMessage(1103, LogLevel.Warning, "Segment cache on disk failed: {Reason}. Streams continue without it")]
    public static partial void CacheUnusable(ILogger logger, string reason);

    [LoggerMessage(1101, LogLevel.Error, "Fetch failed with an unexpected exception; the reader gets an error")]
    public static partial void FetchBroke(ILogger logger, Exception failure);
}
