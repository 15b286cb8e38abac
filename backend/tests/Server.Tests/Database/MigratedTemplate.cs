using System.Globalization;
using System.Text;
using Dapper;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;

namespace Sluice.Server.Tests.Database;

/// <summary>
/// All migrations as one step, read once per process from a migrated database. Tests that open a new database run this step in one
/// transaction instead of one for each migration. They cannot copy a file, because the server would not treat it as new next to
/// existing blobs.
/// </summary>
internal static class MigratedTemplate
{
    // The id of an installation is random, so each database generates its own as in the migration.
    private const string InstanceId = "INSERT INTO instance (id) VALUES (lower(hex(randomblob(4))));";

    private static readonly Lazy<Migration> Step = new(Read);

    /// <summary>Returns a runner with the template for a new database, or the real one, which upgrades older versions.</summary>
    public static MigrationRunner RunnerFor(DataFolder folder) => new(Path.Exists(folder.Database) ? Migration.LoadEmbedded() : [Step.Value], folder);

    /// <summary>Makes a server in this process use the template.</summary>
    public static void AddTo(IServiceCollection services, string folder) => services.AddSingleton(RunnerFor(new DataFolder(folder)));

    private static Migration Read()
    {
        using var connection = new SqliteConnection("Data Source=:memory:");
        connection.Open();
        SqlDialect.AddFunctions(connection);
        var migrations = Migration.LoadEmbedded();
        foreach (var migration in migrations)
            connection.Execute(migration.Sql);

        var schema = connection.Query<(string Type, string Name, string Sql)>(
            "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").ToList();
        // Tables, then rows, then triggers and indexes, because a trigger would count the rows again.
        var script = new StringBuilder();
        foreach (var (type, name, sql) in schema)
        {
            if (type == "table" && !name.StartsWith("sqlite_", StringComparison.Ordinal))
                script.Append(sql).Append(";\n");
        }

        foreach (var (_, name, _) in schema.Where(part => part.Type == "table"))
            script.Append(name == "instance" ? InstanceId : RowsOf(connection, name)).Append('\n');
        foreach (var (_, _, sql) in schema.Where(part => part.Type != "table"))
            script.Append(sql).Append(";\n");
        return new Migration(migrations[^1].Version, "all migrations", script.ToString());
    }

    private static string RowsOf(SqliteConnection connection, string table)
    {
        var columns = connection.Query<string>($"SELECT name FROM pragma_table_info('{table}')").ToList();
        var values = string.Join(" || ',' || ", columns.Select(column => $"quote(\"{column}\")"));
        var rows = connection.Query<string>($"SELECT {values} FROM \"{table}\"");
        return string.Join('\n', rows.Select(row => string.Create(
            CultureInfo.InvariantCulture, $"INSERT INTO \"{table}\" ({string.Join(',', columns.Select(column => $"\"{column}\""))}) VALUES ({row});")));
    }
}
