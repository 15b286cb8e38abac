using System.Collections.Concurrent;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>
/// Read-only connections, reused. Rented connections are bounded by the callers: a query rents one while it runs on a thread of the
/// pool, a streamed query while it holds its turn.
/// </summary>
internal sealed class ReaderPool(Func<SqliteConnection> connect) : IDisposable
{
    private const int MaxIdle = 16;

    private readonly ConcurrentBag<SqliteConnection> _idle = [];
    private volatile bool _disposed;

    /// <summary>An open connection; give it back with <see cref="Return"/> or dispose it when it may be broken.</summary>
    public SqliteConnection Rent() => _idle.TryTake(out var connection) ? connection : connect();

    /// <summary>Takes back a connection without an open transaction.</summary>
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

    /// <inheritdoc/>
    public void Dispose()
    {
        _disposed = true;
        while (_idle.TryTake(out var connection))
            connection.Dispose();
    }
}
