using System.Runtime.CompilerServices;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>
/// The embedded database: SQLite with a write-ahead log, one writer and any number of readers that never wait for it (F31).
/// </summary>
/// <remarks>Thread-safe. Usable between <see cref="Open"/> and disposal; before that calls throw.</remarks>
internal sealed class SluiceDatabase : IAsyncDisposable
{
    // Rows fetched on one trip to the thread pool by a streamed query.
    private const int StreamBatch = 256;

    private readonly DataFolder _folder;
    private readonly MigrationRunner _migrations;
    private readonly ReaderPool _readers;
    private DatabaseWriter? _writer;

    /// <summary>Creates the object; nothing is opened yet.</summary>
    public SluiceDatabase(DataFolder folder, MigrationRunner migrations)
    {
        _folder = folder;
        _migrations = migrations;
        _readers = new ReaderPool(() => Connect(SqliteOpenMode.ReadOnly));
    }

    /// <summary>Whether the database has been opened and brought to the version of this program.</summary>
    public bool IsOpen => Volatile.Read(ref _writer) is not null;

    /// <summary>Opens the file, creates it where there is none, and runs the migrations. Once, before anything else.</summary>
    /// <exception cref="StartRefusedException">The file was written by a newer program.</exception>
    /// <exception cref="SqliteException">The file is damaged, or is no database.</exception>
    public void Open()
    {
        var connection = Connect(SqliteOpenMode.ReadWriteCreate);
        try
        {
            Execute(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;");
            _migrations.Run(connection);
        }
        catch
        {
            connection.Dispose();
            throw;
        }

        Volatile.Write(ref _writer, new DatabaseWriter(connection));
    }

    /// <summary>Runs a query on the thread pool. All that it reads is one snapshot.</summary>
    /// <param name="query">Gets a read-only connection for the duration of the call and returns values that need it no more.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    public Task<T> ReadAsync<T>(Func<SqliteConnection, T> query, CancellationToken cancellationToken)
    {
        RequireOpen();
        return Task.Run(
            () =>
            {
                using var reading = new Snapshot(_readers);
                var result = query(reading.Connection);
                reading.Complete();
                return result;
            },
            cancellationToken);
    }

    /// <summary>
    /// Runs a query whose rows are taken one by one, for listings that must not be held in memory. The snapshot lives until
    /// the enumeration ends and keeps the log from being folded back, so take the rows swiftly.
    /// </summary>
    /// <param name="query">Gets a read-only connection; is enumerated on the thread pool, 256 rows at a time.</param>
    /// <param name="cancellationToken">Ends the enumeration between rows.</param>
    public async IAsyncEnumerable<T> StreamAsync<T>(
        Func<SqliteConnection, IEnumerable<T>> query,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        RequireOpen();
        using var reading = await Task.Run(() => new Snapshot(_readers), cancellationToken);
        using var rows = await Task.Run(() => query(reading.Connection).GetEnumerator(), cancellationToken);
        var batch = new List<T>(StreamBatch);
        do
        {
            batch.Clear();
            await Task.Run(() => Fill(batch, rows), cancellationToken);
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

    /// <summary>Runs one transaction in its turn; the task completes after the commit is on disk.</summary>
    /// <param name="work">Gets the writing connection and its transaction. Keeps neither and waits for nothing.</param>
    /// <param name="cancellationToken">Counts until the transaction begins.</param>
    /// <exception cref="DiskFullException">Nothing was written, because there is no room.</exception>
    public Task<T> WriteAsync<T>(Func<SqliteConnection, SqliteTransaction, T> work, CancellationToken cancellationToken) =>
        RequireOpen().RunAsync(work, cancellationToken);

    /// <summary>Closes the file when it has shown itself damaged, so that nobody reads it or writes over what can be saved.</summary>
    /// <remarks>Before anybody else uses it; it cannot be opened again.</remarks>
    public ValueTask CloseAsync() => DisposeAsync();

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        // Readers first: the last connection to close folds the log back into the file, and must be able to write.
        _readers.Dispose();
        if (Interlocked.Exchange(ref _writer, null) is { } writer)
            await writer.DisposeAsync();
    }

    private DatabaseWriter RequireOpen() =>
        Volatile.Read(ref _writer) ?? throw new InvalidOperationException("The database is not open.");

    private SqliteConnection Connect(SqliteOpenMode mode)
    {
        var text = new SqliteConnectionStringBuilder
        {
            DataSource = _folder.Database,
            Mode = mode,
            Pooling = false,
            DefaultTimeout = 5,
        };
        var connection = new SqliteConnection(text.ToString());
        try
        {
            connection.Open();
            Execute(connection, "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;");
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    private static void Execute(SqliteConnection connection, string sql)
    {
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }

    private static void Fill<T>(List<T> batch, IEnumerator<T> rows)
    {
        while (batch.Count < StreamBatch && rows.MoveNext())
            batch.Add(rows.Current);
    }

    /// <summary>A rented connection inside a read transaction; goes back to the pool only when all went well.</summary>
    private sealed class Snapshot : IDisposable
    {
        private readonly ReaderPool _pool;
        private readonly SqliteTransaction _transaction;
        private bool _completed;

        public Snapshot(ReaderPool pool)
        {
            _pool = pool;
            Connection = pool.Rent();
            _transaction = Connection.BeginTransaction(deferred: true);
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
