using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>Stores <c>queue_file</c>. It deletes no rows, because a trigger deletes each file with its last item.</summary>
internal sealed class QueueFileStore(SluiceDatabase database)
{
    public static readonly BlobReference RawReference = new("queue_file", "hash", "queue_file_hash") { IsNzb = false };

    private const string Columns =
        """
        id AS Id, folder AS Folder, name AS Name, hash AS Hash, length AS Length, packed AS Packed, added_at AS AddedMilliseconds,
        properties AS Properties
        """;

    /// <summary>Adds a file in the caller's transaction, which must also add its items. Returns the row number.</summary>
    public static long Insert(DbConnection connection, QueueFile file) =>
        connection.ExecuteScalar<long>(
            """
            INSERT INTO queue_file (folder, name, hash, length, packed, added_at, properties)
            VALUES (@Folder, @Name, @Hash, @Length, @Packed, @AddedMilliseconds, @Properties)
            RETURNING id
            """,
            file);

    /// <summary>Adds a file for an NZB without one, named after its item, with a number if the name is taken. Returns the row number.</summary>
    public static long InsertFor(DbConnection connection, QueueItem item) => Insert(connection, new QueueFile
    {
        Folder = item.Folder,
        Name = FindFree(connection, item.Folder, item.Name, null),
        Hash = item.NzbHash,
        Length = item.NzbLength,
        AddedAt = item.AddedAt,
    });

    /// <summary>Returns a name for the file of an item, with a number if another file has the name.</summary>
    /// <param name="except">Row of a file whose own name counts as free, or null.</param>
    public static string FindFree(DbConnection connection, string folder, string item, long? except) => QueueFile.NameOf(
        ReleaseName.FindFree(item, name => Find(connection, folder, QueueFile.NameOf(name)) is { } other && other.Id != except));

    public static QueueFile? Find(DbConnection connection, string folder, string name) =>
        connection.QuerySingleOrDefault<QueueFile>(
            $"SELECT {Columns} FROM queue_file WHERE folder = @folder AND name = @name", new { folder, name });

    public static QueueFile? FindOf(DbConnection connection, string item) =>
        connection.QuerySingleOrDefault<QueueFile>(
            $"SELECT {Columns} FROM queue_file WHERE id = (SELECT file FROM queue_item WHERE queue_item.id = @item)", new { item });

    public static bool Contains(DbConnection connection, string folder, string name) =>
        connection.ExecuteScalar<bool>(
            "SELECT EXISTS (SELECT 1 FROM queue_file WHERE folder = @folder AND name = @name)", new { folder, name });

    public static bool Uses(DbConnection connection, string hash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM queue_file WHERE hash = @hash)", new { hash });

    /// <summary>Moves a file to a free path.</summary>
    public static void SetPlace(DbConnection connection, long id, string folder, string name) =>
        connection.Execute("UPDATE queue_file SET folder = @folder, name = @name WHERE id = @id", new { id, folder, name });

    public Task<QueueFile?> FindAsync(string folder, string name, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => Find(connection, folder, name), cancellationToken);

    /// <summary>Returns the folders that contain files, by name.</summary>
    public Task<IReadOnlyList<string>> ListFoldersAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)[.. connection.Query<string>("SELECT DISTINCT folder FROM queue_file ORDER BY folder")],
            cancellationToken);

    public IAsyncEnumerable<QueueFile> ListAsync(string folder, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection => connection.Query<QueueFile>(
                $"SELECT {Columns} FROM queue_file WHERE folder = @folder ORDER BY name", new { folder }, buffered: false),
            cancellationToken);

    /// <summary>Changes the WebDAV properties that clients have stored. Returns whether the file exists.</summary>
    /// <param name="change">Returns the new text for the old one, or null for no change. Runs in the transaction.</param>
    public Task<bool> ChangePropertiesAsync(long id, Func<string, string?> change, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection =>
            {
                var old = connection.QuerySingleOrDefault<string>("SELECT properties FROM queue_file WHERE id = @id", new { id });
                if (old is not null && change(old) is { } properties)
                    connection.Execute("UPDATE queue_file SET properties = @properties WHERE id = @id", new { id, properties });
                return old is not null;
            },
            cancellationToken);
}
