using System.Globalization;

namespace Sluice.Usenet.Media.Titles;

/// <summary>The film or series that a release name describes. Pure; thread-safe.</summary>
/// <param name="Title">The title with spaces between its words, in the case of the name; never empty.</param>
public sealed record ReleaseTitle(string Title)
{
    /// <summary>Maximum length of a name in characters. Longer names are not parsed, because no folder name is that long.</summary>
    public const int MaxLength = 512;

    /// <summary>Year of a film, or the year that distinguishes series of the same title; null if absent.</summary>
    public int? Year { get; init; }

    /// <summary>Season number, or a range such as "1-5"; null for a film or if absent.</summary>
    public string? Season { get; init; }

    /// <summary>Number of the episode or part, a range such as "1-3", or a date such as "2024-02-29"; null for a film or a whole season.</summary>
    public string? Episodes { get; init; }

    /// <summary>Resolution and source, such as "1080p WEB-DL"; null if both are absent.</summary>
    public string? Quality { get; init; }

    /// <summary>Parses the name of a release or file; null if it contains no recognizable title, for example an obfuscated name.</summary>
    public static ReleaseTitle? Parse(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (name.Length > MaxLength)
            return null;

        var text = NameTrim.WithoutWrapping(name);
        if (!text.StartsWith('['))
            return Read(text);

        // A Usenet subject has several brackets, and one of them contains the name.
        if (text.Contains("]-[", StringComparison.Ordinal))
        {
            var rest = text;
            while (NameTrim.TryTakeBracket(ref rest, out var inner))
            {
                if (inner.Length >= NameTrim.ShortestInSubject && Read(NameTrim.WithoutWrapping(inner)) is { } found)
                    return found;
            }
        }

        return Read(text);
    }

    private static ReleaseTitle? Read(ReadOnlySpan<char> text)
    {
        Span<NameWord> buffer = stackalloc NameWord[NameWords.Most];
        var words = new NameWords(text, buffer);
        var first = words.FirstOfTitle();
        if (first >= words.Count)
            return null;

        var end = FindEnd(words, first, out var numbers);
        var year = FindYear(words, first, ref end, numbers);
        if (year is null && numbers is null && end == words.Count)
            return null;

        if (year is null && numbers is null && EpisodeNumbers.PartBefore(words, first, end) is { } part)
            (numbers, end) = (part, part.First);
        end = TitleEdge.Trim(words, first, end, isBeforeYear: year is not null, isBeforeNumbers: numbers is not null);
        var title = words.Join(first, end);
        if (title.Length == 0 || (end - first == 1 && RandomName.Matches(title)))
            return null;
        return new ReleaseTitle(title) { Year = year, Season = numbers?.Season, Episodes = numbers?.Episodes, Quality = QualityWords.Describe(words, end) };
    }

    /// <summary>Returns the index of the first word after the title: episode numbers, quality or a bracket.</summary>
    private static int FindEnd(NameWords words, int first, out EpisodeNumbers? numbers)
    {
        numbers = null;
        for (var i = first + 1; i < words.Count; i++)
        {
            numbers = EpisodeNumbers.At(words, i);
            if (numbers is not null || QualityWords.IsSure(words, i))
                return i;
            if (words[i].Bracket is '[' or '{' && words[i].Group != words[first].Group)
            {
                // In anime names the number may be in a later bracket.
                if (words.HasTeam && words[i].Group == words[first].Group + 1 && EpisodeNumbers.At(words, i + 1) is { } later)
                    numbers = later;
                return i;
            }
        }

        return words.Count;
    }

    private static int? FindYear(NameWords words, int first, ref int end, EpisodeNumbers? numbers)
    {
        if (numbers is not null)
        {
            // Only a year before the numbers counts, because a year elsewhere is part of the title.
            if (end - 1 <= first || YearOf(words, end - 1) is not { } near)
                return null;
            end--;
            return near;
        }

        var found = -1;
        for (var i = first + 1; i < words.Count && i <= end; i++)
        {
            if (YearOf(words, i) is null)
                continue;
            found = i;
            if (words[i].Bracket == '(')
                break;
        }

        if (found >= 0)
        {
            end = found;
            return YearOf(words, found);
        }

        // Look one word further, because some names have the year after the resolution.
        return end + 1 < words.Count ? YearOf(words, end + 1) : null;
    }

    private static int? YearOf(NameWords words, int index) =>
        words.Text(index) is { Length: 4 } word && int.TryParse(word, NumberStyles.None, CultureInfo.InvariantCulture, out var year) && year is >= 1900 and < 2040
            ? year
            : null;
}
