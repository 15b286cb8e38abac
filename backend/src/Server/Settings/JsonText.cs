using System.Text.Json;

namespace Sluice.Server.Settings;

/// <summary>Text out of JSON that may hold half a character: such an escape is legal JSON and has no form as text. Pure.</summary>
internal static class JsonText
{
    /// <summary>The text of a string; null when it holds a lone surrogate.</summary>
    /// <param name="value">A JSON string.</param>
    public static string? Of(JsonElement value) => Decoded(value, static value => value.GetString());

    /// <summary>The name of a property; null when it holds a lone surrogate.</summary>
    public static string? NameOf(JsonProperty property) => Decoded(property, static property => property.Name);

    private static string? Decoded<T>(T source, Func<T, string?> decode)
    {
        try
        {
            return decode(source);
        }
        catch (InvalidOperationException)
        {
            // The reader throws for halves of surrogate pairs, and offers no call that tests for them.
            return null;
        }
    }
}
