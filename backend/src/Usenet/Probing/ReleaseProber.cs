using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Par2;

namespace Sluice.Usenet.Probing;

/// <summary>A posted file as listed in the NZB.</summary>
/// <param name="Ids">Message-ids in order, at least one.</param>
/// <param name="EncodedBytes">Total article size in bytes as claimed by the NZB; only a hint, 0 if unknown.</param>
public readonly record struct ProbeTarget(NzbSubject Subject, ISegmentIds Ids, long EncodedBytes = 0)
{
    public int Part { get; init; }
}

/// <summary>The result of probing a release, and its cost.</summary>
/// <param name="Files">One entry per posted file in target order; a joined file is at the position of its first segment.</param>
/// <param name="HeadsAsked">Articles requested, each counted once no matter how many providers were tried.</param>
/// <param name="Fetches">Fetches started, including retries after damage or with another id.</param>
/// <param name="Misses">Articles missing at every provider.</param>
/// <param name="Corrupt">Rejected bodies: damaged, or not the requested article.</param>
/// <param name="Bytes">Raw bytes received.</param>
public sealed record ProbeReport(IReadOnlyList<FileHead> Files, int HeadsAsked, int Fetches, int Misses, int Corrupt, long Bytes);

/// <summary>
/// Determines the kind and segment map of each posted file from first and last articles. A plain file costs two articles. A named set costs three
/// heads and its last article; an unnamed volume costs its head and, for RAR 4, its last article. Of PAR2 sets only the index is fetched. A file
/// without ranges costs all its articles.
/// </summary>
/// <remarks>Thread-safe; fetches in lane Import. Heads are fetched in parallel, so that the source can pipeline them.</remarks>
public sealed class ReleaseProber
{
    private readonly IArticleSource _source;
    private readonly ProbeOptions _options;

    /// <summary>Creates a prober; null <paramref name="options"/> mean the defaults.</summary>
    public ReleaseProber(IArticleSource source, ProbeOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(source);
        _source = source;
        _options = options ?? new ProbeOptions();
    }

    /// <summary>Probes the posted files of a release.</summary>
    /// <param name="targets">The files in NZB order.</param>
    /// <param name="progress">Receives the number of finished files; may be null.</param>
    /// <returns>The result, including missing and damaged articles.</returns>
    /// <exception cref="NntpException">No provider gave a final answer; the caller may retry.</exception>
    /// <exception cref="IOException">The stored message-ids are lost or damaged.</exception>
    public async Task<ProbeReport> ProbeAsync(IReadOnlyList<ProbeTarget> targets, IProgress<int>? progress, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(targets);

        var listed = PartJoiner.Join(targets, _options.MaxJoined);
        var plan = ProbePlan.Make([.. listed.Select(file => file.Target)], _options.IncludesPar2);
        using var fetcher = FetcherOf(plan.NeedsLongHeads ? Par2Matcher.HeadLength : FileProbe.VolumeBytes);
        FileHead[] heads = [.. listed.Select((file, index) => Unasked(file, index, plan))];
        var done = 0;
        await ForEachAsync(plan.Asked, async (index, token) =>
        {
            heads[index] = await Probe(index).RunAsync(plan.DepthOf(index), token);
            _options.Found?.Invoke(heads[index]);
            progress?.Report(Interlocked.Increment(ref done));
        }, cancellationToken);

        // A file of unknown kind may be a piece of a 7z or zip. If the release has neither, it is a plain file and must be measured.
        if (!heads.Any(head => head.Kind is MediaKind.SevenZip or MediaKind.Zip))
        {
            await ForEachAsync(
                plan.Asked.Where(index => plan.DepthOf(index) == ProbeDepth.ByKind && heads[index] is { Kind: MediaKind.Unknown, IsConfirmed: false, AskedArticles: 1, Ids.Count: > 1 }),
                async (index, token) => heads[index] = await CompleteAsync(fetcher, heads[index], token),
                cancellationToken);
        }

        for (var index = 0; index < heads.Length; index++)
        {
            if (heads[index].State == HeadState.Skipped && !plan.IsPar2(index))
                heads[index] = heads[index] with { Kind = heads[plan.LeaderOf(index)].Kind };
        }

        progress?.Report(targets.Count);
        return fetcher.Report(SegmentJoiner.Join(heads, _options.MaxJoined));

        FileProbe Probe(int index) => new(fetcher, heads[index], _options, () => progress?.Report(Volatile.Read(ref done)));
    }

    /// <summary>Continues a probe for skipped files or files known from one article; returns one result per file in the same order.</summary>
    /// <remarks>Fetches only the first article, unless <paramref name="isWhole"/> requires a measured length.</remarks>
    /// <exception cref="NntpException">No provider gave a final answer; the caller may retry.</exception>
    /// <exception cref="IOException">The stored message-ids are lost or damaged.</exception>
    internal async Task<IReadOnlyList<FileHead>> ContinueAsync(IReadOnlyList<FileHead> files, bool isWhole, CancellationToken cancellationToken)
    {
        using var fetcher = FetcherOf(FileProbe.VolumeBytes);
        FileHead[] heads = [.. files];
        await ForEachAsync(Enumerable.Range(0, heads.Length), async (index, token) =>
        {
            if (heads[index].State == HeadState.Skipped)
                heads[index] = await new FileProbe(fetcher, heads[index], _options).RunAsync(isWhole ? ProbeDepth.Ends : ProbeDepth.Head, token);
            else if (isWhole && heads[index] is { State: HeadState.Found, IsConfirmed: false, AskedArticles: 1, Ids.Count: > 1 })
                heads[index] = await CompleteAsync(fetcher, heads[index], token);
        }, cancellationToken);
        return heads;
    }

    /// <summary>Fetches the whole first article of a file, so that its bytes are verified.</summary>
    internal async Task<FileHead> ProveHeadAsync(FileHead file, CancellationToken cancellationToken)
    {
        using var fetcher = new HeadFetcher(_source, _options);
        return await new FileProbe(fetcher, file, _options).ProveHeadAsync(cancellationToken);
    }

    private HeadFetcher FetcherOf(int headBytes) => new(_source, _options with { HeadBytes = Math.Max(_options.HeadBytes, headBytes) });

    private Task<FileHead> CompleteAsync(HeadFetcher fetcher, FileHead head, CancellationToken cancellationToken) =>
        new FileProbe(fetcher, head, _options).CompleteAsync(cancellationToken);

    private Task ForEachAsync(IEnumerable<int> indexes, Func<int, CancellationToken, Task> probeAsync, CancellationToken cancellationToken) =>
        Parallel.ForEachAsync(
            indexes,
            new ParallelOptions { MaxDegreeOfParallelism = _options.Concurrency, CancellationToken = cancellationToken },
            async (index, token) => await probeAsync(index, token));

    private static FileHead Unasked(ListedFile file, int index, ProbePlan plan) => new()
    {
        Members = file.Members,
        Subject = file.Target.Subject,
        Ids = file.Target.Ids,
        EncodedBytes = file.Target.EncodedBytes,
        State = HeadState.Skipped,
        Kind = plan.IsPar2(index) ? MediaKind.Par2 : MediaKind.Unknown,
        VolumeSet = plan.SetOf(index),
    };
}
