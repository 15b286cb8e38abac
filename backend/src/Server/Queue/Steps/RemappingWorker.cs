using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Maps a release again after a reader found a volume that contradicts the prediction (IMP-52). Runs the steps up to the map and reads every header.
/// Names, lengths and validators stay, so readers that retry find the correct map.
/// </summary>
internal sealed class RemappingWorker(
    Predictions predictions,
    IEnumerable<IImportStep> steps,
    LibraryStore library,
    HistoryStore history,
    ItemPasswords passwords,
    TimeProvider time,
    ILogger<RemappingWorker> logger) : IWorker
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(30);

    public string Name => "the maps of archives";

    public async Task RunAsync(CancellationToken stopping)
    {
        await foreach (var release in predictions.ReadRefutedAsync(stopping))
        {
            try
            {
                await RemapAsync(release, stopping);
                predictions.Settle(release);
            }
            catch (Exception e) when (e is not OperationCanceledException)
            {
                // A provider or the disk is unavailable. The release stays unreadable until a retry succeeds.
                QueueLog.NotRemapped(logger, release.Name, release.Id, e.Message);
                await Task.Delay(Pause, time, stopping);
                predictions.Refute(release);
            }
        }
    }

    private async Task RemapAsync(Release release, CancellationToken cancellationToken)
    {
        var imported = await history.FindPasswordAsync(release.Id, cancellationToken);
        var item = new QueueItem
        {
            Id = "",
            Name = release.Name,
            NzbName = release.Name,
            Category = release.Category,
            Folder = release.Category,
            NzbHash = release.NzbHash,
            Password = imported is null ? "" : passwords.Require(imported.Id, imported.Password),
            Retried = RetryKind.Yes,
        };
        await using var work = new ImportWork(item, time.WallTime(), time.GetTimestamp()) { MayPredict = false };
        foreach (var step in steps.TakeWhile(step => step is not (CheckAvailability or Publish)))
        {
            if (await step.RunAsync(work, new StepProgress(_ => { }), cancellationToken) is { } failure)
            {
                QueueLog.NotRemapped(logger, release.Name, release.Id, failure.Sentence);
                return;
            }
        }

        var plan = ReleasePlan.Of(work.Map, work.Heads, work.Sort.Targets, work.Names.Known);
        var found = plan.Files.ToLookup(file => file.ETag);
        var contents = (await library.GetFilesAsync(release, cancellationToken))
            .Where(file => found[file.ETag].Any(mapped => mapped.Length == file.Length))
            .ToDictionary(file => file.Id, file => found[file.ETag].First().Content);
        await library.ReplaceContentsAsync(release, plan.PostedFilesOf(contents.Values), contents, cancellationToken);
        QueueLog.Remapped(logger, release.Name, release.Id, contents.Count);
    }
}
