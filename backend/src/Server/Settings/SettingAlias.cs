using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Sluice.Server.Settings;

/// <summary>Another name for a setting: a key of a related server, or an environment variable.</summary>
/// <param name="Numerator">Factor for numeric values.</param>
/// <param name="Denominator">Divisor for numeric values; the result is rounded.</param>
internal sealed record SettingAlias(string Name, int Numerator = 1, int Denominator = 1)
{
    /// <summary>For a switch, the values that mean on and off. Null for any other setting.</summary>
    public (string On, string Off)? Switch { get; init; }

    /// <summary>For a JSON object of several settings, the member to read, ignoring case (CFG-4).</summary>
    public string? Member { get; init; }

    /// <summary>Whether the list entries are file extensions, which are converted to name patterns.</summary>
    public bool HoldsExtensions { get; init; }

    /// <summary>
    /// Converts a value to the setting's unit. Null if a JSON object lacks the member. Other text is returned unchanged and rejected later. Messages never
    /// quote malformed JSON, because it may contain a secret.
    /// </summary>
    public string? Convert(string text)
    {
        if (Member is not null)
            return ReadMember(text, Member);
        if (HoldsExtensions)
            return SettingText.ReadList(text) is { } extensions ? SettingText.WriteList(extensions.Select(extension => "*." + extension.TrimStart('*').TrimStart('.'))) : text;
        if (Switch is { } meaning && SettingText.ReadBoolean(text) is { } isOn)
            return isOn ? meaning.On : meaning.Off;
        if ((Numerator == 1 && Denominator == 1) || SettingText.ReadNumber(text) is not { } number)
            return text;

        var converted = Math.Round((decimal)number * Numerator / Denominator);
        return Math.Clamp(converted, long.MinValue, long.MaxValue).ToString("0", CultureInfo.InvariantCulture);
    }

    private static string? ReadMember(string text, string member)
    {
        try
        {
            return JsonNode.Parse(text, new JsonNodeOptions { PropertyNameCaseInsensitive = true }) is JsonObject values
                ? values[member]?.ToString()
                : "";
        }
        catch (Exception e) when (e is JsonException or ArgumentException)
        {
            return "";
        }
    }
}
