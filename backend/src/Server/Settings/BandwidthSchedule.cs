using System.Globalization;
using System.Text.Json;

namespace Sluice.Server.Settings;

/// <summary>Bandwidth limits by day and time (<c>usenet.bandwidth-schedule</c>). Has no clock of its own.</summary>
/// <remarks>Immutable. The first row that covers a minute applies.</remarks>
internal sealed class BandwidthSchedule
{
    /// <summary>Bytes per second in one Mbit/s.</summary>
    public const long BytesOfMegabit = 125_000;

    /// <summary>Maximum limit in Mbit/s.</summary>
    public const int MostMegabits = 100_000;

    private const int MostRows = 100;
    private const string LastMidnight = "24:00";

    private static readonly string[] DayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

    private readonly IReadOnlyList<Row> _rows;

    private BandwidthSchedule(IReadOnlyList<Row> rows) => _rows = rows;

    public static BandwidthSchedule Empty { get; } = new([]);

    public bool IsEmpty => _rows.Count == 0;

    /// <summary>
    /// Parses <c>[{"days":"mon-fri","from":"08:00","to":"23:00","mbps":200}]</c>. Days are names, ranges and lists; if absent, every day. An end at or before
    /// the start is on the next day. Null if invalid.
    /// </summary>
    public static BandwidthSchedule? Read(string text)
    {
        if (string.IsNullOrWhiteSpace(text))
            return Empty;
        try
        {
            using var json = JsonDocument.Parse(text);
            if (json.RootElement.ValueKind != JsonValueKind.Array || json.RootElement.GetArrayLength() > MostRows)
                return null;
            var rows = json.RootElement.EnumerateArray().Select(ReadRow).ToList();
            return rows.Contains(null) ? null : new BandwidthSchedule([.. rows.OfType<Row>()]);
        }
        catch (JsonException)
        {
            return null;
        }
    }

    /// <summary>Returns the limit at a local time in bytes per second, or 0 for unlimited; null if no row covers that time.</summary>
    public long? At(DateTime local)
    {
        var day = (int)local.DayOfWeek;
        var minute = (local.Hour * 60) + local.Minute;
        return _rows.FirstOrDefault(row => row.Covers(day, minute))?.BytesPerSecond;
    }

    private static Row? ReadRow(JsonElement element)
    {
        if (element.ValueKind != JsonValueKind.Object)
            return null;
        var (days, from, to, limit) = ((int?)0b111_1111, (int?)null, (int?)null, (long?)null);
        foreach (var property in element.EnumerateObject())
        {
            switch (property.Name.ToLowerInvariant())
            {
                case "days":
                    days = ReadDays(TextOf(property.Value));
                    break;
                case "from":
                    from = ReadMinute(TextOf(property.Value));
                    break;
                case "to":
                    to = TextOf(property.Value) == LastMidnight ? 0 : ReadMinute(TextOf(property.Value));
                    break;
                case "mbps":
                    limit = ReadLimit(property.Value);
                    break;
            }
        }

        return days is { } which && from is { } begin && to is { } end && limit is { } most ? new Row(which, begin, end, most) : null;
    }

    private static string TextOf(JsonElement value) => value.ValueKind == JsonValueKind.String ? value.GetString()!.Trim() : "";

    private static int? ReadMinute(string text) =>
        TimeOnly.TryParseExact(text, ["H:mm", "HH:mm"], CultureInfo.InvariantCulture, DateTimeStyles.None, out var time) ? (time.Hour * 60) + time.Minute : null;

    private static long? ReadLimit(JsonElement value) =>
        value.ValueKind == JsonValueKind.Number && value.TryGetDouble(out var megabits) && megabits is >= 0 and <= MostMegabits
            ? (long)Math.Ceiling(megabits * BytesOfMegabit)
            : null;

    /// <summary>Returns one bit per day; the lowest is Sunday.</summary>
    private static int? ReadDays(string text)
    {
        var days = 0;
        foreach (var part in text.ToLowerInvariant().Split(',', StringSplitOptions.TrimEntries))
        {
            var ends = part.Split('-', 2, StringSplitOptions.TrimEntries);
            var (first, last) = (Array.IndexOf(DayNames, ends[0]), Array.IndexOf(DayNames, ends[^1]));
            if (first < 0 || last < 0)
                return null;
            for (var day = first; ; day = (day + 1) % DayNames.Length)
            {
                days |= 1 << day;
                if (day == last)
                    break;
            }
        }

        return days;
    }

    /// <param name="Days">Days on which the limit starts, one bit each.</param>
    /// <param name="From">First minute, counted from midnight.</param>
    /// <param name="To">Minute at which the limit ends; on the next day unless later than <paramref name="From"/>.</param>
    /// <param name="BytesPerSecond">Limit in bytes per second; 0 for unlimited.</param>
    private sealed record Row(int Days, int From, int To, long BytesPerSecond)
    {
        public bool Covers(int day, int minute)
        {
            var before = (day + DayNames.Length - 1) % DayNames.Length;
            return From < To
                ? IsOn(day) && minute >= From && minute < To
                : (IsOn(day) && minute >= From) || (IsOn(before) && minute < To);
        }

        private bool IsOn(int day) => (Days & (1 << day)) != 0;
    }
}
