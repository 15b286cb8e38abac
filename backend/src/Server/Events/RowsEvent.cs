using System.Text.Json;

namespace Sluice.Server.Events;

/// <summary>Rows of a list have changed. What a row is now is read when it is shown: it may have changed again since, or be gone.</summary>
/// <param name="Changed">Keys of rows that are new or other ones; null where there are too many to name.</param>
/// <param name="Removed">Keys of rows that are gone; null likewise.</param>
internal abstract record RowsEvent(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : LiveEvent
{
    /// <summary>Rows that an event names at most.</summary>
    public const int MostNamed = 500;

    /// <summary>The keys, or null where there are too many of them.</summary>
    protected static IReadOnlyList<string>? Limit(IReadOnlyList<string> keys) => keys.Count <= MostNamed ? keys : null;

    /// <inheritdoc/>
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
