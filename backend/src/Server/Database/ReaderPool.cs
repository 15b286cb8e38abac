using System.Collections.Concurrent;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>Reuses read-only connections. Pool threads and stream slots bound their number.</summary>
internal sealed class ReaderPool(Func<SqliteConnection> connect) : IDisposable
{
    private const int MaxIdle = 16;

    private readonly ConcurrentBag<SqliteConnection> _idle = [];
    private volatile bool _disposed;

    /// <summary>Returns an open connection. Hand it back with <see cref="Return"/>, or dispose it if it may be broken.</summary>
    public SqliteConnection Rent() => _idle.TryTake(out var connection) ? connection : connect();

    /// <summary>Takes back a connection, which must have no open transaction.</summary>
    public void Return(SqliteConnection connection)
    {
        if (_idle.Count >= MaxIdle)
        {
            connection.Dispose();
            return;
        }

        _idle.Add(connection);
        if (_disposed)
            Dispose();
    }

    public void Dispose()
    {
        _disposed = true;
        while (_idle.TryTake(out var connection))
            connection.Dispose();
    }
}
