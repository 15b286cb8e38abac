using System.Text.Json;

namespace Sluice.Server.Settings;

/// <summary>Reads JSON strings that may contain a lone surrogate, because JSON permits an escape without a text form.</summary>
internal static class JsonText
{
    /// <summary>Returns null for a lone surrogate.</summary>
    public static string? Of(JsonElement value) => Decoded(value, static value => value.GetString());

    public static string? NameOf(JsonProperty property) => Decoded(property, static property => property.Name);

    private static string? Decoded<T>(T source, Func<T, string?> decode)
    {
        try
        {
            return decode(source);
        }
        catch (InvalidOperationException)
        {
            // The reader throws for lone surrogates, and has no method to test for them.
            return null;
        }
    }
}
