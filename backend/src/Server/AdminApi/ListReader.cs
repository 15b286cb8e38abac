using System.Buffers.Text;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Database;

namespace Sluice.Server.AdminApi;

/// <summary>Reads the parameters that all lists share (ADM-4) and collects their errors.</summary>
/// <remarks>Not thread-safe; create one per call.</remarks>
internal sealed class ListReader
{
    private const int DefaultLimit = 100;
    private const int MaxLimit = 500;

    // Even the longest sort key is far shorter after folding and Base64 encoding.
    private const int MaxCursor = 4 << 10;

    private static readonly string[] TimeForms = ["yyyy-MM-ddTHH:mm:ssK", "yyyy-MM-ddTHH:mm:ss.FFFFFFFK"];

    private readonly Dictionary<string, string[]> _errors = [];

    /// <summary>All errors so far, or null.</summary>
    public JsonHttpResult<Problem>? Problem => _errors.Count == 0 ? null : AdminProblem.BadInput(_errors);

    public int Limit(int? limit)
    {
        if (limit is < 1 or > MaxLimit)
            _errors["limit"] = [$"A page has 1 to {MaxLimit} rows."];
        return limit ?? DefaultLimit;
    }

    /// <summary>Parses the enum value of a query field; null if the field is absent or invalid.</summary>
    public T? Word<T>(string field, string? text)
        where T : struct, Enum
    {
        if (string.IsNullOrEmpty(text))
            return null;
        var words = Enum.GetValues<T>().Order().ToList();
        if (words.FindIndex(value => WordOf(value) == text) is >= 0 and var known)
            return words[known];
        _errors[field] = [$"This is none of {string.Join(", ", words.Select(WordOf))}."];
        return null;
    }

    /// <summary>Parses a time in ISO 8601, or a day, which begins at midnight in the time zone; null if the field is absent or invalid.</summary>
    public DateTimeOffset? Time(string field, string? text, TimeZoneInfo zone)
    {
        if (string.IsNullOrEmpty(text))
            return null;
        if (DateTimeOffset.TryParseExact(text, TimeForms, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out var time))
            return time;
        // The offset could move the first and the last year out of the range of times.
        if (DateTime.TryParseExact(text, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out var day) && day.Year is > 1 and < 9999)
            return new DateTimeOffset(day, zone.GetUtcOffset(day));
        _errors[field] = ["Enter a day such as 2026-11-30, or a time such as 2026-11-30T18:00:00Z."];
        return null;
    }

    /// <summary>Parses an id; null if the field is absent or invalid.</summary>
    public Guid? Id(string field, string? text)
    {
        if (string.IsNullOrEmpty(text))
            return null;
        if (Guid.TryParse(text, out var id))
            return id;
        _errors[field] = ["This is no id of a file."];
        return null;
    }

    /// <summary>Parses the previous page's cursor; null for the first page. A cursor is valid only for the sort order for which it was created.</summary>
    public RowPlace? Place<T>(T order, string? cursor)
        where T : struct, Enum
    {
        if (string.IsNullOrEmpty(cursor))
            return null;
        if (cursor.Length <= MaxCursor && Base64Url.IsValid(cursor)
            && Encoding.UTF8.GetString(Base64Url.DecodeFromChars(cursor)).Split('\n', 4) is [var word, var rank, var row, var text]
            && word == WordOf(order)
            && long.TryParse(rank, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number)
            && long.TryParse(row, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var last))
            return new RowPlace(number, text, last);
        _errors["cursor"] = ["This is no cursor of this list."];
        return null;
    }

    /// <summary>Returns the cursor for the page after this row; null if there is no next page.</summary>
    public static string? CursorOf<T>(T order, RowPlace? place)
        where T : struct, Enum => place is null
        ? null
        : Base64Url.EncodeToString(Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{WordOf(order)}\n{place.Rank}\n{place.Row}\n{place.Text}")));

    private static string WordOf<T>(T value)
        where T : struct, Enum => JsonNamingPolicy.KebabCaseLower.ConvertName(value.ToString());
}
