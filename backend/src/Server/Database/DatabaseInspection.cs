using Dapper;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>The state of a database file, read without writing to it.</summary>
internal sealed record DatabaseInspection
{
    private const string SchemaSql =
        "SELECT m.type || ' ' || m.name || ' ' || coalesce(c.name, '') FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) c";

    /// <summary>The file is absent, has no byte, or was never given a table.</summary>
    public bool IsEmpty { get; init; }

    /// <summary>Why it cannot be used; null for a sound look.</summary>
    public string? Damage { get; init; }

    /// <summary>Generation and epoch; null in one that is older than these.</summary>
    public BlobGeneration? Generation { get; init; }

    /// <summary>How far its rows have come; null if it has no numbered tables.</summary>
    public RowNumbers? Numbers { get; init; }

    /// <summary>How many NZBs rows refer to.</summary>
    public int Referenced { get; init; }

    /// <summary>Keys of the stored NZBs that no row refers to.</summary>
    public IReadOnlyCollection<UInt128> Unreferenced { get; init; } = [];

    /// <summary>Hashes of the referenced NZBs that are not stored.</summary>
    public IReadOnlyList<string> Missing { get; init; } = [];

    /// <summary>Hashes that an earlier start has missed.</summary>
    public IReadOnlySet<string> KnownLost { get; init; } = new HashSet<string>();

    /// <summary>How many are missed that no start has missed before.</summary>
    public int NewlyMissing => Missing.Count(hash => !KnownLost.Contains(hash));

    /// <summary>Looks at a database. SQLite itself would take an empty file for a new database and throw away the log beside it.</summary>
    /// <param name="path">The file.</param>
    /// <param name="migrations">Know the tables of each version.</param>
    /// <param name="references">Where rows refer to NZBs.</param>
    /// <param name="stored">Keys of the NZBs that are stored.</param>
    /// <exception cref="StartRefusedException">The file was written by a newer program.</exception>
    /// <exception cref="SqliteException">The file cannot be read, for a reason that is not in it.</exception>
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
            return Look(connection, found, references, stored);
        }
        catch (SqliteException e) when (SafeMode.IsDamage(e) || e.SqliteErrorCode is raw.SQLITE_ERROR or raw.SQLITE_FORMAT)
        {
            return new DatabaseInspection { Damage = e.Message };
        }
    }

    private static DatabaseInspection Look(
        SqliteConnection connection, HashSet<string> schema, IEnumerable<BlobReference> references, IReadOnlySet<UInt128> stored)
    {
        var hasGeneration = schema.Contains("table generation id");
        var referenced = new HashSet<UInt128>();
        var missing = new HashSet<string>();
        // A database of an earlier version may lack a table that this one refers from.
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
