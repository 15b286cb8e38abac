using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Probing;

/// <summary>A posted file as the NZB lists it.</summary>
/// <param name="Subject">What its subject tells.</param>
/// <param name="Ids">Its message-ids in order, at least one.</param>
/// <param name="EncodedBytes">Size of all its articles in bytes as the NZB claims it; a hint, and 0 where the NZB claims nothing.</param>
public readonly record struct ProbeTarget(NzbSubject Subject, ISegmentIds Ids, long EncodedBytes = 0);

/// <summary>The findings of the probe of a release, and their cost.</summary>
/// <param name="Files">One entry per posted file; in the order of the targets, joined ones at the place of their first segment.</param>
/// <param name="HeadsAsked">Articles that were asked for, each counted once however many providers had to be asked.</param>
/// <param name="Fetches">Fetches that were started: the articles, and the repetitions after damage or by another id.</param>
/// <param name="Misses">Articles that no provider has.</param>
/// <param name="Corrupt">Bodies that were refused: damaged, or another article than the one asked for.</param>
/// <param name="Bytes">Raw bytes that arrived, in bytes.</param>
public sealed record ProbeReport(IReadOnlyList<FileHead> Files, int HeadsAsked, int Fetches, int Misses, int Corrupt, long Bytes);

/// <summary>
/// Finds out what the posted files of a release are and where their bytes live, from first and last articles. A plain file
/// costs two articles, an archive set whose volumes are named costs one, PAR2 files cost nothing unless they are wanted.
/// A file whose articles carry no ranges costs all of them.
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

        using var fetcher = new HeadFetcher(_source, _options);
        var plan = ProbePlan.Make(targets, _options.IncludesPar2);
        var heads = new FileHead[targets.Count];
        var done = 0;
        await Parallel.ForEachAsync(
            plan.Asked,
            new ParallelOptions { MaxDegreeOfParallelism = _options.Concurrency, CancellationToken = cancellationToken },
            async (index, token) =>
            {
                heads[index] = await ProbeAsync(fetcher, targets[index], index, plan, () => progress?.Report(Volatile.Read(ref done)), token);
                _options.Found?.Invoke(heads[index]);
                progress?.Report(Interlocked.Increment(ref done));
            });

        for (var index = 0; index < targets.Count; index++)
            heads[index] ??= Skip(targets[index], index, plan, heads);
        progress?.Report(targets.Count);
        return fetcher.Report(SegmentJoiner.Join(heads, _options.MaxJoined));
    }

    private async Task<FileHead> ProbeAsync(
        HeadFetcher fetcher, ProbeTarget target, int index, ProbePlan plan, Action counted, CancellationToken cancellationToken)
    {
        var count = target.Ids.Count;
        var segments = new SegmentHeads(fetcher, target.Ids, target.EncodedBytes / count);

        // Of an archive the last article tells nothing yet, so it is asked for at once only where the name promises a plain file.
        List<HeadAnswer> answers = count > 1 && plan.IsPlain(index)
            ? [.. await Task.WhenAll(FetchAsync(0), FetchAsync(count - 1))]
            : [await FetchAsync(0)];
        var file = new FileHead
        {
            Members = [index],
            Subject = target.Subject,
            Ids = target.Ids,
            State = answers[0].State,
            VolumeSet = plan.SetOf(index),
            AskedArticles = answers.Count,
            MissingArticles = CountMissing(),
        };
        if (answers[0].Head is not { } head)
            return file;

        file = file with { Header = head.Header, FirstBytes = head.FirstBytes, Kind = KindOf(head) };
        var category = MediaSignature.CategoryOf(file.Kind);
        if (category == MediaCategory.Archive || (category == MediaCategory.Par2 && !_options.IncludesPar2))
            return file;

        if (answers.Count < 2 && count > 1)
            answers.Add(await FetchAsync(count - 1));
        head = await WithRangeAsync(segments, 0, head, cancellationToken);
        var last = answers[^1].Head is { } tail ? await WithRangeAsync(segments, count - 1, tail, cancellationToken) : null;
        var found = await new MapFinder(segments, _options, counted).FindAsync(head, last, cancellationToken);
        return file with
        {
            Map = found.Map,
            IsConfirmed = found.IsConfirmed,
            TooLongToCount = found.IsTooLong ? head.Encoding : null,
            AskedArticles = answers.Count + found.Counted,
            MissingArticles = CountMissing() + found.Missing,
            Habit = await FindHabitAsync(segments, head, last, cancellationToken),
        };

        int CountMissing() => answers.Count(answer => answer.State == HeadState.Missing);

        Task<HeadAnswer> FetchAsync(int segment) =>
            segments.FetchAsync(segment, answer => MapFinder.IsPlausible(answer, segment, count), cancellationToken);
    }

    /// <summary>One provider may have lost the range of an article that has one elsewhere; a file of a single article needs none.</summary>
    private static async Task<ArticleHead> WithRangeAsync(SegmentHeads segments, int index, ArticleHead head, CancellationToken cancellationToken)
    {
        if (head.Begin is not null || segments.Count == 1)
            return head;
        var answer = await segments.FetchBesideAsync(
            index, head, other => other.Begin is not null && MapFinder.IsPlausible(other, index, segments.Count), cancellationToken);
        return answer.Head ?? head;
    }

    /// <summary>What the articles carry. That they carry no checksums is believed only where first and last article agree.</summary>
    private static async Task<ArticleHabit> FindHabitAsync(SegmentHeads segments, ArticleHead first, ArticleHead? last, CancellationToken cancellationToken)
    {
        var habit = last is null ? first.Habit : first.Habit.And(last.Habit);
        if (habit.Checksum != Carries.Never || segments.Count == 1)
            return habit;
        if (first.Checksum == Carries.Unknown)
        {
            var answer = await segments.FetchWithTrailerAsync(0, head => MapFinder.IsPlausible(head, 0, segments.Count), cancellationToken);
            first = answer.Head ?? first;
        }

        return habit with { Checksum = last?.Checksum == Carries.Never ? first.Checksum : Carries.Unknown };
    }

    // The middle of a file looks like anything.
    private static MediaKind KindOf(ArticleHead head) =>
        head.Begin is null or 0 ? MediaSignature.Recognise(head.FirstBytes.Span) : MediaKind.Unknown;

    private static FileHead Skip(ProbeTarget target, int index, ProbePlan plan, FileHead?[] heads) => new()
    {
        Members = [index],
        Subject = target.Subject,
        Ids = target.Ids,
        State = HeadState.Skipped,
        Kind = plan.IsPar2(index) ? MediaKind.Par2 : heads[plan.LeaderOf(index)]?.Kind ?? MediaKind.Unknown,
        VolumeSet = plan.SetOf(index),
    };
}
