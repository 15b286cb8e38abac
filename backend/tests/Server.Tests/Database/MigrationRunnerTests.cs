using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class MigrationRunnerTests : IDisposable
{
    private static readonly Migration First = new(1, "0001_a.sql", "CREATE TABLE a (x INTEGER);\nINSERT INTO a VALUES (7);");
    private static readonly Migration Second = new(2, "0002_b.sql", "CREATE TABLE b (x INTEGER);\nINSERT INTO b SELECT x FROM a; -- the end");
    private static readonly Migration Broken = new(3, "0003_c.sql", "CREATE TABLE c (x INTEGER); INSERT INTO missing VALUES (1);");

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Embedded_migrations_are_numbered_from_one_without_gaps()
    {
        var migrations = Migration.LoadEmbedded();

        Assert.NotEmpty(migrations);
        Assert.Equal(Enumerable.Range(1, migrations.Count), migrations.Select(migration => migration.Version));
    }

    [Fact]
    public async Task New_database_runs_every_migration_without_a_backup()
    {
        await using var database = _temporary.OpenDatabase(First, Second);

        Assert.Equal((2, 7), await database.ReadAsync(
            connection => (connection.ExecuteScalar<int>("PRAGMA user_version"), connection.ExecuteScalar<int>("SELECT x FROM b")), Token));
        Assert.Empty(Directory.GetFiles(_temporary.Folder.Backups));
    }

    [Fact]
    public async Task Upgrade_gives_old_queue_items_an_NZB_file_named_after_them()
    {
        await using (var before = _temporary.OpenDatabase([.. Migration.LoadEmbedded().Take(7)]))
        {
            await before.WriteAsync(
                connection => connection.Execute(
                    """
                    INSERT INTO queue_item VALUES
                      ('b', 1, 'Rel (2)', 'Rel.nzb', 'tv', 'tv', 0, 0, 'pw', -1, '', 'hash-b', 20, 200, NULL, 2000, ''),
                      ('a', 2, 'Rel', 'Rel.nzb', 'tv', 'tv', 0, 1, '', -1, '', 'hash-a', 10, 100, 5000, 1000, '[stored]'),
                      ('c', 3, 'Rel', 'Rel.nzb', '*', 'uncategorized', 1, 0, '', 2, 's', 'hash-a', 10, 100, NULL, 3000, '')
                    """),
                Token);
        }

        await using var database = _temporary.OpenDatabase();

        var files = await new QueueFileStore(database).ListAsync("tv", Token).ToListAsync(Token);
        Assert.Equal(
            [("Rel (2).nzb", "hash-b", 20L, "", 2000L), ("Rel.nzb", "hash-a", 10L, "[stored]", 1000L)],
            files.Select(file => (file.Name, file.Hash, file.Length, file.Properties, file.AddedMilliseconds)));
        var items = await new QueueStore(database).StreamAsync(new QueueFilter(), 0, 0, Token).ToListAsync(Token);
        Assert.Equal(["c", "b", "a"], items.Select(item => item.Id));
        // Only the name of the file has the number.
        Assert.Equal(("Rel", "pw", 200, 2000L), (items[1].Name, items[1].Password, items[1].EncodedBytes, items[1].AddedMilliseconds));
        await database.WriteAsync(connection => QueueStore.Remove(connection, "a"), Token);
        Assert.Equal(["Rel (2).nzb"], await new QueueFileStore(database).ListAsync("tv", Token).Select(file => file.Name).ToListAsync(Token));
    }

    [Fact]
    public async Task Upgrade_copies_category_and_time_of_a_release_to_its_files()
    {
        await using (var before = _temporary.OpenDatabase([.. Migration.LoadEmbedded().Take(22)]))
        {
            await before.WriteAsync(
                connection => connection.Execute(
                    """
                    INSERT INTO release (id, category, name, nzb_hash, published_at) VALUES (1, 'tv', 'A', '', 5000), (2, 'movies', 'B', '', 6000);
                    INSERT INTO library_file (id, release_id, path_key, length, etag, content) VALUES ('a', 1, 'a.mkv', 1, '', x''), ('b', 2, 'b.mkv', 1, '', x'');
                    """),
                Token);
        }

        await using var database = _temporary.OpenDatabase();

        var files = await database.ReadAsync(
            connection => connection.Query<string>("SELECT id || ' ' || category || ' ' || published_at FROM library_file ORDER BY id").ToList(), Token);
        Assert.Equal(["a tv 5000", "b movies 6000"], files);
    }

    [Fact]
    public async Task Upgrade_separates_item_names_from_their_folders()
    {
        await using (var before = _temporary.OpenDatabase([.. Migration.LoadEmbedded().Take(31)]))
        {
            await before.WriteAsync(
                connection => connection.Execute(
                    """
                    INSERT INTO release (id, category, name, nzb_hash, published_at) VALUES (1, 'tv', 'A (2)', '', 5000), (2, 'tv', 'B (1994)', '', 6000);
                    INSERT INTO history_item (id, name, nzb_name, category, folder, priority, password, post_processing, script, encoded_bytes, bytes,
                      release_id, reason, fail_message, added_at, started_at, completed_at, steps, folded)
                    VALUES ('a', 'A (2)', 'A.nzb', 'tv', 'tv', 0, '', -1, '', 0, 0, 1, NULL, '', 0, 0, 0, '[]', 'a (2)'),
                      ('b', 'B (1994)', 'B.nzb', 'tv', 'tv', 0, '', -1, '', 0, 0, 2, NULL, '', 0, 0, 0, '[]', ''),
                      ('c', 'C (12)', 'C.nzb', 'tv', 'tv', 0, '', -1, '', 0, 0, NULL, 'DeadPost', '', 0, 0, 0, '[]', '');
                    """),
                Token);
        }

        await using var database = _temporary.OpenDatabase();

        var items = await database.ReadAsync(
            connection => connection.Query<string>(
                "SELECT name || '|' || folded || '|' || release_folder || '|' || coalesce(strm_root, 'unknown') FROM history_item ORDER BY id").ToList(),
            Token);
        Assert.Equal(["A|a|A (2)|unknown", "B (1994)|b (1994)|B (1994)|unknown", "C|c||unknown"], items);
    }

    [Theory]
    [InlineData(true, 1)]
    [InlineData(false, 0)]
    public async Task Upgrade_marks_maps_as_estimates_if_a_server_was_migrated(bool hasMoved, int estimated)
    {
        await using (var before = _temporary.OpenDatabase([.. Migration.LoadEmbedded().Take(32)]))
        {
            // The release was published after the start of the import.
            await before.WriteAsync(
                connection => connection.Execute(
                    """
                    INSERT INTO release (id, category, name, nzb_hash, published_at) VALUES (1, 'tv', 'A', '', 9000);
                    INSERT INTO posted_file (release_id, ordinal, places, map) VALUES (1, 0, x'', x''), (1, 1, x'', x'');
                    INSERT INTO family_import (id, started_at, finished_at, report) SELECT 1, 5000, 6000, '{}' WHERE @hasMoved;
                    """,
                    new { hasMoved }),
                Token);
        }

        await using var database = _temporary.OpenDatabase();

        Assert.Equal([estimated, estimated], await database.ReadAsync(
            connection => connection.Query<int>("SELECT estimated FROM posted_file ORDER BY ordinal").ToList(), Token));
        Assert.Equal(hasMoved ? 0 : null, await database.ReadAsync(connection => connection.ExecuteScalar<int?>("SELECT healed FROM family_import"), Token));
    }

    [Theory]
    [InlineData("", null)]
    [InlineData("INSERT INTO setting (key, value, secret) VALUES ('api.key', 'k', 1)", "/mnt/nzbdav")]
    [InlineData("INSERT INTO setting (key, value, secret) VALUES ('rclone.mount-dir', '/srv/films', 0)", "/srv/films")]
    public async Task Upgrade_keeps_the_mount_folder(string before, string? folder)
    {
        await using (var old = _temporary.OpenDatabase([.. Migration.LoadEmbedded().Take(38)]))
            await old.WriteAsync(connection => connection.Execute(before + ";"), Token);

        await using var database = _temporary.OpenDatabase();

        Assert.Equal(folder, await database.ReadAsync(
            connection => connection.ExecuteScalar<string?>("SELECT value FROM setting WHERE key = 'rclone.mount-dir'"), Token));
    }

    [Fact]
    public async Task Existing_database_is_backed_up_before_migration()
    {
        await _temporary.OpenDatabase(First).DisposeAsync();

        await using var database = _temporary.OpenDatabase(First, Second);

        var copy = Assert.Single(Directory.GetFiles(_temporary.Folder.Backups));
        Assert.Equal("before-migration-1-to-2.db", Path.GetFileName(copy));
        await using var connection = new SqliteConnection($"Data Source={copy};Mode=ReadOnly;Pooling=False");
        Assert.Equal(1, connection.ExecuteScalar<int>("PRAGMA user_version"));
        Assert.Equal(7, connection.ExecuteScalar<int>("SELECT x FROM a"));
        if (!OperatingSystem.IsWindows())
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(copy));
    }

    [Fact]
    public async Task OPS_6_Copies_of_the_last_three_migrations_are_kept()
    {
        Migration[] all = [First, Second, .. Enumerable.Range(3, 10).Select(version => new Migration(version, $"{version}", $"CREATE TABLE t{version} (x)"))];
        var mine = Path.Combine(_temporary.Folder.Backups, "before-migration-of-mine-to-1.db");
        await File.WriteAllTextAsync(mine, "mine", Token);

        for (var count = 1; count <= all.Length; count++)
            await _temporary.OpenDatabase(all[..count]).DisposeAsync();

        Assert.Equal(
            ["before-migration-10-to-11.db", "before-migration-11-to-12.db", "before-migration-9-to-10.db", Path.GetFileName(mine)],
            Directory.GetFiles(_temporary.Folder.Backups).Select(Path.GetFileName).Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Failed_migration_leaves_the_previous_version()
    {
        await _temporary.OpenDatabase(First, Second).DisposeAsync();

        Assert.Throws<SqliteException>(() => _temporary.OpenDatabase(First, Second, Broken));

        await using var database = _temporary.OpenDatabase(First, Second);
        Assert.Equal(0, await database.ReadAsync(
            connection => connection.ExecuteScalar<int>("SELECT count(*) FROM sqlite_schema WHERE name = 'c'"), Token));
    }

    [Fact]
    public async Task Newer_database_is_refused_and_not_touched()
    {
        await _temporary.OpenDatabase(First, Second).DisposeAsync();

        var refused = Assert.Throws<NewerDatabaseException>(() => _temporary.OpenDatabase(First));

        Assert.Equal(78, refused.ExitCode);
        Assert.Contains("newer", refused.Message, StringComparison.Ordinal);
        await using var database = _temporary.OpenDatabase(First, Second);
        Assert.Equal(2, await database.ReadAsync(connection => connection.ExecuteScalar<int>("PRAGMA user_version"), Token));
    }
}
