using System.IO.Enumeration;
using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>A named file of a release that may be published.</summary>
/// <param name="Path">Folder and name inside the release, separated by <c>/</c>.</param>
/// <param name="Kind">What it is by its first bytes.</param>
/// <param name="Length">Its length in bytes.</param>
public readonly record struct FilterFile(string Path, MediaKind Kind, long Length)
{
    /// <summary>The posted name where it differs, else null; the blocklist holds for it as well.</summary>
    public string? Original { get; init; }
}

/// <summary>What a release has to have, and what of it stays away.</summary>
public sealed record FilterRules
{
    /// <summary>Name of the release. Where a file repeats it, its words say nothing about the file.</summary>
    public required string Release { get; init; }

    /// <summary>Patterns with <c>*</c> and <c>?</c>; case says nothing. One with a <c>/</c> is held against the path, others against the name.</summary>
    public IReadOnlyList<string> Blocklist { get; init; } = [];

    /// <summary>Whether samples stay away.</summary>
    public bool DropsSamples { get; init; }

    /// <summary>Whether there has to be a video or audio file that is no sample.</summary>
    public bool NeedsMedia { get; init; }

    /// <summary>Whether samples alone are not enough, where any other kind of file is.</summary>
    public bool RefusesSamples { get; init; }

    /// <summary>Whether PAR2 files are published.</summary>
    public bool ShowsPar2 { get; init; }
}

/// <summary>Whether a file is published.</summary>
public enum FilterOutcome
{
    /// <summary>It is.</summary>
    Published,

    /// <summary>Not: its name is on the blocklist.</summary>
    Blocked,

    /// <summary>Not: it is the sample of a longer video.</summary>
    Sample,

    /// <summary>Not: it is PAR2.</summary>
    Par2,

    /// <summary>Not: it has no byte.</summary>
    Empty,
}

/// <summary>What a release lacks that it cannot be published without.</summary>
public enum ReleaseLack
{
    /// <summary>Nothing.</summary>
    None,

    /// <summary>A video or audio file; without <see cref="FilterRules.NeedsMedia"/> any file.</summary>
    Media,

    /// <summary>A video that is no sample.</summary>
    MoreThanSamples,
}

/// <summary>What becomes of a release.</summary>
/// <param name="Files">One outcome per file, in the same order.</param>
/// <param name="Lack">What it lacks.</param>
public sealed record FilterVerdict(IReadOnlyList<FilterOutcome> Files, ReleaseLack Lack);

/// <summary>Says which files of a release are published (IMP-70), and whether those are worth it (IMP-71). Pure.</summary>
public static class ReleaseFilter
{
    // A sample is shorter than this share of the longest video, in percent.
    private const int SampleShare = 20;

    /// <summary>Judges a release.</summary>
    /// <param name="files">Its files under the names that they would be published under.</param>
    /// <param name="rules">What is asked of them.</param>
    public static FilterVerdict Judge(IReadOnlyList<FilterFile> files, FilterRules rules)
    {
        ArgumentNullException.ThrowIfNull(files);
        ArgumentNullException.ThrowIfNull(rules);

        var longest = files.Where(IsVideo).Select(file => file.Length).DefaultIfEmpty().Max();
        var outcomes = files.Select(file => Judge(file, longest, rules)).ToList();
        var published = files.Where((_, i) => outcomes[i] == FilterOutcome.Published)
            .Where(file => CategoryOf(file) != MediaCategory.Par2).ToList();
        return new FilterVerdict(outcomes, LackOf(published, rules));
    }

    /// <summary>Whether the path has the word <c>sample</c> or <c>samples</c>.</summary>
    /// <param name="path">A path or any other text.</param>
    public static bool SaysSample(string path)
    {
        ArgumentNullException.ThrowIfNull(path);
        return Words(path).Any(IsSampleWord);
    }

    private static FilterOutcome Judge(FilterFile file, long longest, FilterRules rules)
    {
        if (file.Length == 0)
            return FilterOutcome.Empty;
        if (CategoryOf(file) == MediaCategory.Par2)
            return rules.ShowsPar2 ? FilterOutcome.Published : FilterOutcome.Par2;
        if (rules.Blocklist.Any(pattern => Matches(pattern, file)))
            return FilterOutcome.Blocked;
        return rules.DropsSamples && IsSample(file, rules) && file.Length * (Int128)100 < longest * (Int128)SampleShare
            ? FilterOutcome.Sample
            : FilterOutcome.Published;
    }

    private static ReleaseLack LackOf(List<FilterFile> published, FilterRules rules)
    {
        if (!rules.NeedsMedia)
        {
            return published.Count == 0 ? ReleaseLack.Media
                : rules.RefusesSamples && published.TrueForAll(file => IsSample(file, rules)) ? ReleaseLack.MoreThanSamples
                : ReleaseLack.None;
        }

        var media = published.Where(IsMedia).ToList();
        if (media.Count == 0)
            return ReleaseLack.Media;
        return media.TrueForAll(file => IsSample(file, rules)) ? ReleaseLack.MoreThanSamples : ReleaseLack.None;
    }

    private static bool Matches(string pattern, FilterFile file) =>
        pattern.Contains('/')
            ? Matches(pattern, file.Path)
            : Matches(pattern, file.Path[(file.Path.LastIndexOf('/') + 1)..]) || (file.Original is { } original && Matches(pattern, original));

    private static bool Matches(string pattern, string name) => FileSystemName.MatchesSimpleExpression(pattern, name);

    // A menu on a disc is no sample, however short.
    private static bool IsSample(FilterFile file, FilterRules rules)
    {
        if (!IsVideo(file) || NameJudge.IsDiscPart(file.Path))
            return false;
        var release = Words(rules.Release);
        return file.Path.Split('/').Any(part => SaysSampleBeyond(Words(part), release));
    }

    /// <summary>Whether a folder or file has the word where it is not that of the release: <c>The.Sample.2019.mkv</c> is the film of its release.</summary>
    private static bool SaysSampleBeyond(List<string> words, List<string> release)
    {
        // Without its extension the name is that of the release.
        if (words.Take(words.Count - 1).SequenceEqual(release))
            return false;
        return Enumerable.Range(0, words.Count).Any(at => IsSampleWord(words[at]) && !Enumerable.Range(0, release.Count).Any(other => IsSame(at, other)));

        bool IsSame(int at, int other) => words[at] == release[other]
            && ((at > 0 && other > 0 && words[at - 1] == release[other - 1])
                || (at + 1 < words.Count && other + 1 < release.Count && words[at + 1] == release[other + 1]));
    }

    private static bool IsSampleWord(string word) => word is "sample" or "samples";

    private static List<string> Words(string text)
    {
        var words = new List<string>();
        for (var at = 0; at < text.Length;)
        {
            var end = at;
            while (end < text.Length && char.IsLetterOrDigit(text[end]))
                end++;
            if (end > at)
                words.Add(text[at..end].ToLowerInvariant());
            at = end + 1;
        }

        return words;
    }

    private static bool IsVideo(FilterFile file) => CategoryOf(file) == MediaCategory.Video;

    // An image of a disc holds what there is to watch.
    private static bool IsMedia(FilterFile file) =>
        CategoryOf(file) is MediaCategory.Video or MediaCategory.Audio
        || file.Kind == MediaKind.DiscImage
        || (file.Kind == MediaKind.Unknown && MediaSignature.KindOf(NameJudge.ExtensionOf(file.Path)) == MediaKind.DiscImage);

    private static MediaCategory CategoryOf(FilterFile file) => NameJudge.CategoryOf(file.Path, file.Kind);
}
