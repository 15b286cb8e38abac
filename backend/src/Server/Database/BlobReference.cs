using System.Data.Common;
using Dapper;

namespace Sluice.Server.Database;

/// <summary>A column of blob hashes or nulls, with an index that starts with this column. Blobs that no such column references may be removed.</summary>
internal sealed record BlobReference(string Table, string Column, string Index)
{
    /// <summary>Whether the column references NZBs, which must exist. Other blobs are optional: their rows are complete without them.</summary>
    public bool IsNzb { get; init; } = true;

    /// <summary>Reads all hashes, from an index if possible, because every startup counts them.</summary>
    public string Sql => $"SELECT {Column} FROM {Table} WHERE {Column} IS NOT NULL";

    /// <summary>Reads all hashes from the table alone, to detect a corrupt index.</summary>
    public string TableSql => $"SELECT {Column} FROM {Table} NOT INDEXED WHERE {Column} IS NOT NULL";

    public string IndexSql => $"SELECT {Column} FROM {Table} INDEXED BY {Index} WHERE {Column} IS NOT NULL";

    /// <summary>Reads the keys of all blobs that a table references, including duplicates (<see cref="BlobStore.KeyOf"/>).</summary>
    public static IEnumerable<UInt128> Read(DbConnection connection, BlobReference reference) =>
        connection.Query<string>(reference.Sql, buffered: false).Select(hash => BlobStore.KeyOf(hash));
}
