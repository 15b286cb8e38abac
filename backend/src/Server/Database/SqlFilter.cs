namespace Sluice.Server.Database;

/// <summary>
/// Collects the terms of a WHERE. The caller passes the parameters in an object of its own type; each method that adds a term returns
/// the value of its parameter. Not thread-safe.
/// </summary>
internal sealed class SqlFilter
{
    private readonly List<string> _terms = [];

    /// <summary>The clause, or nothing where there are no terms.</summary>
    public string Where => _terms.Count == 0 ? "" : "WHERE " + string.Join(" AND ", _terms);

    /// <summary>Adds a condition.</summary>
    public void Add(string term) => _terms.Add(term);

    /// <summary>Adds that a column has one of several values; null adds no term.</summary>
    public string? AddList(string column, string parameter, IReadOnlyCollection<string>? values) =>
        values is null ? null : AddList(column, parameter, SqlDialect.List(values));

    /// <inheritdoc cref="AddList(string, string, IReadOnlyCollection{string}?)"/>
    public string? AddList(string column, string parameter, IReadOnlyCollection<int>? values) =>
        values is null ? null : AddList(column, parameter, SqlDialect.List(values));

    /// <summary>Adds that a column has one of several values, whatever the case; null adds no term.</summary>
    public string? AddAnyCase(string column, string parameter, IReadOnlyCollection<string>? values)
    {
        if (values is null)
            return null;
        Add(SqlDialect.InAnyCase(column, parameter, values));
        return SqlDialect.List(values);
    }

    /// <summary>Adds that a text contains a part, ignoring case; null and empty add no term.</summary>
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
