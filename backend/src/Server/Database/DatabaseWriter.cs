using System.Data.Common;
using System.Threading.Channels;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>
/// The only writer: a bounded queue of writes and one loop that runs them in order. No call waits for a lock of the database. What waits
/// together shares one transaction, and so one commit with <c>synchronous=FULL</c>, before any of its tasks completes (IMP-8). A
/// write that throws leaves nothing behind and concerns no other.
/// </summary>
internal sealed class DatabaseWriter : IAsyncDisposable
{
    // Further callers wait to enqueue: a burst of uploads must not collect work without bound.
    private const int MaxWaiting = 256;

    /// <summary>Writes that share a transaction.</summary>
    public const int MaxTogether = 64;

    private const int NoCheckpointOnClose = 1006; // SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE

    // A transaction takes no further writes after this time (F31): the first ones wait for the last.
    private static readonly TimeSpan LongestTogether = TimeSpan.FromMilliseconds(20);

    private readonly SqliteConnection _connection;
    private readonly Channel<Write> _queue = Channel.CreateBounded<Write>(new BoundedChannelOptions(MaxWaiting) { SingleReader = true });

    private readonly Func<Func<bool>, bool> _watch;
    private readonly ICommitStep _commit;
    private readonly RowChanges _changes;
    private readonly TimeProvider _time;
    private readonly Task _loop;

    /// <summary>Takes over an open connection and disposes it.</summary>
    /// <param name="connection">The only one that writes.</param>
    /// <param name="mayBegin">The first transaction begins when it has ended.</param>
    /// <param name="watch">Runs each transaction, and refuses to when the file must not be written any more.</param>
    /// <param name="commit">Ends each transaction.</param>
    /// <param name="changes">Notes the rows that the connection changes.</param>
    /// <param name="time">The clock.</param>
    public DatabaseWriter(SqliteConnection connection, Task mayBegin, Func<Func<bool>, bool> watch, ICommitStep commit, RowChanges changes, TimeProvider time)
    {
        (_connection, _watch, _commit, _changes, _time) = (connection, watch, commit, changes, time);
        _loop = Task.Run(() => RunAsync(mayBegin));
    }

    /// <summary>Whether closing the connection leaves file and log as they are, so that a damaged file is not changed.</summary>
    public bool LeavesLog { get; set; }

    /// <summary>Runs one write, all or nothing. Cancellation counts until it begins; then it is carried through.</summary>
    public async Task<T> RunAsync<T>(Func<DbConnection, T> work, CancellationToken cancellationToken)
    {
        var write = new Write<T>(work, cancellationToken);
        await _queue.Writer.WriteAsync(write, cancellationToken);
        return await write.Done;
    }

    /// <summary>Finishes the queued writes and closes the connection.</summary>
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
            RunTogether();
    }

    /// <summary>One transaction of all that waits. Its tasks complete after the commit, or with the exception of what they share.</summary>
    private void RunTogether()
    {
        var begun = new List<Write>();
        try
        {
            _watch(() =>
            {
                using var transaction = new SqliteWork(_connection, writes: true);
                var since = _time.GetTimestamp();
                while (begun.Count < MaxTogether && _time.GetElapsedTime(since) < LongestTogether && _queue.Reader.TryRead(out var write))
                {
                    begun.Add(write);
                    // One that nothing waits behind has the transaction for itself and needs no copies of what it changes.
                    if (begun.Count == 1 && _queue.Reader.Count == 0)
                    {
                        write.Run(_connection, _watch);
                        break;
                    }

                    RunShared(write);
                }

                Failpoint.Reach("transaction-done");
                _commit.Run(transaction);
                Failpoint.Reach("transaction-committed");
                return true;
            });
        }
        catch (Exception e)
        {
            // Nothing of it is in the file. Where the transaction could not even begin, the first write is the one to be told.
            if (begun.Count == 0 && _queue.Reader.TryRead(out var first))
                begun.Add(first);
            _changes.TakeBack(0);
            foreach (var write in begun)
                write.Fail(e);
            return;
        }

        // Before the callers go on: what they are told of has been told of.
        _changes.Tell();
        foreach (var write in begun)
            write.Complete();
    }

    /// <summary>Runs a write so that its failure takes back what it has done and nothing else. A fault of the file is one of all.</summary>
    private void RunShared(Write write)
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
            _changes.TakeBack(noted);
            write.Failure = e;
        }
    }

    private void Execute(string sql)
    {
        using var command = _connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }

    /// <summary>A write and the caller that waits for it. Run by the loop, once.</summary>
    private abstract class Write
    {
        /// <summary>Why it alone left nothing behind; null where it ran well.</summary>
        public Exception? Failure { get; set; }

        /// <summary>Does the work.</summary>
        /// <param name="connection">Inside the transaction.</param>
        /// <param name="watch">Tells faults of the file from others.</param>
        public abstract void Run(SqliteConnection connection, Func<Func<bool>, bool> watch);

        /// <summary>The commit is on disk: tells the caller what came of the work.</summary>
        public abstract void Complete();

        /// <summary>Nothing of it is in the file: tells the caller why.</summary>
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
