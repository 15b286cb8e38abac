using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>The commit of the writer's transactions: the step after which a write must survive a power cut.</summary>
internal interface ICommitStep
{
    /// <summary>Returns once the transaction is on disk.</summary>
    /// <exception cref="SqliteException">Nothing was committed.</exception>
    void Run(SqliteWork transaction);
}

/// <summary>Commits to the real file.</summary>
internal sealed class DiskCommit : ICommitStep
{
    /// <inheritdoc/>
    public void Run(SqliteWork transaction) => transaction.Commit();
}

/// <summary>
/// A transaction begun by SQL, so that every command on its connection is part of it without a reference to it. Rolled back unless
/// committed.
/// </summary>
internal readonly struct SqliteWork : IDisposable
{
    private readonly SqliteConnection _connection;

    /// <summary>Begins on a connection without one.</summary>
    /// <param name="connection">The caller's, for as long as this lasts.</param>
    /// <param name="writes">Takes the place of the writer now; otherwise the snapshot begins with the first query.</param>
    public SqliteWork(SqliteConnection connection, bool writes)
    {
        _connection = connection;
        Run(writes ? "BEGIN IMMEDIATE" : "BEGIN");
    }

    /// <summary>Ends it well.</summary>
    public void Commit() => Run("COMMIT");

    /// <inheritdoc/>
    public void Dispose()
    {
        // SQLite itself rolls back after some faults.
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
