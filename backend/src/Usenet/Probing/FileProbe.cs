using Sluice.Usenet.Media;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Probing;

/// <summary>Determines the kind and segment map of one posted file from its first and, if needed, last article.</summary>
/// <remarks>Thread-safe if its parts are; created for one file.</remarks>
internal sealed class FileProbe(HeadFetcher fetcher, FileHead file, ProbeOptions options, Action? counted = null)
{
    /// <summary>Number of bytes kept from a volume, for its headers and the beginning of the archived file.</summary>
    public const int VolumeBytes = 2 << 10;

    private readonly SegmentHeads _segments = new(fetcher, file.Ids, file.EncodedBytes / file.Ids.Count);

    private int Count => _segments.Count;

    /// <summary>Fetches as much of the file as <paramref name="depth"/> requires, and returns the result.</summary>
    public async Task<FileHead> RunAsync(ProbeDepth depth, CancellationToken cancellationToken)
    {
        List<HeadAnswer> answers = depth == ProbeDepth.Ends && Count > 1
            ? [.. await Task.WhenAll(FetchAsync(0, cancellationToken), FetchAsync(Count - 1, cancellationToken))]
            : [await FetchAsync(0, cancellationToken)];
        if (answers[0].Head is not { } head)
            return file with { State = answers[0].State, AskedArticles = answers.Count, MissingArticles = Missing(answers) };

        var found = Found(head);
        if (answers.Count < 2 && Count > 1 && !IsEnough(depth, found.Kind, head))
            answers.Add(await FetchAsync(Count - 1, cancellationToken));
        return await MeasureAsync(found, head, answers, MayBeVolume(found, depth), cancellationToken);
    }

    /// <summary>Measures a file of which only the first article was fetched, by fetching the last article.</summary>
    public async Task<FileHead> CompleteAsync(CancellationToken cancellationToken)
    {
        // Reuse the first article, because fetching it again would return the same bytes.
        var head = new ArticleHead(0, file.Header, file.FirstBytes, null, IsIntact: true);
        List<HeadAnswer> answers = [new HeadAnswer(head, HeadState.Found), await FetchAsync(Count - 1, cancellationToken)];
        return await MeasureAsync(file, head, answers, MayBeVolume(file, ProbeDepth.ByKind), cancellationToken);
    }

    /// <summary>Fetches the whole first article and accepts it only if its data is intact.</summary>
    public async Task<FileHead> ProveHeadAsync(CancellationToken cancellationToken)
    {
        var answer = await _segments.ProveAsync(0, head => MapFinder.IsPlausible(head, 0, Count), cancellationToken);
        return answer.Head is { } head
            ? Found(head) with { Map = Count == 1 ? SegmentMap.Uniform(1, head.Length ?? 0, head.Length ?? 0) : MapFinder.ByClaimedSize(Count, head), AskedArticles = 1 }
            : file with { State = answer.State };
    }

    private FileHead Found(ArticleHead head) => file with
    {
        State = HeadState.Found,
        Header = head.Header,
        FirstBytes = Kept(head, KindOf(head)),
        Kind = KindOf(head),
        HeadMd5 = HeadOf(head),
        Habit = head.Habit,
    };

    private static int Missing(List<HeadAnswer> answers) => answers.Count(answer => answer.State == HeadState.Missing);

    /// <summary>Whether the first article suffices. A claimed length is trusted only for archives, because their headers reveal a wrong claim.</summary>
    private bool IsEnough(ProbeDepth depth, MediaKind kind, ArticleHead head) => depth switch
    {
        ProbeDepth.Head => MapFinder.ByClaimedSize(Count, head) is not null,
        ProbeDepth.ByKind => kind switch
        {
            MediaKind.Par2 => !options.IncludesPar2,

            // RAR 4 stores its volume number at the end.
            MediaKind.Rar4 => false,
            MediaKind.Rar5 or MediaKind.SevenZip or MediaKind.Zip or MediaKind.Unknown => MapFinder.ByClaimedSize(Count, head) is not null,
            _ => false,
        },
        _ => false,
    };

    private async Task<FileHead> MeasureAsync(
        FileHead found, ArticleHead head, List<HeadAnswer> answers, bool mayBeVolume, CancellationToken cancellationToken)
    {
        if (answers.Count == 1 && Count > 1)
            return found with { Map = MapFinder.ByClaimedSize(Count, head), AskedArticles = 1 };

        head = await WithRangeAsync(0, head, cancellationToken);
        var last = answers[^1].Head is { } tail ? await WithRangeAsync(Count - 1, tail, cancellationToken) : null;
        var map = await new MapFinder(_segments, options, counted).FindAsync(head, last, cancellationToken);
        return found with
        {
            Map = map.Map,
            IsConfirmed = map.IsConfirmed,
            TooLongToCount = map.IsTooLong ? head.Encoding : null,
            LastBytes = map.IsConfirmed && mayBeVolume && (last ?? head) is { IsIntact: true } end ? end.LastBytes : default,
            AskedArticles = answers.Count + map.Counted,
            MissingArticles = Missing(answers) + map.Missing,
            Habit = await FindHabitAsync(head, last, cancellationToken),
        };
    }

    private Task<HeadAnswer> FetchAsync(int segment, CancellationToken cancellationToken) =>
        _segments.FetchAsync(segment, answer => MapFinder.IsPlausible(answer, segment, Count), cancellationToken);

    /// <summary>Looks for a copy with a range at other providers, because a provider may have lost the range line. A single article needs no range.</summary>
    private async Task<ArticleHead> WithRangeAsync(int index, ArticleHead head, CancellationToken cancellationToken)
    {
        if (head.Begin is not null || Count == 1)
            return head;
        var answer = await _segments.FetchFromOthersAsync(
            index, head, other => other.Begin is not null && MapFinder.IsPlausible(other, index, Count), cancellationToken);
        return answer.Head ?? head;
    }

    /// <summary>Returns which evidence the articles carry. Absence of checksums is accepted only if first and last article agree.</summary>
    private async Task<ArticleHabit> FindHabitAsync(ArticleHead first, ArticleHead? last, CancellationToken cancellationToken)
    {
        var habit = last is null ? first.Habit : first.Habit.And(last.Habit);
        if (habit.Checksum != Carries.Never || Count == 1)
            return habit;
        if (first.Checksum == Carries.Unknown)
        {
            var answer = await _segments.FetchWithTrailerAsync(0, head => MapFinder.IsPlausible(head, 0, Count), cancellationToken);
            first = answer.Head ?? first;
        }

        return habit with { Checksum = last?.Checksum == Carries.Never ? first.Checksum : Carries.Unknown };
    }

    private ReadOnlyMemory<byte> Kept(ArticleHead head, MediaKind kind)
    {
        var most = MediaSignature.CategoryOf(kind) == MediaCategory.Archive ? Math.Max(options.HeadBytes, VolumeBytes) : options.HeadBytes;
        return head.FirstBytes.Length > most ? head.FirstBytes[..most].ToArray() : head.FirstBytes;
    }

    // The last volume of an archive may begin with any bytes, and its name does not suggest a plain file.
    private static bool MayBeVolume(FileHead file, ProbeDepth depth) =>
        file.VolumeSet is not null || MediaSignature.CategoryOf(file.Kind) == MediaCategory.Archive || (file.Kind == MediaKind.Unknown && depth != ProbeDepth.Ends);

    // Bytes from the middle of a file do not reveal its kind.
    private static MediaKind KindOf(ArticleHead head) =>
        head.Begin is null or 0 ? MediaSignature.Recognise(head.FirstBytes.Span) : MediaKind.Unknown;

    private UInt128? HeadOf(ArticleHead head) => head.Begin is null or 0
        ? Par2Matcher.HeadOf(head.FirstBytes.Span, Count == 1 ? head.Header?.FileSize ?? head.DecodedLength ?? long.MaxValue : long.MaxValue)
        : null;
}
