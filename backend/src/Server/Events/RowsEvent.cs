using System.Text.Json;

namespace Sluice.Server.Events;

/// <summary>Rows of a list have changed. Contains only keys, because rows may change again before they are shown. Null keys mean too many to list.</summary>
internal abstract record RowsEvent(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : LiveEvent
{
    /// <summary>Maximum keys in an event.</summary>
    public const int MostNamed = 500;

    /// <summary>Returns the keys, or null if there are too many.</summary>
    protected static IReadOnlyList<string>? Limit(IReadOnlyList<string> keys) => keys.Count <= MostNamed ? keys : null;

    protected override void WriteFields(Utf8JsonWriter json)
    {
        Write(json, "changed", Changed);
        Write(json, "removed", Removed);
    }

    private static void Write(Utf8JsonWriter json, string name, IReadOnlyList<string>? keys)
    {
        if (keys is null)
        {
            json.WriteNull(name);
            return;
        }

        json.WriteStartArray(name);
        foreach (var key in keys)
            json.WriteStringValue(key);
        json.WriteEndArray();
    }
}
