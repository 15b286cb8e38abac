using System.Globalization;

namespace Sluice.Server.SabApi;

/// <summary>Formats sizes, times and ages as SABnzbd does, independently of the culture (SAB-30, SAB-31).</summary>
internal static class SabUnits
{
    private const double KiB = 1024;
    private const double MiB = 1024 * KiB;
    private const double GiB = 1024 * MiB;

    private static readonly string[] Units = ["", "K", "M", "G", "T", "P"];

    public static string Mebibytes(double bytes) => Fixed(bytes / MiB);

    public static string Gibibytes(double bytes) => Fixed(bytes / GiB);

    public static string Kibibytes(double bytes) => Fixed(bytes / KiB);

    /// <summary>Formats a size with its unit, as in <c>7.9 GB</c>.</summary>
    public static string Size(double bytes) => Scaled(bytes) + "B";

    /// <summary>Formats a size with a one-letter unit, as in <c>1.2 T</c>. The smallest unit is K, because some clients know no smaller one.</summary>
    public static string Short(double bytes) => bytes <= 0 ? "0 B" : Scaled(Math.Max(bytes, KiB));

    /// <summary>Formats a time as <c>H:MM:SS</c>, or as <c>D:HH:MM:SS</c> if at least a day; null as <c>0:00:00</c>.</summary>
    public static string TimeLeft(TimeSpan? left)
    {
        var time = left is { } value && value > TimeSpan.Zero ? value : TimeSpan.Zero;
        return time.Days > 0
            ? string.Create(CultureInfo.InvariantCulture, $"{time.Days}:{time.Hours:00}:{time.Minutes:00}:{time.Seconds:00}")
            : string.Create(CultureInfo.InvariantCulture, $"{time.Hours}:{time.Minutes:00}:{time.Seconds:00}");
    }

    /// <summary>Formats the remaining time of a timed pause as <c>M:SS</c>; <c>0</c> if there is none.</summary>
    public static string PauseLeft(TimeSpan? left) =>
        left is { } time ? string.Create(CultureInfo.InvariantCulture, $"{(long)time.TotalMinutes}:{time.Seconds:00}") : "0";

    /// <summary>Formats an age in days, hours or minutes, as in <c>12d</c>; <c>-</c> if unknown.</summary>
    public static string Age(DateTimeOffset? since, DateTimeOffset now)
    {
        if (since is not { } time)
            return "-";

        var age = now - time;
        return age switch
        {
            _ when age < TimeSpan.Zero => "0m",
            { TotalDays: >= 1 } => string.Create(CultureInfo.InvariantCulture, $"{age.Days}d"),
            { TotalHours: >= 1 } => string.Create(CultureInfo.InvariantCulture, $"{age.Hours}h"),
            _ => string.Create(CultureInfo.InvariantCulture, $"{age.Minutes}m"),
        };
    }

    private static string Fixed(double value) => value.ToString("0.00", CultureInfo.InvariantCulture);

    private static string Scaled(double value)
    {
        var unit = 0;
        while (value >= 1024 && unit < Units.Length - 1)
        {
            value /= 1024;
            unit++;
        }

        return value.ToString(unit > 1 ? "0.0" : "0", CultureInfo.InvariantCulture) + " " + Units[unit];
    }
}
