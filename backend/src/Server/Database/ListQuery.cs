using System.Data.Common;

namespace Sluice.Server.Database;

/// <summary>The sort order of a list, in SQL. The parameters <c>@rank</c>, <c>@text</c> and <c>@row</c> hold a list position.</summary>
/// <param name="Rank">Numeric sort key; 0 if unused.</param>
/// <param name="Text">Text sort key; empty if unused.</param>
/// <param name="Row">Unique tie-breaker.</param>
/// <param name="By">The ORDER BY terms.</param>
/// <param name="Behind">Condition that selects the rows after the position.</param>
internal sealed record RowOrder(string Rank, string Text, string Row, string By, string Behind)
{
    private const string NoRank = "0";
    private const string NoText = "''";

    public static RowOrder ByRow(string row, bool descends = false) =>
        descends ? new(NoRank, NoText, row, $"{row} DESC", $"{row} < @row") : new(NoRank, NoText, row, row, $"{row} > @row");

    public static RowOrder ByRank(string rank, string row, bool descends = false) => descends
        ? new(rank, NoText, row, $"{rank} DESC, {row} DESC", $"({rank}, {row}) < (@rank, @row)")
        : new(rank, NoText, row, $"{rank}, {row}", $"({rank}, {row}) > (@rank, @row)");

    public static RowOrder ByText(string text, string row) => new(NoRank, text, row, $"{text}, {row}", $"({text}, {row}) > (@text, @row)");
}

/// <summary>
/// Searches, filters, sorts and pages a list. Pages stay stable while rows come and go (ADM-4). Returns row numbers from an index, so that stores load only one
/// page of rows. Not thread-safe.
/// </summary>
internal sealed class ListQuery
{
    private readonly SqlFilter _filter = new();
    private readonly Dictionary<string, object> _values = [];

    /// <summary>Lists the rows whose folded text contains all folded words (<see cref="SearchText"/>); all rows if there are no words.</summary>
    public ListQuery(string column, IReadOnlyList<string> words)
    {
        if (words.Count > 0)
            Add(SqlDialect.ContainsWords(column, "@words"), ("@words", string.Join(' ', words)));
    }

    /// <summary>Whether no filter is set.</summary>
    public bool IsWhole => _filter.Where.Length == 0;

    public void Add(string term, params ReadOnlySpan<(string Name, object Value)> values)
    {
        _filter.Add(term);
        foreach (var (name, value) in values)
            _values[name] = value;
    }

    /// <summary>Reads a page of row numbers, starting at the beginning if <paramref name="after"/> is null. The table may include an index hint.</summary>
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

        // If the first page is the whole list, its length is the total, so a second pass over the index is not needed.
        var total = after is null && rows.Count <= limit ? rows.Count : Count(connection, table);
        return rows.Count > limit ? new(rows[..limit], rows[limit - 1].Place, total) : new(rows, null, total);
    }

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
