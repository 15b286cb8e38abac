using System.Globalization;
using System.Reflection;
using Dapper;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>Migrates a database after copying it (F35). Each step is one transaction, which also sets <c>user_version</c>.</summary>
internal sealed class MigrationRunner(IReadOnlyList<Migration> migrations, DataFolder folder)
{
    private const int KeptCopies = 3;

    public int Latest => migrations.Count == 0 ? 0 : migrations[^1].Version;

    /// <summary>Runs the missing steps and returns the previous version. Synchronous, because SQLite is synchronous.</summary>
    /// <exception cref="StartRefusedException">A newer program wrote the database.</exception>
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

    /// <exception cref="NewerDatabaseException">A newer program wrote the database.</exception>
    /// <exception cref="StartRefusedException">Its version is not a version of Sluice.</exception>
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

        return found <= Latest ? found : throw new NewerDatabaseException(folder.Database, found, Latest, $"restore a copy from {folder.Backups}");
    }

    /// <summary>Runs a schema query on an empty database migrated to a version.</summary>
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
        // Set the version in the same transaction, so that a step and its number are always committed together.
        command.CommandText = string.Create(CultureInfo.InvariantCulture, $"{migration.Sql}\n;PRAGMA user_version = {migration.Version};");
        command.ExecuteNonQuery();
        Failpoint.Reach("migration-done");
        transaction.Commit();
        Failpoint.Reach("migration-committed");
    }

    /// <summary>Copies through SQLite, because recent pages may be only in the log. The copy gets its final name once it is on disk.</summary>
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
            PosixCalls.SyncFile(written);

        Failpoint.Reach("copy-synced");
        File.Move(partial, target, overwrite: true);
        Failpoint.Reach("copy-named");
        PosixCalls.SyncFolder(folder.Backups);
        DeleteOldCopies();
    }

    /// <summary>Keeps the copies made before the last migrations (OPS-6). Sorts by the versions in their names, because clocks may be wrong.</summary>
    private void DeleteOldCopies()
    {
        try
        {
            foreach (var path in Directory.GetFiles(folder.Backups, "before-migration-*-to-*.db")
                .Where(path => VersionsOf(path) is not null).OrderByDescending(VersionsOf).Skip(KeptCopies))
                File.Delete(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // An old copy only wastes space, and the next migration retries.
        }
    }

    /// <summary>Returns the versions after and before a migration; null for a file of the operator.</summary>
    private static (int To, int From)? VersionsOf(string path) =>
        Path.GetFileNameWithoutExtension(path).Split('-') is ["before", "migration", var from, "to", var to]
        && int.TryParse(from, NumberStyles.None, CultureInfo.InvariantCulture, out var before) && int.TryParse(to, NumberStyles.None, CultureInfo.InvariantCulture, out var after)
            ? (after, before)
            : null;

    private static void CreatePrivate(string path)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;

        new FileStream(path, options).Dispose();
    }
}

/// <summary>One schema step: SQL statements without BEGIN and COMMIT. Versions count from 1 without gaps.</summary>
internal sealed record Migration(int Version, string Name, string Sql)
{
    private const string Folder = "Sluice.Server.Database.Migrations.";

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
