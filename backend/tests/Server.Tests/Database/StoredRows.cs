using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

/// <summary>Puts rows straight into a database, and asks it how it would find others.</summary>
internal static class StoredRows
{
    /// <summary>Inserts rows in order, in one transaction.</summary>
    public static Task InsertAsync<T>(this SluiceDatabase database, Action<DbConnection, T> insert, params IEnumerable<T> rows) =>
        database.WriteAsync(
            connection =>
            {
                foreach (var row in rows)
                    insert(connection, row);
                return true;
            },
            TestContext.Current.CancellationToken);

    /// <summary>The steps in which the database would run a query.</summary>
    public static Task<List<string>> ExplainAsync(this SluiceDatabase database, string sql, object values) =>
        database.ReadAsync(
            connection => connection.Query("EXPLAIN QUERY PLAN " + sql, values).Select(step => (string)step.detail).ToList(),
            TestContext.Current.CancellationToken);
}
