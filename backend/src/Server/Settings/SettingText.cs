using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Sluice.Server.Settings;

/// <summary>Parses and writes setting values as text (CFG-4).</summary>
internal static class SettingText
{
    /// <summary>Parses <c>true/false/1/0/yes/no/on/off</c>, ignoring case; null for other text.</summary>
    public static bool? ReadBoolean(string text) => text.Trim().ToLowerInvariant() switch
    {
        "true" or "1" or "yes" or "on" => true,
        "false" or "0" or "no" or "off" => false,
        _ => null,
    };

    /// <summary>Parses an integer, clamped to 64 bits; null for other text.</summary>
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

    /// <summary>Parses a comma-separated list or a JSON array; null if malformed. Trims the entries and drops empty ones.</summary>
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

    /// <summary>Writes the canonical form of a list, whose entries may contain any text.</summary>
    public static string WriteList(IEnumerable<string> entries) => JsonSerializer.Serialize(entries, SettingJson.Default.IEnumerableString);

    public static bool IsPlain(string text) => !text.Any(char.IsControl);

    /// <summary>Whether a string has no lone surrogates, which JSON, paths and the database cannot store.</summary>
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

/// <summary>Build-time JSON serializers for lists.</summary>
[JsonSerializable(typeof(IEnumerable<string>))]
[JsonSerializable(typeof(string[]))]
[JsonSerializable(typeof(Dictionary<string, string>))]
internal sealed partial class SettingJson : JsonSerializerContext;
