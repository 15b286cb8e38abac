using System.Data.Common;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Dapper;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>All SQL that is specific to SQLite, so that the SQL in the stores stays portable.</summary>
internal static class SqlDialect
{
    public const string RowNumber = "rowid";

    public const string Never = "1 = 0";

    /// <summary>The function that triggers call to report a row.</summary>
    public const string NoteRow = "note_row";

    // Far below the length at which SQLite rejects a LIKE pattern.
    private const int MaxPattern = 1000;

    /// <summary>Condition: the column's value is in a list.</summary>
    /// <remarks>The list parameter holds a <see cref="List(IReadOnlyCollection{string})"/> or the result of <see cref="Gather"/>.</remarks>
    public static string In(string column, string list) => $"{column} IN (SELECT value FROM json_each({list}))";

    /// <summary>Condition: the column's value is in a list, ignoring case.</summary>
    // NOCASE covers only ASCII, so other text needs a function.
    public static string InAnyCase(string column, string list, IReadOnlyCollection<string> values) =>
        values.All(value => Ascii.IsValid(value))
            ? In($"{column} COLLATE NOCASE", list)
            : $"EXISTS (SELECT 1 FROM json_each({list}) WHERE equal_text({column}, value))";

    /// <summary>Condition: the column equals a value, ignoring case.</summary>
    public static string IsInAnyCase(string column, string parameter, string value) =>
        Ascii.IsValid(value) ? $"{column} = {parameter} COLLATE NOCASE" : $"equal_text({column}, {parameter})";

    /// <summary>Forces SQLite to read a table through this index.</summary>
    public static string IndexedBy(string index) => $"INDEXED BY {index}";

    /// <summary>0-based position of the column's value in a list; null if absent. Qualify the column name, because the list also has columns.</summary>
    public static string PlaceIn(string column, string list) => $"(SELECT key FROM json_each({list}) WHERE value = {column})";

    /// <summary>Packs a list into one parameter value, as JSON.</summary>
    public static string List(IReadOnlyCollection<string> values) => JsonSerializer.Serialize(values, DatabaseJson.Default.IReadOnlyCollectionString);

    /// <inheritdoc cref="List(IReadOnlyCollection{string})"/>
    public static string List(IReadOnlyCollection<long> values) => JsonSerializer.Serialize(values, DatabaseJson.Default.IReadOnlyCollectionInt64);

    /// <inheritdoc cref="List(IReadOnlyCollection{string})"/>
    public static string List(IReadOnlyCollection<int> values) => JsonSerializer.Serialize(values, DatabaseJson.Default.IReadOnlyCollectionInt32);

    /// <summary>Packs a numeric column into a list value, in query order.</summary>
    public static string Gather(string column) => $"json_group_array({column})";

    /// <summary>Query for the highest row number that a table ever assigned. It yields no row if nothing was ever inserted.</summary>
    public static string LastNumber(string table) => $"SELECT seq FROM sqlite_sequence WHERE name = '{table}'";

    /// <summary>Skips one row number of a table.</summary>
    public static string SkipNumber(string table) => $"UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = '{table}'";

    /// <summary>Whether a table exists and has a column.</summary>
    public static bool HasColumn(DbConnection connection, string table, string column) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM pragma_table_info(@table) WHERE name = @column)", new { table, column });

    /// <summary>Temporary triggers that call <see cref="NoteRow"/> for each changed row with table number, key, and 1 if deleted.</summary>
    public static string WatchRows(string table, IReadOnlyList<string> key, int number)
    {
        var (before, after) = (Of("OLD"), Of("NEW"));
        return string.Create(CultureInfo.InvariantCulture, $"""
            CREATE TEMP TRIGGER {table}_comes AFTER INSERT ON main.{table} BEGIN SELECT {NoteRow}({number}, {after}, 0); END;
            CREATE TEMP TRIGGER {table}_goes AFTER DELETE ON main.{table} BEGIN SELECT {NoteRow}({number}, {before}, 1); END;
            CREATE TEMP TRIGGER {table}_changes AFTER UPDATE ON main.{table}
            BEGIN
              SELECT {NoteRow}({number}, {before}, 1) WHERE {before} <> {after};
              SELECT {NoteRow}({number}, {after}, 0);
            END;

            """);

        string Of(string row) => string.Join(" || '/' || ", key.Select(column => $"{row}.{column}"));
    }

    /// <summary>Condition and parameter value: the column contains a string, ignoring case.</summary>
    public static (string Term, string Value) Contains(string column, string parameter, string part)
    {
        // SQLite text ends at NUL, so no stored text can contain one.
        if (part.Contains('\0', StringComparison.Ordinal))
            return (Never, "");
        // LIKE ignores case only in ASCII, but takes a third of the time that a custom function takes.
        return part.Length <= MaxPattern && Ascii.IsValid(part)
            ? ($@"{column} LIKE {parameter} ESCAPE '\'", $"%{Escape(part)}%")
            : ($"contains_text({column}, {parameter})", part);
    }

    /// <summary>Condition: a folded column (<see cref="SearchText"/>) contains all words of a parameter. Costs one function call per row.</summary>
    public static string ContainsWords(string column, string parameter) => $"contains_words({column}, {parameter})";

    public static void AddFunctions(SqliteConnection connection)
    {
        connection.CreateFunction(
            "contains_text",
            (string? text, string? part) => text is not null && part is not null && text.Contains(part, StringComparison.OrdinalIgnoreCase),
            isDeterministic: true);
        connection.CreateFunction(
            "equal_text",
            (string? text, string? other) => text is not null && text.Equals(other, StringComparison.OrdinalIgnoreCase),
            isDeterministic: true);
        // Read the bytes in SQLite's memory, because allocating a string per row is slow.
        var made = raw.sqlite3_create_function(connection.Handle, "contains_words", 2, raw.SQLITE_UTF8 | raw.SQLITE_DETERMINISTIC, null, static (context, _, values) =>
            raw.sqlite3_result_int(context, SearchText.ContainsWords(raw.sqlite3_value_blob(values[0]), raw.sqlite3_value_blob(values[1])) ? 1 : 0));
        SqliteException.ThrowExceptionForRC(made, connection.Handle);
        connection.CreateFunction("fold_text", (string? text) => text is null ? null : SearchText.Fold(text), isDeterministic: true);
    }

    private static string Escape(string part)
    {
        var pattern = new StringBuilder(part.Length);
        foreach (var c in part)
            pattern.Append(c is '%' or '_' or '\\' ? @"\" : "").Append(c);
        return pattern.ToString();
    }
}
