using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

/// <summary>Puts rows straight into a database.</summary>
internal static class StoredRows
{
    /// <summary>Inserts rows in order, in one transaction.</summary>
    public static Task InsertAsync<T>(this SluiceDatabase database, Action<SqliteConnection, T> insert, params IEnumerable<T> rows) =>
        database.WriteAsync(
            (connection, _) =>
            {
                foreach (var row in rows)
                    insert(connection, row);
                return true;
            },
            TestContext.Current.CancellationToken);
}
