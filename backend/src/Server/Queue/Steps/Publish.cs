using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Outbound;
using Sluice.Server.Settings;
using Sluice.Usenet.Media;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Names the files and makes the release visible: release, files, maps, history item and queue in one transaction (IMP-5).</summary>
internal sealed class Publish(
    SluiceDatabase database,
    StoredNzbs stored,
    CompleteFolder completeFolder,
    RcloneNotifier rclone,
    IOptionsMonitor<WebDavOptions> webDav,
    TimeProvider time,
    ILogger<Publish> logger) : IImportStep
{
    /// <inheritdoc/>
    public string Name => nameof(Publish);

    /// <inheritdoc/>
    public int Weight => 5;

    /// <inheritdoc/>
    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        var started = time.GetTimestamp();
        var previews = work.Probed.Where(file => ShownFiles.IsPar2(file.SubjectName)).ToList();
        var payload = work.Probed.Except(previews).Where(file => file.Kind != MediaKind.Par2 && file.Map is null or { Length: > 0 }).ToList();
        if (ArchivePayload.Refuse(payload) is { } refusal)
            return refusal;

        // An archive beside the payload has no map and stays away.
        payload.RemoveAll(file => file.Map is null);
        if (payload.Count == 0)
            return ImportFailure.NoMedia();

        payload.AddRange(previews.Where(file => file.Map is { Length: > 0 }));
        List<NameRequest> requests = [.. payload.Select(file => new NameRequest(file.SubjectName, file.YencName, file.Kind, file.Map!.Length))];
        var posted = payload.Select(file => new StoredPostedFile(file.Ordinal, file.Places, file.Map!, file.Habit)).ToList();
        QueueItem? left = null;
        Failpoint.Reach("publish-begins");
        var published = await database.WriteAsync(connection => Write(connection), cancellationToken);
        Failpoint.Reach("publish-committed");
        if (published is not null)
        {
            QueueLog.Published(logger, work.Item.Id, payload.Count, (long)time.GetElapsedTime(work.Began).TotalMilliseconds);
            rclone.ReleaseChanged(published.Folder, published.Name);
            await stored.ReleaseAsync(left!.BlobHashes, CancellationToken.None);
        }

        return null;

        HistoryItem? Write(DbConnection connection)
        {
            // Read anew: the item may have been removed or paused since, or renamed, and its files may be called after it.
            if (QueueStore.Finish(connection, work.Item.Id) is not { } item)
                return null;

            Failpoint.Reach("publish-dequeued");
            left = item;
            var names = FileNamer.Name(item.Name, requests, webDav.CurrentValue.WindowsSafePaths);
            var sources = string.Join(", ", names.Select(name => name.Source).Distinct().Order());
            progress.Findings = new StepFindings(("files", names.Count)) { Names = sources };

            // The timing of this step is part of the row that it writes.
            var timing = new StepTiming(Name, (long)time.GetElapsedTime(started).TotalMilliseconds, progress.Findings.Words);
            return Insert(connection, item, posted, [.. payload.Zip(names, Describe)], [.. work.Timings, timing], work.StartedAt);
        }
    }

    private HistoryItem Insert(
        DbConnection connection,
        QueueItem item,
        IReadOnlyList<StoredPostedFile> posted,
        IReadOnlyList<NewLibraryFile> files,
        IReadOnlyList<StepTiming> timings,
        DateTimeOffset startedAt)
    {
        var now = time.WallTime();
        var name = FindName(connection, item);
        var releaseId = LibraryStore.Insert(connection, new NewRelease(item.Folder, name, item.NzbHash, posted, files), now);
        var published = new HistoryItem(item)
        {
            Name = name,
            Priority = (int)item.Priority,
            NzbHash = item.NzbHash,
            NzbLength = item.NzbLength,
            Bytes = files.Sum(file => file.Length),
            ReleaseId = releaseId,
            StartedAt = startedAt,
            CompletedAt = now,
            Steps = timings,
        };
        Failpoint.Reach("publish-shelved");
        HistoryStore.Insert(connection, published);
        return published;
    }

    private string FindName(DbConnection connection, QueueItem item)
    {
        bool IsTaken(string name) =>
            LibraryStore.Contains(connection, item.Folder, name) || ReleaseName.IsAmbiguous(name, item.Folder, completeFolder.Path);

        // A number that the queue gave is no part of the name that the next one counts from.
        return IsTaken(item.Name) ? ReleaseName.FindFree(ItemName.Parse(item.NzbName).Name, IsTaken) : item.Name;
    }

    private static NewLibraryFile Describe(ProbedEntry file, FileName name) => new(
        Guid.NewGuid(),
        name.Name,
        name.Original == name.Name ? null : name.Original,
        file.Map!.Length,
        ContentTag.Of(file.IdsHashes, "", file.Map.Length),
        [new ContentExtent(file.Ordinal, 0, file.Map.Length)]);
}
