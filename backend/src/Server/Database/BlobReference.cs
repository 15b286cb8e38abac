namespace Sluice.Server.Database;

/// <summary>A column whose rows refer to blobs; each store registers its own. A blob that no such row names may be removed.</summary>
/// <param name="Table">Name of the table.</param>
/// <param name="Column">Holds the hash of a blob, or null.</param>
/// <param name="Index">Index that begins with the column.</param>
internal sealed record BlobReference(string Table, string Column, string Index)
{
    /// <summary>Whether the column names NZBs, which must not be missing. Rows of other columns are complete without their blob.</summary>
    public bool IsNzb { get; init; } = true;

    /// <summary>Reads every hash the fastest way, for the counts of a start.</summary>
    public string Sql => $"SELECT {Column} FROM {Table} WHERE {Column} IS NOT NULL";

    /// <summary>Reads every hash from the table itself; null does not occur.</summary>
    public string TableSql => $"SELECT {Column} FROM {Table} NOT INDEXED WHERE {Column} IS NOT NULL";

    /// <summary>Reads the same from the index.</summary>
    public string IndexSql => $"SELECT {Column} FROM {Table} INDEXED BY {Index} WHERE {Column} IS NOT NULL";
}
