using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

/// <summary>Inserts rows directly into a database and explains its queries.</summary>
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

    /// <summary>Returns the query plan.</summary>
    public static Task<List<string>> ExplainAsync(this SluiceDatabase database, string sql, object values) =>
        database.ReadAsync(
            connection => connection.Query("EXPLAIN QUERY PLAN " + sql, values).Select(step => (string)step.detail).ToList(),
            TestContext.Current.CancellationToken);
}
