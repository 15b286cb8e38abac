using System.Data.Common;
using Dapper;

namespace Sluice.Server.Database;

/// <summary>
/// A column that holds blob hashes or null, and an index that starts with it. A blob that no registered column names may be removed.
/// </summary>
internal sealed record BlobReference(string Table, string Column, string Index)
{
    /// <summary>Whether the column names NZBs, which must exist. Rows of other columns are complete without their blob.</summary>
    public bool IsNzb { get; init; } = true;

    /// <summary>Reads all hashes by the fastest plan, because every start counts them.</summary>
    public string Sql => $"SELECT {Column} FROM {Table} WHERE {Column} IS NOT NULL";

    /// <summary>Reads all hashes from the table itself, to compare them with the index.</summary>
    public string TableSql => $"SELECT {Column} FROM {Table} NOT INDEXED WHERE {Column} IS NOT NULL";

    public string IndexSql => $"SELECT {Column} FROM {Table} INDEXED BY {Index} WHERE {Column} IS NOT NULL";

    /// <summary>Keys of all blobs that rows of a table refer to, with repetitions (<see cref="BlobStore.KeyOf"/>).</summary>
    public static IEnumerable<UInt128> Read(DbConnection connection, BlobReference reference) =>
        connection.Query<string>(reference.Sql, buffered: false).Select(hash => BlobStore.KeyOf(hash));
}
