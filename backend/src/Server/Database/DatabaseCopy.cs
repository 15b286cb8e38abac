using System.Data.Common;
using System.Globalization;
using Dapper;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>
/// A complete copy of the database in one closed file, such as a backup. Reads change neither the file nor its folder, so read-only media work. If another
/// process writes to the copy meanwhile, results are wrong.
/// </summary>
/// <remarks>Not thread-safe. Every call blocks. A damaged file throws <see cref="SqliteException"/> or is reported as a flaw.</remarks>
internal sealed class DatabaseCopy : IDisposable
{
    private const int MaxTables = 1000;

    private readonly SqliteConnection _connection;

    private DatabaseCopy(SqliteConnection connection) => _connection = connection;

    /// <summary>Returns the version of the copy's last migration.</summary>
    public int ReadVersion() => _connection.ExecuteScalar<int>("PRAGMA user_version");

    /// <summary>Returns the id of the installation; null if an older version wrote the database.</summary>
    public string? ReadInstance() => Has("instance", "id") ? _connection.QueryFirstOrDefault<string>("SELECT id FROM instance") : null;

    /// <summary>Returns the generation; null if an older version wrote the database.</summary>
    public BlobGeneration? ReadGeneration() =>
        Has("generation", "epoch") ? _connection.QueryFirstOrDefault<BlobGeneration>("SELECT id AS Id, epoch AS Epoch FROM generation") : null;

    public RowNumbers ReadNumbers() => RowNumbers.Read(_connection);

    /// <summary>Opens a copy without locking it.</summary>
    /// <exception cref="SqliteException">The file cannot be opened or is not a database.</exception>
    public static DatabaseCopy Open(string path)
    {
        // Immutable, because SQLite then needs no lock or shared memory, even if the header names the write-ahead log.
        var uri = $"file:{Uri.EscapeDataString(Path.GetFullPath(path)).Replace("%2F", "/", StringComparison.Ordinal)}?immutable=1";
        var connection = new SqliteConnection(new SqliteConnectionStringBuilder { DataSource = uri, Mode = SqliteOpenMode.ReadOnly, Pooling = false }.ToString());
        try
        {
            connection.Open();
            SqlDialect.AddFunctions(connection);
            using var command = connection.CreateCommand();
            // Do not run code in the schema, because the file may come from another machine.
            command.CommandText = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; SELECT count(*) FROM sqlite_schema; PRAGMA query_only = ON;";
            command.ExecuteScalar();
            return new DatabaseCopy(connection);
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    /// <summary>Opens the current database read-only, even while a server uses it. In that case, only <see cref="Read"/> may be called.</summary>
    /// <exception cref="SqliteException">The file cannot be opened or is not a database.</exception>
    public static DatabaseCopy OpenPresent(DataFolder folder) => new(SluiceDatabase.Connect(folder.Database, SqliteOpenMode.ReadOnly));

    /// <summary>Checks every page, index and foreign key. Returns the first flaw, or null if the copy is intact.</summary>
    public string? FindFlaw(CancellationToken cancellationToken)
    {
        using var stop = cancellationToken.Register(() => raw.sqlite3_interrupt(_connection.Handle));
        try
        {
            if (_connection.ExecuteScalar<string>("PRAGMA integrity_check(1)") is not "ok" and var flaw)
                return $"the database is damaged: {flaw?.ReplaceLineEndings(" ")}";
            using var command = _connection.CreateCommand();
            command.CommandText = "PRAGMA foreign_key_check";
            using var rows = command.ExecuteReader();
            return rows.Read() ? $"a row of table {rows.GetString(0)} refers to a row that does not exist" : null;
        }
        catch (SqliteException e) when (e.SqliteErrorCode == raw.SQLITE_INTERRUPT)
        {
            throw new OperationCanceledException("The check was canceled.", e, cancellationToken);
        }
        catch (SqliteException e)
        {
            return $"the database is damaged: {e.Message}";
        }
    }

    /// <summary>Returns the number of rows in each table, sorted by table name.</summary>
    public SortedDictionary<string, long> CountRows() => CountRows(_connection);

    /// <summary>Returns the number of rows in each table of any database, sorted by table name.</summary>
    public static SortedDictionary<string, long> CountRows(DbConnection connection)
    {
        var counts = new SortedDictionary<string, long>(StringComparer.Ordinal);
        var names = connection.Query<string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").Take(MaxTables);
        foreach (var name in names)
        {
            using var command = connection.CreateCommand();
            command.CommandText = string.Create(CultureInfo.InvariantCulture, $"SELECT count(*) FROM \"{name.Replace("\"", "\"\"", StringComparison.Ordinal)}\"");
            counts[name] = Convert.ToInt64(command.ExecuteScalar(), CultureInfo.InvariantCulture);
        }

        return counts;
    }

    /// <summary>Reads the hashes in these references, including duplicates. Skips tables that the copy does not have yet.</summary>
    public IEnumerable<string> HashesOf(IEnumerable<BlobReference> references) =>
        references.Where(reference => Has(reference.Table, reference.Column)).SelectMany(reference => _connection.Query<string>(reference.Sql, buffered: false));

    /// <summary>Returns the hashes of NZBs that were missing when the database was last opened.</summary>
    public HashSet<string> LostNzbs() => Has("lost_nzb", "hash") ? [.. _connection.Query<string>("SELECT hash FROM lost_nzb")] : [];

    public T Read<T>(Func<DbConnection, T> query) => query(_connection);

    public void Dispose() => _connection.Dispose();

    private bool Has(string table, string column) => SqlDialect.HasColumn(_connection, table, column);
}
