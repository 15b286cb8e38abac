using System.Data.Common;
using System.Threading.Channels;
using Microsoft.Data.Sqlite;
using Sluice.Usenet.Primitives;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>
/// The only writer: one loop runs a bounded queue of writes in order, so that no call waits for a database lock. Queued writes share a transaction, committed
/// with <c>synchronous=FULL</c>. Their tasks complete after the commit (IMP-8). A write that throws is rolled back without affecting the others.
/// </summary>
internal sealed class DatabaseWriter : IAsyncDisposable
{
    // Above this limit, callers wait to enqueue, so that a burst of uploads stays bounded.
    private const int MaxWaiting = 256;

    public const int MaxBatch = 64;

    private const int NoCheckpointOnClose = 1006; // SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE

    // After this time a transaction accepts no more writes, because its first write must not wait long for the commit (F31).
    private static readonly TimeSpan MaxBatchTime = TimeSpan.FromMilliseconds(20);

    private readonly SqliteConnection _connection;
    private readonly Channel<Write> _queue = Channel.CreateBounded<Write>(new BoundedChannelOptions(MaxWaiting) { SingleReader = true });

    private readonly Func<Func<bool>, bool> _watch;
    private readonly ICommitStep _commit;
    private readonly RowChanges _changes;
    private readonly DurationHistogram _times;
    private readonly TimeProvider _time;
    private readonly Task _loop;

    /// <summary>Takes ownership of the only writing connection. Runs each transaction inside <paramref name="watch"/>, which may refuse it.</summary>
    /// <param name="times">Records the duration of each committed transaction.</param>
    public DatabaseWriter(
        SqliteConnection connection, Task mayBegin, Func<Func<bool>, bool> watch, ICommitStep commit, RowChanges changes, DurationHistogram times, TimeProvider time)
    {
        (_connection, _watch, _commit, _changes, _times, _time) = (connection, watch, commit, changes, times, time);
        _loop = Task.Run(() => RunAsync(mayBegin));
    }

    /// <summary>Whether closing skips the checkpoint, because a corrupt file must stay unchanged.</summary>
    public bool LeavesLog { get; set; }

    /// <summary>Runs one write atomically. Cancellation works only until the write starts.</summary>
    public async Task<T> RunAsync<T>(Func<DbConnection, T> work, CancellationToken cancellationToken)
    {
        var write = new Write<T>(work, cancellationToken);
        await _queue.Writer.WriteAsync(write, cancellationToken);
        return await write.Done;
    }

    /// <summary>Completes the queued writes and closes the connection.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _loop;
        if (LeavesLog)
        {
            _ = raw.sqlite3_db_config(_connection.Handle, NoCheckpointOnClose, 1, out _);
        }

        await _connection.DisposeAsync();
    }

    private async Task RunAsync(Task mayBegin)
    {
        await mayBegin;
        while (await _queue.Reader.WaitToReadAsync())
            RunBatch();
    }

    /// <summary>Runs all queued writes in one transaction. Their tasks complete after the commit, or all fail if the transaction fails.</summary>
    private void RunBatch()
    {
        var begun = new List<Write>();
        try
        {
            _watch(() =>
            {
                using var transaction = new SqliteWork(_connection, writes: true);
                var since = _time.GetTimestamp();
                while (begun.Count < MaxBatch && _time.GetElapsedTime(since) < MaxBatchTime && _queue.Reader.TryRead(out var write))
                {
                    begun.Add(write);
                    // Skip the savepoint, because no other write shares this transaction.
                    if (begun.Count == 1 && _queue.Reader.Count == 0)
                    {
                        write.Run(_connection, _watch);
                        break;
                    }

                    RunInSavepoint(write);
                }

                Failpoint.Reach("transaction-done");
                _commit.Run(transaction);
                _times.Record(_time.GetElapsedTime(since));
                Failpoint.Reach("transaction-committed");
                return true;
            });
        }
        catch (Exception e)
        {
            // Nothing was committed. If the transaction could not begin, the exception goes to the first queued write.
            if (begun.Count == 0 && _queue.Reader.TryRead(out var first))
                begun.Add(first);
            _changes.RollBackTo(0);
            foreach (var write in begun)
                write.Fail(e);
            return;
        }

        // Notify watchers before completing the tasks, so that watchers learn of a change before its caller does.
        _changes.Tell();
        foreach (var write in begun)
            write.Complete();
    }

    /// <summary>Runs a write in a savepoint, so that a failure rolls back only this write. A storage fault fails the whole transaction.</summary>
    private void RunInSavepoint(Write write)
    {
        var noted = _changes.Count;
        Execute("SAVEPOINT one");
        try
        {
            write.Run(_connection, _watch);
            Execute("RELEASE one");
        }
        catch (Exception e) when (e is not (StorageException or DatabaseLostException) && raw.sqlite3_get_autocommit(_connection.Handle) == 0)
        {
            Execute("ROLLBACK TO one; RELEASE one");
            _changes.RollBackTo(noted);
            write.Failure = e;
        }
    }

    private void Execute(string sql)
    {
        using var command = _connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }

    /// <summary>A queued write and its waiting caller. The loop runs each write once.</summary>
    private abstract class Write
    {
        /// <summary>The exception that rolled back only this write; null on success.</summary>
        public Exception? Failure { get; set; }

        public abstract void Run(SqliteConnection connection, Func<Func<bool>, bool> watch);

        /// <summary>Completes the caller's task after the commit.</summary>
        public abstract void Complete();

        /// <summary>Fails the caller's task, because nothing was committed.</summary>
        public abstract void Fail(Exception failure);
    }

    private sealed class Write<T>(Func<DbConnection, T> work, CancellationToken cancellationToken) : Write
    {
        private readonly TaskCompletionSource<T> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private T _result = default!;

        public Task<T> Done => _done.Task;

        public override void Run(SqliteConnection connection, Func<Func<bool>, bool> watch)
        {
            cancellationToken.ThrowIfCancellationRequested();
            watch(() =>
            {
                _result = work(connection);
                return true;
            });
        }

        public override void Complete()
        {
            if (Failure is null)
                _done.SetResult(_result);
            else
                Fail(Failure);
        }

        public override void Fail(Exception failure)
        {
            if (failure is OperationCanceledException && cancellationToken.IsCancellationRequested)
                _done.SetCanceled(cancellationToken);
            else
                _done.SetException(failure);
        }
    }
}
