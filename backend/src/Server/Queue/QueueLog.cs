namespace Sluice.Server.Queue;

/// <summary>Messages of the queue, events 2100–2199. Items are named by id: their names are content.</summary>
internal static partial class QueueLog
{
    [LoggerMessage(2100, LogLevel.Information, "{Id} is published after {Milliseconds} ms; its files: {Files}")]
    public static partial void Published(ILogger logger, string id, int files, long milliseconds);

    [LoggerMessage(2101, LogLevel.Information, "{Id} failed: {Reason}")]
    public static partial void Failed(ILogger logger, string id, string reason);

    [LoggerMessage(2102, LogLevel.Warning, "{Id} waits {Seconds} s for the next try: {Cause}")]
    public static partial void Waits(ILogger logger, string id, long seconds, string cause);

    [LoggerMessage(2103, LogLevel.Error, "Import of {Id} broke")]
    public static partial void Broke(ILogger logger, Exception failure, string id);

    [LoggerMessage(2104, LogLevel.Warning, "Step {Step} of {Id} made no progress, try {Attempt}")]
    public static partial void StepStalled(ILogger logger, string step, string id, int attempt);

    [LoggerMessage(2131, LogLevel.Debug, "{Id}: {Cause} Asking again in {Seconds} s over other connections")]
    public static partial void AsksAgain(ILogger logger, string id, double seconds, string cause);

    [LoggerMessage(2106, LogLevel.Information, "Staged upload {Id} got no name of an NZB within {Minutes} min and is removed")]
    public static partial void StagedUploadExpired(ILogger logger, string id, long minutes);

    [LoggerMessage(2107, LogLevel.Warning, "Staged upload {Id} is done with and its file cannot be removed")]
    public static partial void StagedUploadNotRemoved(ILogger logger, Exception failure, string id);

    [LoggerMessage(2108, LogLevel.Error, "The uploads that were staged before this start cannot be read")]
    public static partial void StagingUnreadable(ILogger logger, Exception failure);

    [LoggerMessage(2120, LogLevel.Warning, "The NZB of {Id} is fetched again in {Seconds} s: {Cause}")]
    public static partial void FetchWaits(ILogger logger, string id, long seconds, string cause);

    [LoggerMessage(2121, LogLevel.Error, "The fetch of the NZB of {Id} broke")]
    public static partial void FetchBroke(ILogger logger, Exception failure, string id);

    [LoggerMessage(2122, LogLevel.Warning, "The watch folder {Path} cannot be read: {Cause}")]
    public static partial void WatchFolderUnreadable(ILogger logger, string path, string cause);

    [LoggerMessage(2123, LogLevel.Warning, "A file of the watch folder is left alone until it changes: {Name} {Cause}")]
    public static partial void WatchedFileLeft(ILogger logger, string name, string cause);

    [LoggerMessage(2124, LogLevel.Information, "{Name} of the watch folder is added as {Ids}")]
    public static partial void WatchedFileAdded(ILogger logger, string name, string ids);

    [LoggerMessage(2125, LogLevel.Information, "Release {Id} is mapped anew, because a volume is not laid out as the others: {Files} files")]
    public static partial void Remapped(ILogger logger, long id, int files);

    [LoggerMessage(2126, LogLevel.Warning, "Release {Id} cannot be mapped anew for now: {Cause}")]
    public static partial void NotRemapped(ILogger logger, long id, string cause);

    [LoggerMessage(2127, LogLevel.Information, "The rights of a new .strm file in {Folder} are those that the folder gives it: {Cause}")]
    public static partial void StrmRightsNotSet(ILogger logger, string folder, string cause);

    [LoggerMessage(2128, LogLevel.Warning, "The NZB of {Id} cannot be measured, so its size is not shown: {Cause}")]
    public static partial void NotMeasured(ILogger logger, string id, string cause);

    [LoggerMessage(2129, LogLevel.Information, "Categories in use join api.categories: {Names}")]
    public static partial void CategoriesJoin(ILogger logger, string names);

    [LoggerMessage(2130, LogLevel.Warning, "These categories are in use and not in api.categories, which {Variable} sets: {Names}. Add them there, or clients find their items without a category")]
    public static partial void CategoriesNotJoined(ILogger logger, string names, string variable);

    [LoggerMessage(2109, LogLevel.Warning, "Blob {Hash} is needed no more and cannot be removed")]
    public static partial void BlobNotRemoved(ILogger logger, Exception failure, string hash);
}
