using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Sluice.Server.Settings;

/// <summary>Another name under which a value is read: a key of the family, or an environment variable.</summary>
/// <param name="Name">The key or variable.</param>
/// <param name="Numerator">Numbers are multiplied by this,</param>
/// <param name="Denominator">and divided by this, rounded to the nearest whole.</param>
internal sealed record SettingAlias(string Name, int Numerator = 1, int Denominator = 1)
{
    /// <summary>For a variable that is a switch: the values that it stands for.</summary>
    public (string On, string Off)? Switch { get; init; }

    /// <summary>For a JSON object that sets several settings: the member that counts, in any case (CFG-4).</summary>
    public string? Member { get; init; }

    /// <summary>Whether the entries of the list are extensions, which stand for all names that end with them.</summary>
    public bool HoldsExtensions { get; init; }

    /// <summary>
    /// The value in the unit of the setting; null when a JSON object has no such member. Text that is no number stays as it is and
    /// is refused later. Malformed JSON is never shown in a message, because it may hold a secret.
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
