using System.Text.Json;

namespace Sluice.Server.Settings;

/// <summary>Reads JSON strings, which may contain an escaped lone surrogate that .NET cannot decode.</summary>
internal static class JsonText
{
    /// <summary>Returns the string; null if it contains a lone surrogate.</summary>
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
            // Catch the exception, because the reader offers no test for lone surrogates.
            return null;
        }
    }
}
