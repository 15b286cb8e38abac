using System.Globalization;
using Sluice.Usenet.Media.Titles;

namespace Sluice.Server.Library;

/// <summary>The position of an episode in its series.</summary>
/// <param name="Season">Season number; null for series that number only their episodes or use only dates.</param>
/// <param name="First">First episode number, or the day number of a date.</param>
/// <param name="Last">Last episode number; equals the first for a single episode.</param>
/// <param name="IsDate">Whether the series is daily.</param>
internal readonly record struct EpisodePlace(int? Season, int First, int Last, bool IsDate)
{
    /// <summary>Reads the position from a title; null for films, whole seasons and ranges of seasons.</summary>
    public static EpisodePlace? Of(ReleaseTitle? title)
    {
        if (title?.Episodes is not { } episodes)
            return null;
        if (DateOnly.TryParseExact(episodes, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out var date))
            return new EpisodePlace(null, date.DayNumber, date.DayNumber, IsDate: true);
        int? season = null;
        if (title.Season is not null && (season = Number(title.Season)) is null)
            return null;
        var numbers = episodes.Split('-', 2);
        return Number(numbers[0]) is { } first && Number(numbers[^1]) is { } last && last >= first ? new EpisodePlace(season, first, last, IsDate: false) : null;
    }

    /// <summary>Whether this is a later episode of the same season, or of the same daily series.</summary>
    public bool IsLaterThan(EpisodePlace other) => IsDate == other.IsDate && Season == other.Season && First > other.Last;

    /// <summary>Whether this episode directly follows the other, or airs on a later day. A gap in the numbers is an episode that must not be skipped.</summary>
    public bool Continues(EpisodePlace other) => IsLaterThan(other) && (IsDate || First == other.Last + 1);

    /// <summary>Whether this is the first episode of the season after the other's.</summary>
    public bool BeginsSeasonAfter(EpisodePlace other) => Season is not null && Season == other.Season + 1 && First <= 1;

    private static int? Number(string text) => int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : null;
}
