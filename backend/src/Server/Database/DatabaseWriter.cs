using System.Data.Common;
using System.Threading.Channels;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>
/// The only writer: a bounded queue of transactions and one loop that runs them in order. No call waits for a lock of the database,
/// and a transaction is committed with <c>synchronous=FULL</c> before its task completes.
/// </summary>
internal sealed class DatabaseWriter : IAsyncDisposable
{
    // Further callers wait to enqueue: a burst of uploads must not collect work without bound.
    private const int MaxWaiting = 256;

    private const int NoCheckpointOnClose = 1006; // SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE

    private readonly SqliteConnection _connection;
    private readonly Channel<Action<SqliteConnection>> _queue = Channel.CreateBounded<Action<SqliteConnection>>(
        new BoundedChannelOptions(MaxWaiting) { SingleReader = true });

    private readonly Func<Func<bool>, bool> _watch;
    private readonly Task _loop;

    /// <summary>Takes over an open connection and disposes it.</summary>
    /// <param name="connection">The only one that writes.</param>
    /// <param name="mayBegin">The first transaction begins when it has ended.</param>
    /// <param name="watch">Runs each transaction, and refuses to when the file must not be written any more.</param>
    public DatabaseWriter(SqliteConnection connection, Task mayBegin, Func<Func<bool>, bool> watch)
    {
        (_connection, _watch) = (connection, watch);
        _loop = Task.Run(() => RunAsync(mayBegin));
    }

    /// <summary>Whether closing the connection leaves file and log as they are, so that a damaged file is not changed.</summary>
    public bool LeavesLog { get; set; }

    /// <summary>Runs one transaction. Cancellation counts until it begins; then it is carried through.</summary>
    public async Task<T> RunAsync<T>(Func<DbConnection, T> work, CancellationToken cancellationToken)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        await _queue.Writer.WriteAsync(connection => Execute(connection, work, done, cancellationToken), cancellationToken);
        return await done.Task;
    }

    /// <summary>Finishes the queued transactions and closes the connection.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _loop;
        if (LeavesLog)
        {
            _ = SQLitePCL.raw.sqlite3_db_config(_connection.Handle, NoCheckpointOnClose, 1, out _);
        }

        await _connection.DisposeAsync();
    }

    private async Task RunAsync(Task mayBegin)
    {
        await mayBegin;
        await foreach (var transaction in _queue.Reader.ReadAllAsync())
            transaction(_connection);
    }

    private void Execute<T>(
        SqliteConnection connection,
        Func<DbConnection, T> work,
        TaskCompletionSource<T> done,
        CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            done.SetCanceled(cancellationToken);
            return;
        }

        try
        {
            T result = default!;
            _watch(() =>
            {
                using var transaction = new SqliteWork(connection, writes: true);
                result = work(connection);
                transaction.Commit();
                return true;
            });
            done.SetResult(result);
        }
        catch (Exception e)
        {
            // The transaction has been rolled back; its caller handles the exception.
            done.SetException(e);
        }
    }
}
