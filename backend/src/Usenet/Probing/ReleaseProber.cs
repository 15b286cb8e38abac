using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Par2;

namespace Sluice.Usenet.Probing;

/// <summary>A posted file as the NZB lists it.</summary>
/// <param name="Subject">What its subject tells.</param>
/// <param name="Ids">Its message-ids in order, at least one.</param>
/// <param name="EncodedBytes">Size of all its articles in bytes as the NZB claims it; a hint, and 0 where the NZB claims nothing.</param>
public readonly record struct ProbeTarget(NzbSubject Subject, ISegmentIds Ids, long EncodedBytes = 0)
{
    /// <summary>Its <see cref="NzbFile.Part"/>.</summary>
    public int Part { get; init; }
}

/// <summary>The findings of the probe of a release, and their cost.</summary>
/// <param name="Files">One entry per posted file; in the order of the targets, joined ones at the place of their first segment.</param>
/// <param name="HeadsAsked">Articles that were asked for, each counted once however many providers had to be asked.</param>
/// <param name="Fetches">Fetches that were started: the articles, and the repetitions after damage or by another id.</param>
/// <param name="Misses">Articles that no provider has.</param>
/// <param name="Corrupt">Bodies that were refused: damaged, or another article than the one asked for.</param>
/// <param name="Bytes">Raw bytes that arrived, in bytes.</param>
public sealed record ProbeReport(IReadOnlyList<FileHead> Files, int HeadsAsked, int Fetches, int Misses, int Corrupt, long Bytes);

/// <summary>
/// Finds out what the posted files of a release are and where their bytes live, from first and last articles. A plain file costs two
/// articles; a set whose volumes are named costs three heads and its last article; a volume without a name of use costs its head, and of RAR 4
/// its last article; of PAR2 files only the index of each set is asked for. A file whose articles carry no ranges costs all of them.
/// </summary>
/// <remarks>Thread-safe; fetches in lane Import. Heads are asked for together, so the source can pipeline them.</remarks>
public sealed class ReleaseProber
{
    private readonly IArticleSource _source;
    private readonly ProbeOptions _options;

    /// <summary>Makes a prober.</summary>
    /// <param name="source">Where articles come from.</param>
    /// <param name="options">Null for the defaults.</param>
    public ReleaseProber(IArticleSource source, ProbeOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(source);
        _source = source;
        _options = options ?? new ProbeOptions();
    }

    /// <summary>Probes the posted files of a release.</summary>
    /// <param name="targets">The files of the NZB in its order.</param>
    /// <param name="progress">Receives the number of files that are done; null when the caller needs no progress.</param>
    /// <param name="cancellationToken">Gives the probe up.</param>
    /// <returns>The findings; missing and damaged articles are part of them.</returns>
    /// <exception cref="NntpException">No provider could be asked to the end; the probe says nothing and can be repeated.</exception>
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

        // What begins like nothing that is known may be a volume of an archive that has nothing but its pieces; else it is a plain file.
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

    /// <summary>Probes files further that a first probe has left out, or of which it has taken the word of one article.</summary>
    /// <param name="files">Files of a release as the probe left them.</param>
    /// <param name="isWhole">Whether first and last article are asked for, so that nothing is claimed only; else the first one, where it was not seen yet.</param>
    /// <param name="cancellationToken">Gives the probe up.</param>
    /// <returns>The findings, one for each file in the same order.</returns>
    /// <exception cref="NntpException">No provider could be asked to the end; the probe says nothing and can be repeated.</exception>
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

    /// <summary>Asks for the first article of a file to its end, so that its bytes are proved.</summary>
    /// <inheritdoc cref="ContinueAsync"/>
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
