using System.Globalization;
using System.Text;
using System.Text.Json;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>SQL that is particular to SQLite. Stores take it from here; the rest of their SQL is understood by other engines too.</summary>
internal static class SqlDialect
{
    /// <summary>The column that numbers the rows of a table in the order of their arrival.</summary>
    public const string RowNumber = "rowid";

    /// <summary>A condition that no row meets.</summary>
    public const string Never = "1 = 0";

    /// <summary>The function by which triggers tell of the row that they run for.</summary>
    public const string NoteRow = "note_row";

    // Far below the length at which SQLite refuses a pattern.
    private const int MaxPattern = 1000;

    /// <summary>That a column has one of the values of a list.</summary>
    /// <param name="column">The column.</param>
    /// <param name="list">A parameter whose value is a <see cref="List(IReadOnlyCollection{string})"/> or was gathered by <see cref="Gather"/>.</param>
    public static string In(string column, string list) => $"{column} IN (SELECT value FROM json_each({list}))";

    /// <summary>That a column has one of the values of a list, whatever the case.</summary>
    /// <param name="column">The column.</param>
    /// <param name="list">A parameter whose value is the list.</param>
    /// <param name="values">The same values.</param>
    // SQLite knows the case of ASCII letters only.
    public static string InAnyCase(string column, string list, IReadOnlyCollection<string> values) =>
        values.All(value => Ascii.IsValid(value))
            ? In($"{column} COLLATE NOCASE", list)
            : $"EXISTS (SELECT 1 FROM json_each({list}) WHERE equal_text({column}, value))";

    /// <summary>That a column has a value, whatever the case.</summary>
    /// <param name="column">The column.</param>
    /// <param name="parameter">A parameter whose value it is.</param>
    /// <param name="value">The same value.</param>
    public static string IsInAnyCase(string column, string parameter, string value) =>
        Ascii.IsValid(value) ? $"{column} = {parameter} COLLATE NOCASE" : $"equal_text({column}, {parameter})";

    /// <summary>That a table is read by one of its indices, and by no other and not by itself.</summary>
    public static string By(string index) => $"INDEXED BY {index}";

    /// <summary>The place of a column's value in a list, 0-based; null where it is not in it.</summary>
    /// <param name="column">The column, with its table: a list has columns of its own.</param>
    /// <param name="list">A parameter whose value is the list.</param>
    public static string PlaceIn(string column, string list) => $"(SELECT key FROM json_each({list}) WHERE value = {column})";

    /// <summary>A list as one value.</summary>
    public static string List(IReadOnlyCollection<string> values) => JsonSerializer.Serialize(values, DatabaseJson.Default.IReadOnlyCollectionString);

    /// <inheritdoc cref="List(IReadOnlyCollection{string})"/>
    public static string List(IReadOnlyCollection<long> values) => JsonSerializer.Serialize(values, DatabaseJson.Default.IReadOnlyCollectionInt64);

    /// <inheritdoc cref="List(IReadOnlyCollection{string})"/>
    public static string List(IReadOnlyCollection<int> values) => JsonSerializer.Serialize(values, DatabaseJson.Default.IReadOnlyCollectionInt32);

    /// <summary>The numbers of all rows of a query as one list, in its order.</summary>
    public static string Gather(string column) => $"json_group_array({column})";

    /// <summary>The highest number that a row of a table has ever had; nothing where none was inserted.</summary>
    public static string LastNumber(string table) => $"SELECT seq FROM sqlite_sequence WHERE name = '{table}'";

    /// <summary>Leaves a number of a table out.</summary>
    public static string SkipNumber(string table) => $"UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = '{table}'";

    /// <summary>Triggers of a connection that call <see cref="NoteRow"/> with number, key and end of each row of a table that it changes.</summary>
    /// <param name="table">The table.</param>
    /// <param name="key">Columns of text that name a row.</param>
    /// <param name="number">The number by which the function knows the table.</param>
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

    /// <summary>That the text of a column holds a part, whatever the case.</summary>
    /// <param name="column">The column.</param>
    /// <param name="parameter">A parameter.</param>
    /// <param name="part">The text to look for.</param>
    /// <returns>The condition, and the value of the parameter.</returns>
    public static (string Term, string Value) Contains(string column, string parameter, string part)
    {
        // NUL ends a text for SQLite, so no stored text contains one.
        if (part.Contains('\0', StringComparison.Ordinal))
            return (Never, "");
        // SQLite knows the case of ASCII letters only, and compares in a third of the time that a call out of it takes.
        return part.Length <= MaxPattern && Ascii.IsValid(part)
            ? ($@"{column} LIKE {parameter} ESCAPE '\'", $"%{Escape(part)}%")
            : ($"contains_text({column}, {parameter})", part);
    }

    /// <summary>That a column of folded text (<see cref="SearchText"/>) holds every word: one call a row, however many words there are.</summary>
    /// <param name="column">The column.</param>
    /// <param name="parameter">A parameter whose value is the words, with a space between them.</param>
    public static string ContainsWords(string column, string parameter) => $"contains_words({column}, {parameter})";

    /// <summary>Makes the functions that conditions call known to a connection.</summary>
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
        // Reads the bytes where SQLite has them: a row costs no string.
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
