namespace Sluice.Server.Database;

/// <summary>Collects the terms of a WHERE clause. Each method returns the value of its parameter. Not thread-safe.</summary>
internal sealed class SqlFilter
{
    private readonly List<string> _terms = [];

    /// <summary>The clause; empty if there are no terms.</summary>
    public string Where => _terms.Count == 0 ? "" : "WHERE " + string.Join(" AND ", _terms);

    public void Add(string term) => _terms.Add(term);

    /// <summary>Adds the condition that the column's value is in a list. Null adds nothing.</summary>
    public string? AddList(string column, string parameter, IReadOnlyCollection<string>? values) =>
        values is null ? null : AddList(column, parameter, SqlDialect.List(values));

    /// <inheritdoc cref="AddList(string, string, IReadOnlyCollection{string}?)"/>
    public string? AddList(string column, string parameter, IReadOnlyCollection<int>? values) =>
        values is null ? null : AddList(column, parameter, SqlDialect.List(values));

    /// <summary>Adds the condition that the column's value is in a list, ignoring case. Null adds nothing.</summary>
    public string? AddAnyCase(string column, string parameter, IReadOnlyCollection<string>? values)
    {
        if (values is null)
            return null;
        Add(SqlDialect.InAnyCase(column, parameter, values));
        return SqlDialect.List(values);
    }

    /// <summary>Adds the condition that the column contains a string, ignoring case. Null and the empty string add nothing.</summary>
    public string? AddSearch(string column, string parameter, string? part)
    {
        if (string.IsNullOrEmpty(part))
            return null;
        var (term, value) = SqlDialect.Contains(column, parameter, part);
        Add(term);
        return value;
    }

    private string AddList(string column, string parameter, string list)
    {
        Add(SqlDialect.In(column, parameter));
        return list;
    }
}
