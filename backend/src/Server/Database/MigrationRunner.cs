using System.Globalization;
using System.Reflection;
using Dapper;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>
/// Brings a database to the version of this program: one transaction per step, its number in <c>user_version</c>, and a
/// copy of an existing database before the first of them (F35).
/// </summary>
internal sealed class MigrationRunner(IReadOnlyList<Migration> migrations, DataFolder folder)
{
    /// <summary>The version that this program works with.</summary>
    public int Latest => migrations.Count == 0 ? 0 : migrations[^1].Version;

    /// <summary>Runs the steps that are missing. Synchronous, because SQLite is.</summary>
    /// <returns>The version found before.</returns>
    /// <exception cref="StartRefusedException">The database was written by a newer program.</exception>
    public int Run(SqliteConnection connection)
    {
        var found = ReadVersion(connection);
        if (found > 0 && found < Latest)
            Copy(connection, found);

        foreach (var migration in migrations)
        {
            if (migration.Version > found)
                Apply(connection, migration);
        }

        return found;
    }

    /// <summary>The version of a database.</summary>
    /// <exception cref="StartRefusedException">It was written by a newer program, or its version is none that Sluice ever wrote.</exception>
    public int ReadVersion(SqliteConnection connection)
    {
        using var command = connection.CreateCommand();
        command.CommandText = "PRAGMA user_version";
        var found = Convert.ToInt32(command.ExecuteScalar(), CultureInfo.InvariantCulture);
        if (found < 0)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"{folder.Database} has version {found}, which no Sluice ever wrote; restore a copy from {folder.Backups}");
        }

        return found <= Latest
            ? found
            : throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"{folder.Database} was written by a newer Sluice (version {found}, this one knows {Latest}); install that one or restore a copy from {folder.Backups}");
    }

    /// <summary>The result of a query about the schema in a database of a version.</summary>
    public IReadOnlyList<string> SchemaOf(int version, string query)
    {
        using var connection = new SqliteConnection("Data Source=:memory:");
        connection.Open();
        SqlDialect.AddFunctions(connection);
        using var command = connection.CreateCommand();
        foreach (var migration in migrations.Where(migration => migration.Version <= version))
        {
            command.CommandText = migration.Sql;
            command.ExecuteNonQuery();
        }

        return [.. connection.Query<string>(query)];
    }

    private static void Apply(SqliteConnection connection, Migration migration)
    {
        Failpoint.Reach("migration-begins");
        using var transaction = new SqliteWork(connection, writes: true);
        using var command = connection.CreateCommand();
        // The version is part of the transaction: a kill leaves the step done with its number, or not done at all.
        command.CommandText = string.Create(CultureInfo.InvariantCulture, $"{migration.Sql}\n;PRAGMA user_version = {migration.Version};");
        command.ExecuteNonQuery();
        Failpoint.Reach("migration-done");
        transaction.Commit();
        Failpoint.Reach("migration-committed");
    }

    /// <summary>
    /// Copies through SQLite, because the file alone lacks the pages that are still in the write-ahead log. The name appears only
    /// when the copy is whole and on disk.
    /// </summary>
    private void Copy(SqliteConnection connection, int version)
    {
        Directory.CreateDirectory(folder.Backups);
        var target = Path.Combine(folder.Backups, string.Create(CultureInfo.InvariantCulture, $"before-migration-{version}-to-{Latest}.db"));
        var partial = target + ".partial";
        File.Delete(partial);
        CreatePrivate(partial);
        Failpoint.Reach("copy-begins");

        var destination = new SqliteConnectionStringBuilder { DataSource = partial, Pooling = false }.ToString();
        using (var copy = new SqliteConnection(destination))
        {
            copy.Open();
            connection.BackupDatabase(copy);
            Failpoint.Reach("copy-written");
        }

        using (var written = new FileStream(partial, FileMode.Open, FileAccess.ReadWrite))
            written.Flush(flushToDisk: true);

        Failpoint.Reach("copy-synced");
        File.Move(partial, target, overwrite: true);
        Failpoint.Reach("copy-named");
        PosixCalls.SyncFolder(folder.Backups);
    }

    private static void CreatePrivate(string path)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;

        new FileStream(path, options).Dispose();
    }
}

/// <summary>One step of the schema: plain SQL that leads to a version.</summary>
/// <param name="Version">The <c>user_version</c> after it; the steps count from 1 without a gap.</param>
/// <param name="Name">File name, for messages.</param>
/// <param name="Sql">Any number of statements, without BEGIN and COMMIT.</param>
internal sealed record Migration(int Version, string Name, string Sql)
{
    private const string Folder = "Sluice.Server.Database.Migrations.";

    /// <summary>The steps that are part of this program, in order.</summary>
    public static IReadOnlyList<Migration> LoadEmbedded()
    {
        var assembly = typeof(Migration).Assembly;
        return
        [
            .. assembly.GetManifestResourceNames()
                .Where(name => name.StartsWith(Folder, StringComparison.Ordinal))
                .Select(name => Load(assembly, name))
                .OrderBy(migration => migration.Version),
        ];
    }

    private static Migration Load(Assembly assembly, string resource)
    {
        using var reader = new StreamReader(assembly.GetManifestResourceStream(resource)!);
        var name = resource[Folder.Length..];
        return new Migration(int.Parse(name.AsSpan(0, 4), CultureInfo.InvariantCulture), name, reader.ReadToEnd());
    }
}
