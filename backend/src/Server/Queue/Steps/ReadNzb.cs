using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Reads the stored NZB, writes its message-ids to the release's list, separates PAR2 files from the payload, and checks for articles known to be missing.
/// </summary>
internal sealed class ReadNzb(
    StoredNzbReader nzbs,
    BlobStore blobs,
    QueueStore queue,
    QueueRenaming renaming,
    CategoryRules categories,
    OpenReleases releases,
    DeadArticles dead,
    IOptionsMonitor<ImportOptions> import) : IImportStep
{
    // The progress reaches half after this many files, because the total is unknown until the end.
    private const double HalfWay = 100;

    public string Name => nameof(ReadNzb);

    public int Weight => 5;

    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        if (work.Read is not { } read || read.NzbHash != work.Item.NzbHash)
        {
            var (post, failure) = await ReadAsync(work.Item.NzbHash, progress, cancellationToken);
            if (post is null)
                return failure;
            read = post;
            // An older version may have added the item without a measure.
            if (work.Item.Measure != read.Measure)
                await queue.SetPostAsync(work.Item.Id, read.NzbHash, read.Measure, cancellationToken);
            if (read.Category is { } category && work.Item.Category == CategoryRules.None)
                work.Item = await renaming.SetNamedCategoryAsync(work.Item.Id, category, cancellationToken) ?? work.Item;
        }

        work.Read = read;
        work.Item = work.Item.With(read.Measure);
        work.Sort = PostSort.Of(read.Files, import.CurrentValue.Blocklist);
        progress.Findings = read.Findings;
        if (work.Sort.Payload.Count == 0)
            return ImportFailure.NoMedia();
        return await IsKnownDeadAsync(work, cancellationToken) ? ImportFailure.KnownDead() : null;
    }

    private async Task<bool> IsKnownDeadAsync(ImportWork work, CancellationToken cancellationToken)
    {
        if (work.Item.Retried != RetryKind.No || !await dead.AnyAsync(cancellationToken))
            return false;
        using var release = await releases.OpenAsync(work.Item.NzbHash, cancellationToken);
        return await dead.CoverAsync(work.Sort.Payload, release, cancellationToken);
    }

    private async Task<(ReadPost? Post, ImportFailure? Failure)> ReadAsync(string nzbHash, StepProgress progress, CancellationToken cancellationToken)
    {
        var files = new List<PostedEntry>();
        var measure = PostMeasure.Nothing;
        var head = new NzbHead();
        try
        {
            await blobs.SaveIdsAsync(
                nzbHash,
                async (list, token) =>
                {
                    var writer = new MessageIdListWriter(list);
                    await foreach (var file in nzbs.ReadAsync(nzbHash, head, token))
                    {
                        var entry = await PostedEntry.ReadAsync(files.Count, file, writer, token);
                        files.Add(entry);
                        measure = measure.With(file.Date, entry.Segments, entry.EncodedBytes);
                        progress.Report(files.Count / (files.Count + HalfWay));
                    }

                    await writer.CompleteAsync(token);
                },
                cancellationToken);
        }
        catch (NzbFormatException e)
        {
            return (null, e.Fault switch
            {
                NzbFault.Empty => ImportFailure.NzbEmpty(),
                NzbFault.TooLarge => ImportFailure.NzbTooLarge(e.Detail),
                _ => ImportFailure.NotAnNzb(e.Detail),
            });
        }

        return (new ReadPost(
            nzbHash,
            files,
            [.. head.Passwords.Select(QueueItem.LimitPassword)],
            head.Title ?? head.Name,
            categories.NamedBy(head.Category, head.Tags),
            measure,
            new StepFindings(("files", measure.Files), ("segments", measure.Segments))), null);
    }
}
