using System.Data.Common;

namespace Sluice.Server.Database;

/// <summary>By what a list is sorted, as SQL. The parameters <c>@rank</c>, <c>@text</c> and <c>@row</c> are a place in it.</summary>
/// <param name="Rank">The number; 0 where it is sorted by something else.</param>
/// <param name="Text">The text; empty likewise.</param>
/// <param name="Row">What tells rows apart that are equal otherwise.</param>
/// <param name="By">The order.</param>
/// <param name="Behind">What is true of the rows behind a place.</param>
internal sealed record RowOrder(string Rank, string Text, string Row, string By, string Behind)
{
    private const string NoRank = "0";
    private const string NoText = "''";

    /// <summary>By a column that is different in each row.</summary>
    public static RowOrder ByRow(string row, bool descends = false) =>
        descends ? new(NoRank, NoText, row, $"{row} DESC", $"{row} < @row") : new(NoRank, NoText, row, row, $"{row} > @row");

    /// <summary>By a number.</summary>
    public static RowOrder ByRank(string rank, string row, bool descends = false) => descends
        ? new(rank, NoText, row, $"{rank} DESC, {row} DESC", $"({rank}, {row}) < (@rank, @row)")
        : new(rank, NoText, row, $"{rank}, {row}", $"({rank}, {row}) > (@rank, @row)");

    /// <summary>By a text.</summary>
    public static RowOrder ByText(string text, string row) => new(NoRank, text, row, $"{text}, {row}", $"({text}, {row}) > (@text, @row)");
}

/// <summary>
/// A list for people: searched, filtered, sorted, and read in pages that stay where they are while rows come and go (ADM-4). It finds the
/// numbers of the rows by an index, so that a store reads only the rows of the page whole.
/// </summary>
/// <remarks>Not thread-safe: of one call.</remarks>
internal sealed class ListQuery
{
    private readonly SqlFilter _filter = new();
    private readonly Dictionary<string, object> _values = [];

    /// <summary>All rows whose text has some words.</summary>
    /// <param name="column">A column of folded text.</param>
    /// <param name="words">Folded words (<see cref="SearchText"/>); none for all rows.</param>
    public ListQuery(string column, IReadOnlyList<string> words)
    {
        if (words.Count > 0)
            Add(SqlDialect.ContainsWords(column, "@words"), ("@words", string.Join(' ', words)));
    }

    /// <summary>Whether every row belongs to the list.</summary>
    public bool IsWhole => _filter.Where.Length == 0;

    /// <summary>Adds a condition with the values of its parameters.</summary>
    public void Add(string term, params ReadOnlySpan<(string Name, object Value)> values)
    {
        _filter.Add(term);
        foreach (var (name, value) in values)
            _values[name] = value;
    }

    /// <summary>A page of row numbers.</summary>
    /// <param name="connection">Reads.</param>
    /// <param name="table">The table, with the index that it is to be read by where the engine would not choose it.</param>
    /// <param name="order">The order.</param>
    /// <param name="after">Rows behind this place; null from the first on.</param>
    /// <param name="limit">How many at most.</param>
    public RowPage<PlacedRow> Read(DbConnection connection, string table, RowOrder order, RowPlace? after, int limit)
    {
        using var command = Command(connection, Sql(table, order, isFirst: after is null));
        Set(command, "@rank", after?.Rank ?? 0);
        Set(command, "@text", after?.Text ?? "");
        Set(command, "@row", after?.Row ?? 0);
        Set(command, "@most", limit + 1L);
        var rows = new List<PlacedRow>();
        using (var reader = command.ExecuteReader())
        {
            while (reader.Read())
                rows.Add(new PlacedRow(reader.GetInt64(0), new RowPlace(reader.GetInt64(1), reader.GetString(2), reader.GetInt64(3))));
        }

        // Where the first page is the whole list it is counted by now, and a search for what is rare reads the index once.
        var total = after is null && rows.Count <= limit ? rows.Count : Count(connection, table);
        return rows.Count > limit ? new(rows[..limit], rows[limit - 1].Place, total) : new(rows, null, total);
    }

    /// <summary>The statement that reads a page.</summary>
    internal string Sql(string table, RowOrder order, bool isFirst)
    {
        var where = isFirst ? _filter.Where : IsWhole ? $"WHERE {order.Behind}" : $"{_filter.Where} AND {order.Behind}";
        return $"SELECT {SqlDialect.RowNumber}, {order.Rank}, {order.Text}, {order.Row} FROM {table} {where} ORDER BY {order.By} LIMIT @most";
    }

    private long Count(DbConnection connection, string table)
    {
        using var command = Command(connection, $"SELECT count(*) FROM {table} {_filter.Where}");
        return (long)command.ExecuteScalar()!;
    }

    private DbCommand Command(DbConnection connection, string sql)
    {
        var command = connection.CreateCommand();
        command.CommandText = sql;
        foreach (var (name, value) in _values)
            Set(command, name, value);
        return command;
    }

    private static void Set(DbCommand command, string name, object value)
    {
        var parameter = command.CreateParameter();
        (parameter.ParameterName, parameter.Value) = (name, value);
        command.Parameters.Add(parameter);
    }
}
