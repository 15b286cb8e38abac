using System.IO.Enumeration;
using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>A named file that may be published.</summary>
/// <param name="Path">Path inside the release, with <c>/</c> as separator.</param>
/// <param name="Length">Length in bytes.</param>
public readonly record struct FilterFile(string Path, MediaKind Kind, long Length)
{
    /// <summary>The posted name if it differs, otherwise null; the blocklist applies to it as well.</summary>
    public string? Original { get; init; }
}

/// <summary>The requirements for a release, and the files to hide.</summary>
public sealed record FilterRules
{
    /// <summary>Name of the release. The words of this name are ignored when looking for samples.</summary>
    public required string Release { get; init; }

    /// <summary>Case-insensitive patterns with <c>*</c> and <c>?</c>. Patterns with <c>/</c> are matched against the path, others against the name.</summary>
    public IReadOnlyList<string> Blocklist { get; init; } = [];

    public bool DropsSamples { get; init; }

    /// <summary>Whether the release must have a video or audio file other than a sample.</summary>
    public bool NeedsMedia { get; init; }

    /// <summary>Whether a release with nothing but samples is refused, even if any other kind of file suffices.</summary>
    public bool RefusesSamples { get; init; }

    public bool ShowsPar2 { get; init; }
}

/// <summary>Whether a file is published, or why not.</summary>
public enum FilterOutcome
{
    Published,

    /// <summary>Hidden: the name is on the blocklist.</summary>
    Blocked,

    /// <summary>Hidden: the file is the sample of a longer video.</summary>
    Sample,

    /// <summary>Hidden: the file is PAR2.</summary>
    Par2,

    /// <summary>Hidden: the file has no bytes.</summary>
    Empty,
}

/// <summary>The missing requirement of a release.</summary>
public enum ReleaseLack
{
    None,

    /// <summary>A video or audio file; without <see cref="FilterRules.NeedsMedia"/> any file.</summary>
    Media,

    /// <summary>A file other than a sample.</summary>
    MoreThanSamples,
}

/// <summary>The verdict on a release: one outcome per file in the same order, and its missing requirement.</summary>
public sealed record FilterVerdict(IReadOnlyList<FilterOutcome> Files, ReleaseLack Lack);

/// <summary>Decides which files of a release are published (IMP-70), and whether the release is acceptable (IMP-71). Pure.</summary>
public static class ReleaseFilter
{
    // A sample is shorter than this percentage of the longest video.
    private const int SampleShare = 20;

    /// <summary>Judges the files of a release by their published names.</summary>
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

    /// <summary>Whether a path or text contains the word <c>sample</c> or <c>samples</c>.</summary>
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

    // A disc menu is not a sample, no matter how short.
    private static bool IsSample(FilterFile file, FilterRules rules)
    {
        if (!IsVideo(file) || NameJudge.IsDiscPart(file.Path))
            return false;
        var release = Words(rules.Release);
        return file.Path.Split('/').Any(part => SaysSampleBeyond(Words(part), release));
    }

    /// <summary>Whether a name has the word "sample" in addition to the release name, because <c>The.Sample.2019.mkv</c> is the film itself.</summary>
    private static bool SaysSampleBeyond(List<string> words, List<string> release)
    {
        // The name without its extension equals the release name.
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

    // A disc image counts, because it contains the media.
    private static bool IsMedia(FilterFile file) =>
        CategoryOf(file) is MediaCategory.Video or MediaCategory.Audio
        || file.Kind == MediaKind.DiscImage
        || (file.Kind == MediaKind.Unknown && MediaSignature.KindOf(NameJudge.ExtensionOf(file.Path)) == MediaKind.DiscImage);

    private static MediaCategory CategoryOf(FilterFile file) => NameJudge.CategoryOf(file.Path, file.Kind);
}
