using System.Data.Common;
using System.Globalization;
using System.Runtime.CompilerServices;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>The embedded database: SQLite with a write-ahead log, one writer, and any number of readers that never wait for it (F31).</summary>
/// <remarks>Thread-safe. Calls before <see cref="Open"/> throw.</remarks>
internal sealed class SluiceDatabase : IAsyncDisposable
{
    /// <summary>
    /// Maximum concurrent streams. Each holds a connection while its reader is slow: half a MiB and three descriptors, so 50 MiB in total.
    /// </summary>
    public const int MaxStreams = 100;

    // Rows that a streamed query fetches per trip to the thread pool.
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
    private DatabaseWriter? _writer;

    /// <summary>Creates the object without opening the file.</summary>
    /// <param name="folder">Holds the database file.</param>
    /// <param name="migrations">Migrate the file when it is opened.</param>
    /// <param name="safeMode">Entered if the file turns out to be corrupt.</param>
    /// <param name="time">The clock.</param>
    /// <param name="state">Receives faults and successful transactions; null if not needed.</param>
    /// <param name="watched">Tables whose changes are reported; null for none.</param>
    /// <param name="commit">Commits each transaction; null for the real file.</param>
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

    /// <summary>Whether the database was opened and migrated, and safe mode is off.</summary>
    public bool IsOpen => Volatile.Read(ref _writer) is not null && !_safeMode.IsOn;

    /// <summary>Runs the loop of a worker, or returns at once in safe mode. Also returns if the loop runs into safe mode.</summary>
    public async Task WhileOpenAsync(Func<Task> loop)
    {
        try
        {
            if (IsOpen)
                await loop();
        }
        catch (DatabaseLostException)
        {
            // The server keeps streaming without its background work.
        }
    }

    /// <summary>Opens or creates the file and runs the migrations. Call once, before anything else.</summary>
    /// <param name="mayWrite">Transactions wait for this task; null to write at once.</param>
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
            // Keeps statement journals in memory, so that rolling back one of several writes needs no temporary file.
            Execute(connection, "PRAGMA temp_store = MEMORY;");
            changes = new RowChanges(connection, _watched);
        }
        catch
        {
            connection.Dispose();
            throw;
        }

        Volatile.Write(ref _writer, new DatabaseWriter(connection, mayWrite ?? Task.CompletedTask, use => Watch(use, writes: true), _commit, changes, _time));
    }

    /// <summary>Runs a query on the thread pool, within one snapshot.</summary>
    /// <param name="query">Receives a read-only connection for the duration of the call. The result must not depend on it.</param>
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

    /// <summary>Reads every page of the file and compares tables with their indices, while all other work continues.</summary>
    /// <returns>Whether the file is sound; if not, Sluice is now in safe mode.</returns>
    public Task<bool> CheckAsync(CancellationToken cancellationToken)
    {
        RequireOpen();
        return Task.Run(() => Watch(() => Check(cancellationToken)), cancellationToken);
    }

    /// <summary>
    /// Writes the last commit into a new file, compactly and on a connection of its own, while all other work continues. Blocks the calling thread.
    /// The file may still be in the cache of the system afterwards.
    /// </summary>
    /// <exception cref="StorageException">The disk is full or cannot be written.</exception>
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
        });
    }

    /// <summary>Streams rows, for listings too large for memory. The snapshot blocks full checkpoints until the end, so read quickly.</summary>
    /// <exception cref="DbException">Among others: <see cref="MaxStreams"/> streams are open and none ended in time.</exception>
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

    /// <summary>Runs one write in order and atomically. Completes after the commit is on disk; writes that waited together share a commit.</summary>
    /// <param name="work">Receives the writing connection inside the transaction. Must not keep it, and must not block.</param>
    /// <param name="cancellationToken">Works only until the write starts.</param>
    /// <exception cref="StorageException">Nothing was written.</exception>
    public async Task<T> WriteAsync<T>(Func<DbConnection, T> work, CancellationToken cancellationToken)
    {
        var result = await RequireOpen().RunAsync(work, cancellationToken);
        _state?.NoteSuccess(_folder.Database);
        return result;
    }

    /// <summary>Checks that the file is writable: rewrites the version in its header, which changes nothing but writes a page.</summary>
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
        // Readers first, because the last connection to close checkpoints the log and must be able to write.
        _readers.Dispose();
        if (Interlocked.Exchange(ref _writer, null) is { } writer)
        {
            writer.LeavesLog = _safeMode.IsOn;
            await writer.DisposeAsync();
        }
    }

    /// <summary>Opens a connection with the settings that all connections share; the caller disposes it.</summary>
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

    /// <summary>
    /// Wraps every use of a connection. Corruption ends all use of the file (CFG-15); other faults become <see cref="StorageException"/>.
    /// </summary>
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
        // On a read-only connection SQLITE_READONLY means that a query tried to write, which proves nothing about the file.
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

    /// <summary>A rented connection inside a read transaction. It returns to the pool only after success; otherwise it may be broken.</summary>
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
