using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

/// <summary>The template equals the migrations.</summary>
public sealed class MigratedTemplateTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Template_has_the_schema_and_rows_of_the_migrations()
    {
        var migrated = Content(new MigrationRunner(Migration.LoadEmbedded(), _temporary.Folder));
        var copied = Content(MigratedTemplate.RunnerFor(_temporary.Folder));

        Assert.NotEmpty(migrated);
        Assert.Equal(migrated, copied);
    }

    [Fact]
    public async Task Database_of_an_older_version_runs_the_migrations()
    {
        await using (_temporary.OpenDatabase([.. Migration.LoadEmbedded().Take(5)]))
        {
            // Disposing closes the database.
        }

        var runner = MigratedTemplate.RunnerFor(_temporary.Folder);
        using var connection = SluiceDatabase.Connect(_temporary.Folder.Database, SqliteOpenMode.ReadWrite);

        Assert.Equal(5, runner.Run(connection));
        Assert.Equal(runner.Latest, runner.ReadVersion(connection));
    }

    [Fact]
    public async Task Each_new_database_has_a_unique_id()
    {
        using var other = new TemporaryFolder();
        await using var first = _temporary.OpenDatabase();
        await using var second = other.OpenDatabase();

        Assert.NotEqual(await IdAsync(first), await IdAsync(second));
    }

    private static Task<string> IdAsync(SluiceDatabase database) =>
        database.ReadAsync(connection => connection.QuerySingle<string>("SELECT id FROM instance"), TestContext.Current.CancellationToken);

    /// <summary>Returns the version, the schema and the rows of each table.</summary>
    private static List<string> Content(MigrationRunner runner)
    {
        using var connection = new SqliteConnection("Data Source=:memory:");
        connection.Open();
        SqlDialect.AddFunctions(connection);
        runner.Run(connection);
        var content = connection.Query<string>("SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema").Order(StringComparer.Ordinal).ToList();
        foreach (var table in connection.Query<string>("SELECT name FROM sqlite_schema WHERE type = 'table'").Order(StringComparer.Ordinal).ToList())
        {
            content.AddRange(connection.Query($"SELECT * FROM \"{table}\"").Cast<IDictionary<string, object?>>()
                .Select(row => $"{table}: {string.Join(", ", row.Where(_ => table != "instance").Select(cell => $"{cell.Key}={cell.Value}"))}"));
        }

        content.Add($"version {runner.ReadVersion(connection)}");
        return content;
    }
}
