using System.Data.Common;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>A copy of another program's SQLite database. The original is never opened, because even a read could checkpoint its log.</summary>
/// <remarks>Not thread-safe. Disposing deletes the copy.</remarks>
internal sealed class ForeignDatabase : IDisposable
{
    // SQLite needs these files to see the latest commits. It rebuilds the shared-memory index itself.
    private static readonly string[] Companions = ["-wal", "-journal"];

    private readonly SqliteConnection _connection;
    private readonly string _folder;

    private ForeignDatabase(SqliteConnection connection, string folder) => (_connection, _folder) = (connection, folder);

    public DbConnection Connection => _connection;

    /// <summary>Copies a database with its log and opens the copy.</summary>
    /// <exception cref="ForeignDatabaseException">The database is in use, or is not a database.</exception>
    /// <exception cref="StorageException">The copy cannot be written.</exception>
    public static async Task<ForeignDatabase> CopyAsync(string path, string folder, CancellationToken cancellationToken)
    {
        Discard(folder);
        try
        {
            RequireClosed(path);
            Directory.CreateDirectory(folder);
            var before = Marks(path);
            foreach (var file in Companions.Select(suffix => path + suffix).Prepend(path).Where(File.Exists))
                await CopyFileAsync(file, Path.Combine(folder, Path.GetFileName(file)), cancellationToken);
            if (!before.SequenceEqual(Marks(path)))
                throw new ForeignDatabaseException("The old database is being written to. Stop the old server first.");
            RequireClosed(path);
            return new ForeignDatabase(Open(Path.Combine(folder, Path.GetFileName(path))), folder);
        }
        catch (Exception e)
        {
            Discard(folder);
            throw e switch
            {
                SqliteException => new ForeignDatabaseException("The old database cannot be read: it is damaged, or no database.", e),
                IOException or UnauthorizedAccessException when StorageException.From(e, folder) is { } fault => fault,
                _ => e,
            };
        }
    }

    public void Dispose()
    {
        _connection.Dispose();
        Discard(_folder);
    }

    /// <summary>
    /// Throws if another process has the database open. SQLite then locks the log's shared memory and, during a read or write, also the database.
    /// </summary>
    private static void RequireClosed(string path)
    {
        if (PosixCalls.IsLockedByOther(path + "-shm") || PosixCalls.IsLockedByOther(path))
            throw new ForeignDatabaseException("The old server is still running and has its database open. Stop it first.");
    }

    private static SqliteConnection Open(string path)
    {
        var connection = new SqliteConnection(new SqliteConnectionStringBuilder { DataSource = path, Mode = SqliteOpenMode.ReadWrite, Pooling = false }.ToString());
        try
        {
            connection.Open();
            using var command = connection.CreateCommand();
            // Opening merges the log into the copy. The pragma prevents code in the schema, such as a function in a view, from running.
            command.CommandText = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; SELECT count(*) FROM sqlite_schema; PRAGMA query_only = ON;";
            command.ExecuteScalar();
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    private static List<(long Length, DateTime Written)> Marks(string path) =>
    [
        .. Companions.Select(suffix => path + suffix).Prepend(path).Select(name => new FileInfo(name))
            .Select(file => file.Exists ? (file.Length, file.LastWriteTimeUtc) : (-1, default)),
    ];

    private static async Task CopyFileAsync(string from, string to, CancellationToken cancellationToken)
    {
        await using var source = new FileStream(from, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete, 1 << 20, FileOptions.Asynchronous | FileOptions.SequentialScan);
        await using var copy = new FileStream(to, FileMode.CreateNew, FileAccess.Write, FileShare.None, 1 << 20, FileOptions.Asynchronous);
        await source.CopyToAsync(copy, cancellationToken);
    }

    private static void Discard(string folder)
    {
        if (Directory.Exists(folder))
            Directory.Delete(folder, recursive: true);
    }
}

/// <summary>Another program's database cannot be read. The message says why.</summary>
internal sealed class ForeignDatabaseException(string message, Exception? inner = null) : Exception(message, inner);
