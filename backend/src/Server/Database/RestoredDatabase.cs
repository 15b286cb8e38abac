using Dapper;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>Makes a restored database the owner of the stored NZBs.</summary>
internal static class RestoredDatabase
{
    /// <summary>
    /// Raises the database's epoch above the one next to the blobs, so that the replaced database counts as older. Keeps every stored NZB without a row
    /// (OPS-12). Then records the same values next to the blobs. May be repeated after a kill. No other connection may be open.
    /// </summary>
    /// <param name="references">All columns that contain NZB hashes.</param>
    /// <param name="stored">Keys of all stored NZBs.</param>
    /// <exception cref="StorageException">The database cannot be written.</exception>
    public static void Adopt(DataFolder folder, IEnumerable<BlobReference> references, IReadOnlySet<UInt128> stored)
    {
        try
        {
            var beside = BlobGeneration.Read(folder);
            BlobGeneration adopted;
            using (var connection = SluiceDatabase.Connect(folder.Database, SqliteOpenMode.ReadWrite))
            {
                connection.Execute("PRAGMA synchronous = FULL");
                using var transaction = new SqliteWork(connection, writes: true);
                var found = connection.QueryFirstOrDefault<BlobGeneration>("SELECT id AS Id, epoch AS Epoch FROM generation")
                    ?? new BlobGeneration(Guid.NewGuid().ToString("N"), 0);
                adopted = found with { Epoch = Math.Max(found.Epoch, (beside?.Epoch ?? 0) + 1), Numbers = RowNumbers.Read(connection) };
                connection.Execute("DELETE FROM generation; INSERT INTO generation (id, epoch) VALUES (@Id, @Epoch)", adopted);
                // A backup of an earlier version lacks the tables that came later.
                var present = references.Where(reference => SqlDialect.HasColumn(connection, reference.Table, reference.Column));
                var known = present.SelectMany(reference => BlobReference.Read(connection, reference)).ToHashSet();
                KeptNzbs.Add(connection, [.. stored.Where(key => !known.Contains(key))]);
                transaction.Commit();
            }

            Failpoint.Reach("restore-raised");
            adopted.Write(folder);
        }
        catch (Exception e) when (StorageException.From(e, folder.Database) is { } fault)
        {
            throw fault;
        }
    }
}
