using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>Commits the writer's transactions. A committed write must survive a power cut.</summary>
internal interface ICommitStep
{
    /// <summary>Returns once the transaction is on disk.</summary>
    /// <exception cref="SqliteException">Nothing was committed.</exception>
    void Run(SqliteWork transaction);
}

internal sealed class DiskCommit : ICommitStep
{
    public void Run(SqliteWork transaction) => transaction.Commit();
}

/// <summary>A transaction begun by SQL, which later commands join without a reference. Rolled back on disposal unless committed.</summary>
internal readonly struct SqliteWork : IDisposable
{
    private readonly SqliteConnection _connection;

    /// <summary>Begins a transaction. A write locks the database immediately; a read takes its snapshot at the first query.</summary>
    public SqliteWork(SqliteConnection connection, bool writes)
    {
        _connection = connection;
        Run(writes ? "BEGIN IMMEDIATE" : "BEGIN");
    }

    public void Commit() => Run("COMMIT");

    public void Dispose()
    {
        // After some errors SQLite has already rolled back.
        if (raw.sqlite3_get_autocommit(_connection.Handle) == 0)
            Run("ROLLBACK");
    }

    private void Run(string sql)
    {
        using var command = _connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }
}
