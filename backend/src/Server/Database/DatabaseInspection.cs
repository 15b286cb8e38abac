using Dapper;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>The state of a database file, determined without writing to it.</summary>
internal sealed record DatabaseInspection
{
    private const string SchemaSql =
        "SELECT m.type || ' ' || m.name || ' ' || coalesce(c.name, '') FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) c";

    /// <summary>Whether the file is missing, has no bytes, or has no tables.</summary>
    public bool IsEmpty { get; init; }

    /// <summary>Why the file is unusable; null if it is usable.</summary>
    public string? Damage { get; init; }

    /// <summary>Generation and epoch; null if an older version wrote the database.</summary>
    public BlobGeneration? Generation { get; init; }

    /// <summary>The highest row numbers; null if the database has no numbered tables.</summary>
    public RowNumbers? Numbers { get; init; }

    public int Referenced { get; init; }

    /// <summary>Keys of stored NZBs that no row references.</summary>
    public IReadOnlyCollection<UInt128> Unreferenced { get; init; } = [];

    /// <summary>Hashes of referenced NZBs that are not stored.</summary>
    public IReadOnlyList<string> Missing { get; init; } = [];

    /// <summary>Hashes that were already reported missing at an earlier startup.</summary>
    public IReadOnlySet<string> KnownLost { get; init; } = new HashSet<string>();

    /// <summary>Number of missing NZBs that no earlier startup reported.</summary>
    public int NewlyMissing => Missing.Count(hash => !KnownLost.Contains(hash));

    /// <summary>Inspects a database. Never opens an empty file, because SQLite would recreate it and discard its log.</summary>
    /// <exception cref="StartRefusedException">A newer program wrote the file.</exception>
    /// <exception cref="SqliteException">The file cannot be read for an external reason.</exception>
    public static DatabaseInspection Run(
        string path, MigrationRunner migrations, IEnumerable<BlobReference> references, IReadOnlySet<UInt128> stored)
    {
        if (new FileInfo(path) is not { Exists: true, Length: > 0 } && !Directory.Exists(path))
            return new DatabaseInspection { IsEmpty = true, Unreferenced = stored };

        try
        {
            using var connection = SluiceDatabase.Connect(path, SqliteOpenMode.ReadOnly);
            using var snapshot = new SqliteWork(connection, writes: false);
            var version = migrations.ReadVersion(connection);
            var found = connection.Query<string>(SchemaSql).ToHashSet();
            if (version == 0 && found.Count == 0)
                return new DatabaseInspection { IsEmpty = true, Unreferenced = stored };
            if (migrations.SchemaOf(version, SchemaSql).FirstOrDefault(part => !found.Contains(part)) is { } lacking)
                return new DatabaseInspection { Damage = $"it lacks {lacking.TrimEnd()}, which version {version} has" };
            return Inspect(connection, found, references, stored);
        }
        catch (SqliteException e) when (SafeMode.IsDamage(e) || e.SqliteErrorCode is raw.SQLITE_ERROR or raw.SQLITE_FORMAT)
        {
            return new DatabaseInspection { Damage = e.Message };
        }
    }

    private static DatabaseInspection Inspect(
        SqliteConnection connection, HashSet<string> schema, IEnumerable<BlobReference> references, IReadOnlySet<UInt128> stored)
    {
        var hasGeneration = schema.Contains("table generation id");
        var referenced = new HashSet<UInt128>();
        var missing = new HashSet<string>();
        // A database written by an earlier version may lack some tables.
        var asked = references.Where(reference => reference.IsNzb && schema.Contains($"table {reference.Table} {reference.Column}"));
        foreach (var hash in asked.SelectMany(reference => connection.Query<string>(reference.Sql, buffered: false)))
        {
            var key = BlobStore.KeyOf(hash);
            if (referenced.Add(key) && !stored.Contains(key))
                missing.Add(hash);
        }

        return new DatabaseInspection
        {
            Generation = hasGeneration ? connection.QueryFirstOrDefault<BlobGeneration>("SELECT id AS Id, epoch AS Epoch FROM generation") : null,
            Numbers = schema.Contains("table sqlite_sequence seq") ? RowNumbers.Read(connection) : null,
            Referenced = referenced.Count,
            Unreferenced = [.. stored.Where(key => !referenced.Contains(key))],
            Missing = [.. missing],
            KnownLost = hasGeneration ? connection.Query<string>("SELECT hash FROM lost_nzb").ToHashSet() : [],
        };
    }
}
