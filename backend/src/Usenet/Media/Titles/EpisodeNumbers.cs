using System.Globalization;

namespace Sluice.Usenet.Media.Titles;

/// <summary>Season and episode numbers in the name of a release.</summary>
/// <param name="First">Index of the word where the numbers begin.</param>
/// <param name="Season">A number or a range; null if unknown.</param>
/// <param name="Episodes">A number, a range or a date; null for a whole season.</param>
internal sealed record EpisodeNumbers(int First, string? Season, string? Episodes)
{
    private const int MaxDigits = 4;

    /// <summary>Parses the numbers that begin at a word; null if there are none. The word must not be the title's first word.</summary>
    public static EpisodeNumbers? At(NameWords words, int index)
    {
        var text = words.Text(index);
        if (text.IsEmpty)
            return null;
        return OfSeason(words, index)
            ?? OfDate(words, index)
            ?? (Crossed(text) is { } crossed ? new EpisodeNumbers(index, crossed.Season, crossed.Episodes) : null)
            ?? (EpisodeAt(words, index, isAfterSeason: false) is { } episodes ? new EpisodeNumbers(index, null, episodes) : null);
    }

    /// <summary>Parses "Part 2" of a miniseries at the end of a title without a year; null if absent.</summary>
    public static EpisodeNumbers? PartBefore(NameWords words, int first, int end) =>
        end - 2 > first && (words.Is(end - 2, "part") || words.Is(end - 2, "pt")) && IsNumber(words.Text(end - 1), 2)
            ? new(end - 2, null, Number(words.Text(end - 1)))
            : null;

    private static EpisodeNumbers? OfSeason(NameWords words, int index)
    {
        var text = words.Text(index);
        if (IsSeasonWord(text) && IsNumber(words.Text(index + 1), 2))
            return new(index, Number(words.Text(index + 1)), EpisodeAfter(words, index + 2));
        if (IsSeasonWord(words.Text(index + 1)) && Ordinal(text) is { } ordinal)
            return new(index, ordinal, EpisodeAfter(words, index + 2));

        // Parses a season, one or more of its episodes, several seasons, or a disc of a season.
        if (!TakeNumber(ref text, 's', 1, out var season))
            return null;
        if (TakeRange(ref text, out var episodes))
            return new(index, season, episodes);
        if (text.IsEmpty || TakeNumber(ref text, 'd', 1, out _))
            return new(index, season, EpisodeAfter(words, index + 1));
        if (text[0] == '-' && text[1..] is var rest && (TakeNumber(ref rest, 's', 1, out var last) || (IsNumber(rest, 2) && (last = Number(rest)) is not null)))
            return new(index, $"{season}-{last}", null);

        // Accept a dash, because the release group may follow directly.
        return text[0] == '-' ? new(index, season, null) : null;
    }

    private static string? EpisodeAfter(NameWords words, int index)
    {
        // Skip a second season, because some names repeat the season: first in words, then with the episode.
        var text = words.Text(index);
        return TakeNumber(ref text, 's', 1, out _) && TakeRange(ref text, out var episodes) ? episodes : EpisodeAt(words, index, isAfterSeason: true);
    }

    private static string? EpisodeAt(NameWords words, int index, bool isAfterSeason)
    {
        var text = words.Text(index);
        if (text.IsEmpty)
            return null;
        if (TakeRange(ref text, out var episodes))
            return episodes;
        if ((words.Is(index, "episode") || words.Is(index, "ep")) && IsNumber(words.Text(index + 1), MaxDigits))
            return Number(words.Text(index + 1));
        if (words.Is(index, "part") && words.Is(index + 2, "of") && IsNumber(words.Text(index + 1), 2) && IsNumber(words.Text(index + 3), 2))
            return Number(words.Text(index + 1));
        if (text.IndexOf("of", StringComparison.OrdinalIgnoreCase) is > 0 and var of && IsNumber(text[..of], 2) && IsNumber(text[(of + 2)..], 2))
            return Number(text[..of]);

        // Anime names number episodes without a season: " - 05", "[05]", "(01-12)".
        var word = words[index];
        var isAlone = words.HasTeam && word.Bracket != '\0';
        return word.IsAfterDash || isAlone ? Counted(text, words.HasTeam || isAfterSeason) : null;
    }

    private static string? Counted(ReadOnlySpan<char> text, bool isSure)
    {
        var version = text.IndexOf("v", StringComparison.OrdinalIgnoreCase);
        if (version > 0 && IsNumber(text[(version + 1)..], 1))
            text = text[..version];
        if (IsNumber(text, isSure ? MaxDigits : 3) && text is not (['1', '9', _, _] or ['2', '0', _, _]))
            return Number(text);
        var dash = text.IndexOf('-');
        return dash > 0 && IsNumber(text[..dash], MaxDigits) && IsNumber(text[(dash + 1)..], MaxDigits)
            ? $"{Number(text[..dash])}-{Number(text[(dash + 1)..])}"
            : null;
    }

    /// <summary>Parses 1x05 and 1x05-06.</summary>
    private static (string Season, string Episodes)? Crossed(ReadOnlySpan<char> text)
    {
        var cross = text.IndexOfAny('x', 'X');
        if (cross is not (1 or 2) || !IsNumber(text[..cross], 2))
            return null;
        var rest = text[(cross + 1)..];
        var dash = rest.IndexOf('-');
        var first = dash < 0 ? rest : rest[..dash];
        if (first.Length < 2 || !IsNumber(first, 3))
            return null;
        return (Number(text[..cross]), dash > 0 && IsNumber(rest[(dash + 1)..], 3) ? $"{Number(first)}-{Number(rest[(dash + 1)..])}" : Number(first));
    }

    /// <summary>Parses 2024.02.29 and 2024-02-29.</summary>
    private static EpisodeNumbers? OfDate(NameWords words, int index)
    {
        var text = words.Text(index);
        if (text.Length == 10 && DateOnly.TryParseExact(text, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out _))
            return new(index, null, text.ToString());
        if (text.Length != 4 || !IsNumber(text, 4) || words.Text(index + 1) is not { Length: 2 } month || words.Text(index + 2) is not { Length: 2 } day)
            return null;
        var date = $"{text}-{month}-{day}";
        return DateOnly.TryParseExact(date, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out var aired) && aired.Year is >= 1930 and < 2040
            ? new(index, null, date)
            : null;
    }

    /// <summary>Takes E02, EP02, E02E03, E02-E04 or E02-04 from the start of a string. The rest may be a release group.</summary>
    private static bool TakeRange(ref ReadOnlySpan<char> text, out string episodes)
    {
        if (!TakeNumber(ref text, 'e', 2, out episodes))
            return false;
        var last = episodes;
        while (true)
        {
            var next = text.TrimStart('-');
            if (TakeNumber(ref next, 'e', 1, out var later))
            {
                text = next;
                last = later;
            }
            else if (next.Length < text.Length && IsNumber(next, 3))
            {
                last = Number(next);
                text = default;
                break;
            }
            else
            {
                break;
            }
        }

        if (last != episodes)
            episodes = $"{episodes}-{last}";
        return text.IsEmpty || text[0] is '-' or 'v' or 'V';
    }

    private static bool TakeNumber(ref ReadOnlySpan<char> text, char letter, int fewest, out string number)
    {
        number = "";
        if (text.Length < 2 || (text[0] | 0x20) != letter)
            return false;
        var start = letter == 'e' && (text[1] | 0x20) == 'p' ? 2 : 1;
        var end = start;
        while (end < text.Length && char.IsAsciiDigit(text[end]))
            end++;
        if (end - start < fewest || end - start > MaxDigits)
            return false;
        number = Number(text[start..end]);
        text = text[end..];
        return true;
    }

    private static string? Ordinal(ReadOnlySpan<char> text) =>
        text.Length is 3 or 4 && IsNumber(text[..^2], 2) && (text.EndsWith("st") || text.EndsWith("nd") || text.EndsWith("rd") || text.EndsWith("th"))
            ? Number(text[..^2])
            : null;

    private static bool IsSeasonWord(ReadOnlySpan<char> text) =>
        text.Equals("season", StringComparison.OrdinalIgnoreCase)
        || text.Equals("saison", StringComparison.OrdinalIgnoreCase)
        || text.Equals("staffel", StringComparison.OrdinalIgnoreCase);

    private static bool IsNumber(ReadOnlySpan<char> text, int longest) =>
        !text.IsEmpty && text.Length <= longest && text.IndexOfAnyExceptInRange('0', '9') < 0;

    /// <summary>Returns digits without leading zeros.</summary>
    private static string Number(ReadOnlySpan<char> digits) => digits.TrimStart('0') is { Length: > 0 } number ? number.ToString() : "0";
}
