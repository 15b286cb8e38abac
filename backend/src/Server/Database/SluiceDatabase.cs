using System.Data.Common;
using System.Globalization;
using System.Runtime.CompilerServices;
using Microsoft.Data.Sqlite;
using Sluice.Usenet.Primitives;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>The embedded SQLite database with a write-ahead log: one writer, and readers that never wait for it (F31).</summary>
/// <remarks>Thread-safe. Calls before <see cref="Open"/> throw.</remarks>
internal sealed class SluiceDatabase : IAsyncDisposable
{
    /// <summary>Maximum concurrent streams. Each may hold a connection for a long time: 0.5 MiB and three descriptors, so 50 MiB in total.</summary>
    public const int MaxStreams = 100;

    // Rows read per thread pool call in a streamed query.
    private const int StreamBatch = 256;

    // How long a streamed query waits for a slot.
    private static readonly TimeSpan StreamSlotTimeout = TimeSpan.FromSeconds(10);

    private readonly DataFolder _folder;
    private readonly MigrationRunner _migrations;
    private readonly SafeMode _safeMode;
    private readonly StorageState? _state;
    private readonly IReadOnlyList<WatchedTable> _watched;
    private readonly ICommitStep _commit;
    private readonly TimeProvider _time;
    private readonly ReaderPool _readers;
    private readonly SemaphoreSlim _streams = new(MaxStreams);
    private readonly DurationHistogram _writeTimes = new(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5);
    private DatabaseWriter? _writer;

    /// <summary>Creates the object without opening the file.</summary>
    /// <param name="migrations">Steps to run when the file is opened.</param>
    /// <param name="safeMode">Entered if the file turns out to be corrupt.</param>
    /// <param name="state">Receives faults and successful transactions; null if not needed.</param>
    /// <param name="watched">Tables whose changes are reported; null for none.</param>
    /// <param name="commit">Commits each transaction; null for the real commit.</param>
    public SluiceDatabase(
        DataFolder folder, MigrationRunner migrations, SafeMode safeMode, TimeProvider time, StorageState? state = null, IEnumerable<WatchedTable>? watched = null,
        ICommitStep? commit = null)
    {
        _commit = commit ?? new DiskCommit();
        _watched = [.. watched ?? []];
        _time = time;
        _folder = folder;
        _migrations = migrations;
        _safeMode = safeMode;
        _state = state;
        _readers = new ReaderPool(() => Connect(folder.Database, SqliteOpenMode.ReadOnly));
    }

    /// <summary>Whether the database has been opened and migrated, and safe mode is off.</summary>
    public bool IsOpen => Volatile.Read(ref _writer) is not null && !_safeMode.IsOn;

    /// <summary>Durations of the committed transactions since startup.</summary>
    public HistogramSnapshot WriteTimes => _writeTimes.Snapshot();

    /// <summary>Runs a worker's loop until the loop ends or safe mode is entered.</summary>
    public async Task WhileOpenAsync(Func<Task> loop)
    {
        try
        {
            if (IsOpen)
                await loop();
        }
        catch (DatabaseLostException)
        {
            // Safe mode: the server keeps streaming without this background work.
        }
    }

    /// <summary>Opens or creates the file and runs the migrations. Call once, before anything else.</summary>
    /// <param name="mayWrite">Transactions wait for this task; null if they need not wait.</param>
    /// <exception cref="StartRefusedException">A newer program wrote the file.</exception>
    /// <exception cref="SqliteException">The file is corrupt or not a database.</exception>
    public void Open(Task? mayWrite = null)
    {
        var connection = Connect(_folder.Database, SqliteOpenMode.ReadWriteCreate);
        RowChanges changes;
        try
        {
            Execute(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;");
            _migrations.Run(connection);
            // Keep statement journals in memory, because rolling back one of several writes would otherwise need a temporary file.
            Execute(connection, "PRAGMA temp_store = MEMORY;");
            changes = new RowChanges(connection, _watched);
        }
        catch
        {
            connection.Dispose();
            throw;
        }

        Volatile.Write(ref _writer, new DatabaseWriter(connection, mayWrite ?? Task.CompletedTask, use => Watch(use, writes: true), _commit, changes, _writeTimes, _time));
    }

    /// <summary>Runs a query in one snapshot on the thread pool.</summary>
    /// <param name="query">Gets a read-only connection, valid only during the call. The result must not depend on it.</param>
    /// <param name="cancellationToken">Works only until the query starts.</param>
    public Task<T> ReadAsync<T>(Func<DbConnection, T> query, CancellationToken cancellationToken)
    {
        RequireOpen();
        return Task.Run(
            () => Watch(() =>
            {
                using var reading = new Snapshot(_readers);
                var result = query(reading.Connection);
                reading.Complete();
                return result;
            }),
            cancellationToken);
    }

    /// <summary>Reads every page and compares tables with their indexes. Other work continues in the meantime.</summary>
    /// <returns>Whether the file is intact. If not, Sluice is now in safe mode.</returns>
    public Task<bool> CheckAsync(CancellationToken cancellationToken)
    {
        RequireOpen();
        return Task.Run(() => Watch(() => Check(cancellationToken)), cancellationToken);
    }

    /// <summary>
    /// Writes the last committed state to a new, compact file over a separate connection, while other work continues. Blocks the calling thread. On return, the
    /// content may still be in the system's cache.
    /// </summary>
    /// <exception cref="StorageException">The disk is full or cannot be written. The path is the folder of the new file.</exception>
    public void CopyTo(string target, CancellationToken cancellationToken)
    {
        RequireOpen();
        Watch(() =>
        {
            using var connection = Connect(_folder.Database, SqliteOpenMode.ReadOnly);
            using var stop = cancellationToken.Register(() => raw.sqlite3_interrupt(connection.Handle));
            using var command = connection.CreateCommand();
            command.CommandText = "VACUUM INTO $target";
            command.Parameters.AddWithValue("$target", target);
            try
            {
                return command.ExecuteNonQuery();
            }
            catch (SqliteException e) when (e.SqliteErrorCode == raw.SQLITE_INTERRUPT)
            {
                throw new OperationCanceledException("The copy was canceled.", e, cancellationToken);
            }
            // SQLite does not say which of both files is damaged. If the new one is, the database must not enter safe mode.
            catch (SqliteException e) when (SafeMode.IsDamage(e))
            {
                throw Check(cancellationToken) ? StorageException.Unusable(Path.GetDirectoryName(target)!, e.Message) : new DatabaseLostException();
            }
            // The new file may be on another disk, so the database is not to blame, and its writes continue.
            catch (SqliteException e) when (StorageException.From(e, Path.GetDirectoryName(target)!) is { } fault)
            {
                throw fault;
            }
        });
    }

    /// <summary>Streams the rows of listings too large for memory. Read quickly, because the open snapshot blocks full checkpoints.</summary>
    /// <exception cref="DbException">Also thrown if <see cref="MaxStreams"/> streams are open and none ends in time.</exception>
    public async IAsyncEnumerable<T> StreamAsync<T>(
        Func<DbConnection, IEnumerable<T>> query,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        RequireOpen();
        await EnterStreamAsync(cancellationToken);
        using var slot = new StreamSlot(_streams);
        using var reading = await Task.Run(() => Watch(() => new Snapshot(_readers)), cancellationToken);
        using var rows = await Task.Run(() => Watch(() => query(reading.Connection).GetEnumerator()), cancellationToken);
        var batch = new List<T>(StreamBatch);
        do
        {
            batch.Clear();
            await Task.Run(() => Watch(() => Fill(batch, rows)), cancellationToken);
            foreach (var row in batch)
            {
                cancellationToken.ThrowIfCancellationRequested();
                yield return row;
            }
        }
        while (batch.Count == StreamBatch);

        rows.Dispose();
        reading.Complete();
    }

    private async Task EnterStreamAsync(CancellationToken cancellationToken)
    {
        if (_streams.Wait(0, CancellationToken.None))
            return;
        using var timeout = new CancellationTokenSource(StreamSlotTimeout, _time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, timeout.Token);
        try
        {
            await _streams.WaitAsync(cancel.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new SqliteException($"{MaxStreams} lists are being read, and none of them has ended in time.", raw.SQLITE_BUSY);
        }
    }

    /// <summary>Runs a write atomically, in order of arrival. Completes after the commit is on disk; waiting writes share a commit.</summary>
    /// <param name="work">Gets the writing connection inside the transaction. Must not retain the connection and must not block.</param>
    /// <param name="cancellationToken">Works only until the write starts.</param>
    /// <exception cref="StorageException">Nothing was written.</exception>
    public async Task<T> WriteAsync<T>(Func<DbConnection, T> work, CancellationToken cancellationToken)
    {
        var result = await RequireOpen().RunAsync(work, cancellationToken);
        _state?.NoteSuccess(_folder.Database);
        return result;
    }

    /// <summary>Checks that the file is writable by rewriting the version in its header, which writes a page but changes nothing.</summary>
    public Task ProbeAsync(CancellationToken cancellationToken) =>
        WriteAsync(
            connection =>
            {
                using var command = connection.CreateCommand();
                command.CommandText = "PRAGMA user_version";
                command.CommandText = string.Create(CultureInfo.InvariantCulture, $"PRAGMA user_version = {command.ExecuteScalar()}");
                return command.ExecuteNonQuery();
            },
            cancellationToken);

    public ValueTask CloseAsync() => DisposeAsync();

    public async ValueTask DisposeAsync()
    {
        // Close readers first, because the last connection to close checkpoints the log, so it must be the writer.
        _readers.Dispose();
        if (Interlocked.Exchange(ref _writer, null) is { } writer)
        {
            writer.LeavesLog = _safeMode.IsOn;
            await writer.DisposeAsync();
        }
    }

    /// <summary>Opens a connection with the shared settings; the caller disposes it.</summary>
    internal static SqliteConnection Connect(string path, SqliteOpenMode mode)
    {
        var text = new SqliteConnectionStringBuilder
        {
            DataSource = path,
            Mode = mode,
            Pooling = false,
            DefaultTimeout = 5,
        };
        var connection = new SqliteConnection(text.ToString());
        try
        {
            connection.Open();
            Execute(connection, "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;");
            SqlDialect.AddFunctions(connection);
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    private DatabaseWriter RequireOpen()
    {
        if (_safeMode.IsOn)
            throw new DatabaseLostException();
        return Volatile.Read(ref _writer) ?? throw new InvalidOperationException("The database is not open.");
    }

    /// <summary>Wraps every use of a connection. Corruption enters safe mode (CFG-15); other I/O errors become <see cref="StorageException"/>.</summary>
    private T Watch<T>(Func<T> use, bool writes = false)
    {
        if (_safeMode.IsOn)
            throw new DatabaseLostException();
        try
        {
            return use();
        }
        catch (SqliteException e) when (SafeMode.IsDamage(e))
        {
            _safeMode.EnterDamaged(_folder.Database, e.Message);
            throw new DatabaseLostException();
        }
        // On a read-only connection, SQLITE_READONLY only means that a query tried to write.
        catch (SqliteException e) when ((writes || e.SqliteErrorCode != raw.SQLITE_READONLY) && Find(e) is { } fault)
        {
            throw fault;
        }
    }

    private StorageException? Find(SqliteException failure)
    {
        var fault = StorageException.From(failure, _folder.Database);
        if (fault is not null)
            _state?.Note(fault);
        return fault;
    }

    private bool Check(CancellationToken cancellationToken)
    {
        using var connection = Connect(_folder.Database, SqliteOpenMode.ReadOnly);
        using var stop = cancellationToken.Register(() => raw.sqlite3_interrupt(connection.Handle));
        using var command = connection.CreateCommand();
        command.CommandText = "PRAGMA integrity_check(1)";
        try
        {
            if (command.ExecuteScalar() is "ok")
                return true;
        }
        catch (SqliteException e) when (e.SqliteErrorCode == raw.SQLITE_INTERRUPT)
        {
            throw new OperationCanceledException("The check was given up.", e, cancellationToken);
        }

        _safeMode.EnterDamaged(_folder.Database, "its tables and indices contradict each other");
        return false;
    }

    private static void Execute(SqliteConnection connection, string sql)
    {
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }

    private static int Fill<T>(List<T> batch, IEnumerator<T> rows)
    {
        while (batch.Count < StreamBatch && rows.MoveNext())
            batch.Add(rows.Current);
        return batch.Count;
    }

    private readonly struct StreamSlot(SemaphoreSlim slots) : IDisposable
    {
        public void Dispose() => slots.Release();
    }

    /// <summary>A rented connection in a read transaction. It returns to the pool only after success, because after a failure it may be broken.</summary>
    private sealed class Snapshot : IDisposable
    {
        private readonly ReaderPool _pool;
        private readonly SqliteWork _transaction;
        private bool _completed;

        public Snapshot(ReaderPool pool)
        {
            _pool = pool;
            Connection = pool.Rent();
            _transaction = new SqliteWork(Connection, writes: false);
        }

        public SqliteConnection Connection { get; }

        public void Complete()
        {
            _transaction.Commit();
            _completed = true;
        }

        public void Dispose()
        {
            _transaction.Dispose();
            if (_completed)
                _pool.Return(Connection);
            else
                Connection.Dispose();
        }
    }
}
