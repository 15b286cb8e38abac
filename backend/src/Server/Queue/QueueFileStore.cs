using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>Reads and writes <c>queue_file</c>. No row of it is removed here: each goes with the last of its items.</summary>
internal sealed class QueueFileStore(SluiceDatabase database)
{
    /// <summary>Where files below <c>/nzbs</c> name their bytes.</summary>
    public static readonly BlobReference RawReference = new("queue_file", "hash", "queue_file_hash") { IsNzb = false };

    private const string Columns =
        """
        id AS Id, folder AS Folder, name AS Name, hash AS Hash, length AS Length, packed AS Packed, added_at AS AddedMilliseconds,
        properties AS Properties
        """;

    /// <summary>Adds a file as part of the caller's transaction, which adds its items too.</summary>
    /// <returns>Its row.</returns>
    public static long Insert(DbConnection connection, QueueFile file) =>
        connection.ExecuteScalar<long>(
            """
            INSERT INTO queue_file (folder, name, hash, length, packed, added_at, properties)
            VALUES (@Folder, @Name, @Hash, @Length, @Packed, @AddedMilliseconds, @Properties)
            RETURNING id
            """,
            file);

    /// <summary>The file of a name, as part of the caller's transaction, or null.</summary>
    public static QueueFile? Find(DbConnection connection, string folder, string name) =>
        connection.QuerySingleOrDefault<QueueFile>(
            $"SELECT {Columns} FROM queue_file WHERE folder = @folder AND name = @name", new { folder, name });

    /// <summary>The file in which an item came, as part of the caller's transaction, or null.</summary>
    public static QueueFile? FindOf(DbConnection connection, string item) =>
        connection.QuerySingleOrDefault<QueueFile>(
            $"SELECT {Columns} FROM queue_file WHERE id = (SELECT file FROM queue_item WHERE queue_item.id = @item)", new { item });

    /// <summary>Whether a folder holds a file of this name, as part of the caller's transaction.</summary>
    public static bool Contains(DbConnection connection, string folder, string name) =>
        connection.ExecuteScalar<bool>(
            "SELECT EXISTS (SELECT 1 FROM queue_file WHERE folder = @folder AND name = @name)", new { folder, name });

    /// <summary>Whether the bytes of a file are those of a hash, as part of the caller's transaction.</summary>
    public static bool Uses(DbConnection connection, string hash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM queue_file WHERE hash = @hash)", new { hash });

    /// <summary>Gives a file another path, which is free, as part of the caller's transaction.</summary>
    public static void SetPlace(DbConnection connection, long id, string folder, string name) =>
        connection.Execute("UPDATE queue_file SET folder = @folder, name = @name WHERE id = @id", new { id, folder, name });

    /// <summary>The file of a name in a folder below <c>/nzbs</c>, or null.</summary>
    public Task<QueueFile?> FindAsync(string folder, string name, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => Find(connection, folder, name), cancellationToken);

    /// <summary>Folders below <c>/nzbs</c> that hold files, by name.</summary>
    public Task<IReadOnlyList<string>> ListFoldersAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)[.. connection.Query<string>("SELECT DISTINCT folder FROM queue_file ORDER BY folder")],
            cancellationToken);

    /// <summary>The files of a folder below <c>/nzbs</c>, by name.</summary>
    public IAsyncEnumerable<QueueFile> ListAsync(string folder, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection => connection.Query<QueueFile>(
                $"SELECT {Columns} FROM queue_file WHERE folder = @folder ORDER BY name", new { folder }, buffered: false),
            cancellationToken);

    /// <summary>Changes the properties that clients have stored about a file.</summary>
    /// <param name="id">Which.</param>
    /// <param name="change">Gives the new text for the old one, or null to leave it; runs while nothing else is written.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>Whether the file is there.</returns>
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
