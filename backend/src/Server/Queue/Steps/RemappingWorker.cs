using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Maps releases anew of which a reader has found a volume that is not as predicted (IMP-52): through the steps of an import up to their maps,
/// with all headers read. Names, lengths and validators stay; readers that come again find the map that holds.
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

    /// <inheritdoc/>
    public string Name => "the maps of archives";

    /// <inheritdoc/>
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
                // A provider or the disk is away: the release is not readable until this succeeds.
                QueueLog.NotRemapped(logger, release.Id, e.Message);
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
            Retried = AnotherTry.Yes,
        };
        await using var work = new ImportWork(item, time.WallTime(), time.GetTimestamp()) { MayPredict = false };
        foreach (var step in steps.TakeWhile(step => step is not (CheckAvailability or Publish)))
        {
            if (await step.RunAsync(work, new StepProgress(_ => { }), cancellationToken) is { } failure)
            {
                QueueLog.NotRemapped(logger, release.Id, failure.Sentence);
                return;
            }
        }

        var plan = ReleasePlan.Of(work.Map, work.Heads, work.Sort.Targets, work.Names.Known);
        var found = plan.Files.ToLookup(file => file.ETag);
        var contents = (await library.GetFilesAsync(release, cancellationToken))
            .Where(file => found[file.ETag].Any(mapped => mapped.Length == file.Length))
            .ToDictionary(file => file.Id, file => found[file.ETag].First().Content);
        await library.ReplaceContentsAsync(release, plan.PostedFilesOf(contents.Values), contents, cancellationToken);
        QueueLog.Remapped(logger, release.Id, contents.Count);
    }
}
