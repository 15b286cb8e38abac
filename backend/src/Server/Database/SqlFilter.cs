using System.Text;
using System.Text.Json;
using Dapper;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>Collects the terms of a WHERE with their parameters. Has one user.</summary>
internal sealed class SqlFilter
{
    /// <summary>Far below the length at which SQLite refuses a pattern.</summary>
    private const int MaxPattern = 1000;

    private readonly List<string> _terms = [];

    /// <summary>Values of the terms, to which the query adds its own.</summary>
    public DynamicParameters Parameters { get; } = new();

    /// <summary>The clause, or nothing where there are no terms.</summary>
    public string Where => _terms.Count == 0 ? "" : "WHERE " + string.Join(" AND ", _terms);

    /// <summary>Adds a condition.</summary>
    public void Add(string term) => _terms.Add(term);

    /// <summary>Adds that a column has one of some values; null lets everything pass.</summary>
    public void AddList<T>(string column, IReadOnlyList<T>? values)
    {
        if (values is null)
            return;
        Add($"{column} IN (SELECT value FROM json_each(@{column}))");
        Parameters.Add(column, JsonSerializer.Serialize(values));
    }

    /// <summary>Adds that a text holds a part, whatever the case; null and empty let everything pass.</summary>
    /// <param name="connection">The connection that the query will run on.</param>
    /// <param name="column">Column of the text.</param>
    /// <param name="part">What is looked for.</param>
    public void AddSearch(SqliteConnection connection, string column, string? part)
    {
        if (string.IsNullOrEmpty(part))
            return;

        if (part.Contains('\0', StringComparison.Ordinal))
        {
            // Ends a text for SQLite, so no text holds it.
            Add("0");
        }
        else if (part.Length <= MaxPattern && Ascii.IsValid(part))
        {
            // SQLite knows the case of ASCII letters only, and compares in a third of the time that a call out of it takes.
            Add($@"{column} LIKE @search ESCAPE '\'");
            Parameters.Add("search", $"%{Escape(part)}%");
        }
        else
        {
            TextSearch.Enable(connection);
            Add($"contains_text({column}, @search)");
            Parameters.Add("search", part);
        }
    }

    private static string Escape(string part)
    {
        var pattern = new StringBuilder(part.Length);
        foreach (var c in part)
            pattern.Append(c is '%' or '_' or '\\' ? @"\" : "").Append(c);
        return pattern.ToString();
    }
}
