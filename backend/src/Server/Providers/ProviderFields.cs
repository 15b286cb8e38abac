using System.Globalization;
using System.Text.Json;
using Sluice.Server.Settings;

namespace Sluice.Server.Providers;

/// <summary>Takes typed values out of one element of the JSON, and remembers the first field that is wrong.</summary>
internal sealed class ProviderFields
{
    private readonly JsonElement _element;

    /// <summary>Wraps an element, which may be anything.</summary>
    public ProviderFields(JsonElement element)
    {
        _element = element;
        if (element.ValueKind != JsonValueKind.Object)
            Fault = "it is no object";
    }

    /// <summary>The first field that is wrong and why, without its value; null when all were right.</summary>
    public string? Fault { get; private set; }

    /// <summary>Whether a field is there and not null.</summary>
    public bool Has(string name) => ProviderJson.Property(_element, name) is not null;

    /// <summary>Marks a field as wrong.</summary>
    public void Refuse(string name, string sentence) => Fault ??= $"{name} {sentence}";

    /// <summary>Text without control characters, which would end a command on the wire (S16).</summary>
    public string Text(string name, int maxLength)
    {
        if (ProviderJson.Property(_element, name) is not { } value)
            return "";

        if (value.ValueKind != JsonValueKind.String)
        {
            Refuse(name, "must be text");
            return "";
        }

        if (JsonText.Of(value) is { } text && text.Length <= maxLength && SettingText.IsPlain(text))
            return text;

        Refuse(name, string.Create(CultureInfo.InvariantCulture, $"must be at most {maxLength} characters without line breaks, other control characters and halves of characters"));
        return "";
    }

    /// <summary>true or false, also in the words of CFG-4.</summary>
    public bool Boolean(string name, bool fallback)
    {
        if (ProviderJson.Property(_element, name) is not { } value)
            return fallback;

        if (Written(value) is { } text && SettingText.ReadBoolean(text) is { } read)
            return read;

        Refuse(name, "must be true or false");
        return fallback;
    }

    /// <summary>A whole number in a range, as a number or as text.</summary>
    public int Number(string name, int min, int max, int fallback)
    {
        if (ProviderJson.Property(_element, name) is not { } value)
            return fallback;

        if (Written(value) is { } text && SettingText.ReadNumber(text) is { } number && number >= min && number <= max)
            return (int)number;

        Refuse(name, string.Create(CultureInfo.InvariantCulture, $"must be a whole number from {min} to {max}"));
        return fallback;
    }

    private static string? Written(JsonElement value) => value.ValueKind == JsonValueKind.String ? JsonText.Of(value) : value.GetRawText();
}
