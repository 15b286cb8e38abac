using System.Data.Common;
using System.Globalization;
using System.Runtime.CompilerServices;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>
/// The embedded database: SQLite with a write-ahead log, one writer and any number of readers that never wait for it (F31).
/// </summary>
/// <remarks>Thread-safe. Usable between <see cref="Open"/> and disposal; before that calls throw.</remarks>
internal sealed class SluiceDatabase : IAsyncDisposable
{
    /// <summary>
    /// Streamed queries at a time. Each keeps a connection while its reader is slow; half a MiB and three descriptors each make 50 MiB.
    /// </summary>
    public const int MaxStreams = 100;

    // Rows fetched on one trip to the thread pool by a streamed query.
    private const int StreamBatch = 256;

    // How long a streamed query waits for its turn.
    private static readonly TimeSpan StreamPatience = TimeSpan.FromSeconds(10);

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

    /// <summary>Creates the object; nothing is opened yet.</summary>
    /// <param name="folder">Where the file is.</param>
    /// <param name="migrations">Brings it to the version of this program.</param>
    /// <param name="safeMode">Is entered when the file shows itself damaged.</param>
    /// <param name="time">The clock.</param>
    /// <param name="state">Is told of faults, and of transactions that succeed; null where nothing asks.</param>
    /// <param name="watched">Tables whose changes are told; null for none.</param>
    /// <param name="commit">Ends each transaction that writes; null: on the real file.</param>
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

    /// <summary>Whether the database has been opened and brought to the version of this program, and is not lost to safe mode.</summary>
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

    /// <summary>Opens the file, creates it where there is none, and runs the migrations. Once, before anything else.</summary>
    /// <param name="mayWrite">Transactions wait until it has ended; null: for nothing.</param>
    /// <exception cref="StartRefusedException">The file was written by a newer program.</exception>
    /// <exception cref="SqliteException">The file is damaged, or is no database.</exception>
    public void Open(Task? mayWrite = null)
    {
        var connection = Connect(_folder.Database, SqliteOpenMode.ReadWriteCreate);
        RowChanges changes;
        try
        {
            Execute(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;");
            _migrations.Run(connection);
            // What one of several writes in a transaction may have to take back is held in memory, and in no file elsewhere.
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

    /// <summary>Runs a query on the thread pool. All that it reads is one snapshot.</summary>
    /// <param name="query">Gets a read-only connection for the duration of the call and returns values that need it no more.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    /// <exception cref="DatabaseLostException">Sluice is in safe mode.</exception>
    /// <exception cref="StorageException">The file cannot be read.</exception>
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

    /// <summary>Reads every page of the file and compares tables with their indices, beside all else that goes on.</summary>
    /// <param name="cancellationToken">Gives up in the middle.</param>
    /// <returns>Whether it is sound; otherwise Sluice is in safe mode.</returns>
    public Task<bool> CheckAsync(CancellationToken cancellationToken)
    {
        RequireOpen();
        return Task.Run(() => Watch(() => Check(cancellationToken)), cancellationToken);
    }

    /// <summary>
    /// Runs a query whose rows are taken one by one, for listings that must not be held in memory. The snapshot lives until
    /// the enumeration ends and keeps the log from being folded back, so take the rows swiftly.
    /// </summary>
    /// <param name="query">Gets a read-only connection; is enumerated on the thread pool, 256 rows at a time.</param>
    /// <param name="cancellationToken">Ends the enumeration between rows.</param>
    /// <exception cref="DbException">Among others: <see cref="MaxStreams"/> are being read, and none ends soon.</exception>
    public async IAsyncEnumerable<T> StreamAsync<T>(
        Func<DbConnection, IEnumerable<T>> query,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        RequireOpen();
        await EnterStreamAsync(cancellationToken);
        using var turn = new Turn(_streams);
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
        using var patience = new CancellationTokenSource(StreamPatience, _time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, patience.Token);
        try
        {
            await _streams.WaitAsync(cancel.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new SqliteException($"{MaxStreams} lists are being read, and none of them has ended in time.", raw.SQLITE_BUSY);
        }
    }

    /// <summary>
    /// Runs one write in its turn, all or nothing; the task completes after the commit is on disk, which it may share with others that waited
    /// beside it.
    /// </summary>
    /// <param name="work">Gets the writing connection, inside the transaction. Does not keep it and waits for nothing.</param>
    /// <param name="cancellationToken">Counts until the work begins.</param>
    /// <exception cref="DatabaseLostException">Sluice is in safe mode.</exception>
    /// <exception cref="StorageException">Nothing was written.</exception>
    public async Task<T> WriteAsync<T>(Func<DbConnection, T> work, CancellationToken cancellationToken)
    {
        var result = await RequireOpen().RunAsync(work, cancellationToken);
        _state?.NoteSuccess(_folder.Database);
        return result;
    }

    /// <summary>Writes the version that the header of the file has already: nothing is changed, and a page is written.</summary>
    /// <exception cref="StorageException">It cannot be written.</exception>
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

    /// <summary>Closes the file before the object is disposed of; it cannot be opened again.</summary>
    public ValueTask CloseAsync() => DisposeAsync();

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        // Readers first: the last connection to close folds the log back into the file, and must be able to write.
        _readers.Dispose();
        if (Interlocked.Exchange(ref _writer, null) is { } writer)
        {
            writer.LeavesLog = _safeMode.IsOn;
            await writer.DisposeAsync();
        }
    }

    /// <summary>A connection with the limits of all of them; the caller disposes it.</summary>
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
    /// Every use of a connection passes here: damage ends all use of the file (CFG-15), and other faults of it are
    /// <see cref="StorageException"/>.
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
        // A query that writes is refused by its own connection, which says nothing about the file.
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

    /// <summary>The right to a streamed query.</summary>
    private readonly struct Turn(SemaphoreSlim turns) : IDisposable
    {
        public void Dispose() => turns.Release();
    }

    /// <summary>A rented connection inside a read transaction; goes back to the pool only when all went well.</summary>
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
