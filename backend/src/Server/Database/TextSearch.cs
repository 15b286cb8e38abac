using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>Case-insensitive search in any script; SQLite's own knows the case of ASCII letters only.</summary>
internal static class TextSearch
{
    /// <summary>Makes <c>contains_text(text, part)</c> known to a connection. Doing it again changes nothing.</summary>
    public static void Enable(SqliteConnection connection) =>
        connection.CreateFunction(
            "contains_text",
            (string? text, string? part) => text is not null && part is not null && text.Contains(part, StringComparison.OrdinalIgnoreCase),
            isDeterministic: true);
}
