using Sluice.Server.Diagnostics;

namespace Sluice.Server.Queue;

/// <summary>Messages of the queue, events 2100–2199. Name a release before its id, and never log the names of its files.</summary>
internal static partial class QueueLog
{
    [LoggerMessage(2100, LogLevel.Information, "{Name} is ready: {Files} files in {Milliseconds} ms ({Id})")]
    public static partial void Published(ILogger logger, string name, string id, int files, long milliseconds);

    [LoggerMessage(RecentWarnings.FailedImport, LogLevel.Warning, "{Name} failed: {Reason} ({Id})")]
    public static partial void Failed(ILogger logger, string name, string id, string reason);

    [LoggerMessage(2102, LogLevel.Warning, "Import of {Id} is waiting and retries in {Seconds} s: {Cause}")]
    public static partial void Waits(ILogger logger, string id, long seconds, string cause);

    [LoggerMessage(2103, LogLevel.Error, "Import of {Id} failed unexpectedly")]
    public static partial void Broke(ILogger logger, Exception failure, string id);

    [LoggerMessage(2104, LogLevel.Warning, "Step {Step} of {Id} made no progress (attempt {Attempt})")]
    public static partial void StepStalled(ILogger logger, string step, string id, int attempt);

    [LoggerMessage(2131, LogLevel.Debug, "{Id}: {Cause} Fetching again in {Seconds} s over other connections")]
    public static partial void AsksAgain(ILogger logger, string id, double seconds, string cause);

    [LoggerMessage(2106, LogLevel.Information, "Removed staged upload {Id}: not renamed to .nzb within {Minutes} min")]
    public static partial void StagedUploadExpired(ILogger logger, string id, long minutes);

    [LoggerMessage(2107, LogLevel.Warning, "Could not delete staged upload {Id}. Retrying at the next start")]
    public static partial void StagedUploadNotRemoved(ILogger logger, Exception failure, string id);

    [LoggerMessage(2108, LogLevel.Error, "Could not read the uploads that were staged before this start")]
    public static partial void StagingUnreadable(ILogger logger, Exception failure);

    [LoggerMessage(2120, LogLevel.Warning, "{Name}: could not fetch the NZB ({Cause}). Retrying in {Seconds} s ({Id})")]
    public static partial void FetchWaits(ILogger logger, string name, string id, long seconds, string cause);

    [LoggerMessage(2121, LogLevel.Error, "Fetching the NZB for {Id} failed unexpectedly")]
    public static partial void FetchBroke(ILogger logger, Exception failure, string id);

    [LoggerMessage(2122, LogLevel.Warning, "Could not read the watch folder {Path}: {Cause}")]
    public static partial void WatchFolderUnreadable(ILogger logger, string path, string cause);

    [LoggerMessage(2123, LogLevel.Warning, "Skipping a file in the watch folder until it changes: {Name} {Cause}")]
    public static partial void WatchedFileLeft(ILogger logger, string name, string cause);

    [LoggerMessage(2124, LogLevel.Information, "Added {Name} from the watch folder as {Ids}")]
    public static partial void WatchedFileAdded(ILogger logger, string name, string ids);

    [LoggerMessage(2125, LogLevel.Information, "Mapped {Name} again because a volume contradicted its prediction: {Files} files (release {Id})")]
    public static partial void Remapped(ILogger logger, string name, long id, int files);

    [LoggerMessage(2126, LogLevel.Warning, "Could not map {Name} again: {Cause} (release {Id})")]
    public static partial void NotRemapped(ILogger logger, string name, long id, string cause);

    [LoggerMessage(2136, LogLevel.Debug, "Opened {Name} from an old server: {Files} files (release {Id})")]
    public static partial void Opened(ILogger logger, string name, long id, int files);

    [LoggerMessage(2137, LogLevel.Information, "Opened the remaining releases of the old server: {Count}")]
    public static partial void OpenedAll(ILogger logger, int count);

    [LoggerMessage(2138, LogLevel.Warning, "Could not open {Name} from an old server: {Cause} (release {Id})")]
    public static partial void NotOpened(ILogger logger, string name, long id, string cause);

    [LoggerMessage(2139, LogLevel.Warning, "Paused mapping and opening of releases for {Seconds} s: {Cause}")]
    public static partial void MapsPaused(ILogger logger, string cause, int seconds);

    [LoggerMessage(2127, LogLevel.Information, "Could not set the permissions of a new .strm file in {Folder}: {Cause}")]
    public static partial void StrmRightsNotSet(ILogger logger, string folder, string cause);

    [LoggerMessage(2140, LogLevel.Warning, "Could not delete the .strm files of {Name}, whose links no longer work: {Cause} Retrying later (with {More} other releases)")]
    public static partial void StrmNotDeleted(ILogger logger, string name, int more, string cause);

    [LoggerMessage(2142, LogLevel.Warning, "Could not restore the .strm files of {Name}: {Cause} Retrying later (with {More} other releases)")]
    public static partial void StrmNotRestored(ILogger logger, string name, int more, string cause);

    [LoggerMessage(2128, LogLevel.Warning, "Could not measure the NZB of {Id}, so its size is not shown: {Cause}")]
    public static partial void NotMeasured(ILogger logger, string id, string cause);

    [LoggerMessage(2129, LogLevel.Information, "Added categories in use to api.categories: {Names}")]
    public static partial void CategoriesJoin(ILogger logger, string names);

    [LoggerMessage(2130, LogLevel.Warning, "Categories in use are missing from api.categories, which {Variable} sets: {Names}. Add them there, or clients will not find their items")]
    public static partial void CategoriesNotJoined(ILogger logger, string names, string variable);

    [LoggerMessage(2141, LogLevel.Information, "Removed {Name} from the library: {Files} files. They can be restored for seven days")]
    public static partial void FilesRemoved(ILogger logger, string name, int files);

    [LoggerMessage(2109, LogLevel.Warning, "Could not delete the unused blob {Hash}")]
    public static partial void BlobNotRemoved(ILogger logger, Exception failure, string hash);
}
