using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Checks before publication whether all articles, or a larger sample, exist (IMP-61). Each instance runs one check.</summary>
internal sealed class ArticleCheck(ProviderHost providers, ImportWork work, ImportOptions options)
{
    // Articles per request. Progress is reported after each file.
    private const int Batch = 512;

    private const int LeastSample = 64;
    private const int SampleFactor = 4;

    public int Asked { get; private set; }

    /// <summary>Number of articles that no provider has.</summary>
    public int Missing { get; private set; }

    /// <returns>Why the release cannot be published, or null.</returns>
    public async Task<ImportFailure?> RunAsync(StepProgress progress, CancellationToken cancellationToken)
    {
        var heads = work.Heads.Where(head => head.Kind != MediaKind.Par2).ToList();
        var total = heads.Sum(head => (long)head.Ids.Count);
        var wanted = options.ChecksSample ? Math.Min(total, Math.Max(LeastSample, SampleFactor * Math.Ceiling(Math.Sqrt(total)))) : total;
        var media = MediaHeads();
        for (var i = 0; i < heads.Count; i++)
        {
            var head = heads[i];
            // A damaged companion file is still published, unless the settings forbid it.
            var isMedia = media.Contains(head);
            if (!isMedia && options.TakesDamagedCompanions)
                continue;
            var count = (int)Math.Ceiling(head.Ids.Count * wanted / Math.Max(1, total));
            var (asked, missing) = await AskAsync(head.Ids, count, cancellationToken);
            (Asked, Missing) = (Asked + asked, Missing + missing);
            if (missing > 0)
                return ImportFailure.MissingArticles(head.Subject.FileName ?? head.Header?.Name ?? "A file", missing, asked, providers.ProviderCount);
            progress.Report((i + 1.0) / heads.Count);
        }

        return null;
    }

    /// <summary>Returns the posted files that contain media.</summary>
    private HashSet<FileHead> MediaHeads()
    {
        var map = work.Map;
        return
        [
            .. map.Files
                .Where(file => NameJudge.CategoryOf(file.InnerPath ?? work.Heads[file.NamedBy].Subject.FileName ?? "", file.Kind) is MediaCategory.Video or MediaCategory.Audio)
                .SelectMany(file => file.Extents.Select(extent => work.Heads[extent.Posted])),
        ];
    }

    /// <summary>Checks evenly distributed articles of one file.</summary>
    private async Task<(int Asked, int Missing)> AskAsync(ISegmentIds ids, int count, CancellationToken cancellationToken)
    {
        var (asked, missing) = (0, 0);
        foreach (var batch in Enumerable.Range(0, count).Select(i => (int)((long)i * ids.Count / count)).Chunk(Batch))
        {
            var segments = new List<SegmentIds>(batch.Length);
            foreach (var index in batch)
                segments.Add(await ids.GetAsync(index, cancellationToken));
            asked += segments.Count;
            missing += segments.RemoveAll(segment => segment.Primary.IsEmpty);
            foreach (var gone in await FindMissingAsync(segments, cancellationToken))
            {
                missing++;
                work.NoteGone(gone);
            }
        }

        return (asked, missing);
    }

    private async Task<IReadOnlyList<MessageId>> FindMissingAsync(List<SegmentIds> segments, CancellationToken cancellationToken)
    {
        var answers = await AskAsync([.. segments.Select(segment => segment.Primary)], cancellationToken);
        var missing = new List<MessageId>();
        for (var i = 0; i < segments.Count; i++)
        {
            var isGone = answers[i].IsMissingEverywhere
                && (segments[i].Fallbacks.Count == 0
                    || (await AskAsync([.. segments[i].Fallbacks], cancellationToken)).All(answer => answer.IsMissingEverywhere));
            if (isGone)
                missing.Add(segments[i].Primary);
        }

        return missing;
    }

    private async Task<ArticlePresence[]> AskAsync(MessageId[] ids, CancellationToken cancellationToken)
    {
        var answers = new ArticlePresence[ids.Length];
        if (ids.Length > 0)
            await providers.StatAsync(new StatRequest(ids, OperationLane.Import), answers, cancellationToken);
        return answers;
    }
}
