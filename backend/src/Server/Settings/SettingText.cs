using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Sluice.Server.Settings;

/// <summary>How values are written as text (CFG-4). Pure.</summary>
internal static class SettingText
{
    /// <summary><c>true/false/1/0/yes/no/on/off</c> in any case, or null.</summary>
    public static bool? ReadBoolean(string text) => text.Trim().ToLowerInvariant() switch
    {
        "true" or "1" or "yes" or "on" => true,
        "false" or "0" or "no" or "off" => false,
        _ => null,
    };

    /// <summary>A whole number in invariant culture, or null. Numbers beyond 64 bit are held at their end.</summary>
    public static long? ReadNumber(string text)
    {
        text = text.Trim();
        if (long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number))
            return number;

        var digits = text.StartsWith('-') ? text[1..] : text;
        if (digits.Length is 0 or > 64 || !digits.All(char.IsAsciiDigit))
            return null;

        return text.StartsWith('-') ? long.MinValue : long.MaxValue;
    }

    /// <summary>A list: comma-separated, or a JSON array of texts. Entries are trimmed, empty ones fall out. Null: neither.</summary>
    public static IReadOnlyList<string>? ReadList(string text)
    {
        if (!text.AsSpan().TrimStart().StartsWith("["))
            return text.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);

        try
        {
            var entries = JsonSerializer.Deserialize(text, SettingJson.Default.StringArray);
            return entries?.Select(entry => entry?.Trim() ?? "").Where(entry => entry.Length > 0).ToArray();
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            return null;
        }
    }

    /// <summary>The one form in which a list is kept, whatever its entries hold.</summary>
    public static string WriteList(IEnumerable<string> entries) => JsonSerializer.Serialize(entries, SettingJson.Default.IEnumerableString);

    /// <summary>Whether a text is one line without control characters.</summary>
    public static bool IsPlain(string text) => !text.Any(char.IsControl);

    /// <summary>Whether a text has no lone surrogate: values end up in JSON, paths and the database, where one has no place.</summary>
    public static bool IsWellFormed(string text)
    {
        for (var i = 0; i < text.Length; i++)
        {
            if (!char.IsSurrogate(text[i]))
                continue;

            if (!char.IsHighSurrogate(text[i]) || i + 1 == text.Length || !char.IsLowSurrogate(text[++i]))
                return false;
        }

        return true;
    }
}

/// <summary>How lists stand in JSON, generated at build.</summary>
[JsonSerializable(typeof(IEnumerable<string>))]
[JsonSerializable(typeof(string[]))]
[JsonSerializable(typeof(Dictionary<string, string>))]
internal sealed partial class SettingJson : JsonSerializerContext;
