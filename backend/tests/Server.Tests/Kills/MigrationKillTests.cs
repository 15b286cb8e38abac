using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>After a kill or a failed system call during a migration, or during the copy before it, the next start completes the migration (F35, OPS-95).</summary>
[Trait("Category", EndToEndRun.Name)]
[Trait("Category", FailpointBuild.Part)]
public sealed class MigrationKillTests : IDisposable
{
    private const string FirstItem = "SABnzbd_nzo_00000000000000000000000000000001";

    private readonly TemporaryFolder _temporary = new();

    /// <summary>The steps of the copy, in order.</summary>
    private static readonly string[] OfCopy = ["copy-begins", "copy-written", "copy-synced", "copy-named"];

    /// <summary>The steps of each migration, in order.</summary>
    private static readonly string[] OfStep = ["migration-begins", "migration-done", "migration-committed"];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>The steps that only the start on an old database reaches.</summary>
    public static IEnumerable<string> Points => [.. OfCopy, .. OfStep];

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task F35_Startup_recovers_from_a_kill_during_backup_or_migration()
    {
        FailpointBuild.Require();
        var latest = Migration.LoadEmbedded().Count;
        await SeedAsync();

        foreach (var point in OfCopy)
        {
            await KillAsync($"{point}:1");
            Assert.Equal((1, "ok"), Look(_temporary.Folder.Database));
            Assert.Equal(point == "copy-named", File.Exists(CopyOf(1, latest)));
        }

        // Each start completes the migration of the previous start and is killed in its own, until no migration is left.
        var kills = 0;
        for (var version = 1; version < latest; version++)
        {
            var point = OfStep[version % OfStep.Length];
            await KillAsync($"{point}:1");
            kills++;
            var isDone = point == "migration-committed";
            Assert.Equal((isDone ? version + 1 : version, "ok"), Look(_temporary.Folder.Database));
            Assert.Equal((version, "ok"), Look(CopyOf(version, latest)));
            if (!isDone)
            {
                await KillAsync("migration-committed:1");
                kills++;
                Assert.Equal((version + 1, "ok"), Look(_temporary.Folder.Database));
            }
        }

        await AssertServesAsync();
        Assert.Equal((latest, "ok"), Look(_temporary.Folder.Database));
        Assert.DoesNotContain(Directory.GetFiles(_temporary.Folder.Backups), path => path.Contains(".partial", StringComparison.Ordinal));
        TestContext.Current.TestOutputHelper!.WriteLine($"{kills + OfCopy.Length} kills over {latest - 1} steps");
    }

    [Fact]
    public async Task F35_Kill_during_the_first_start_leaves_a_usable_folder()
    {
        FailpointBuild.Require();
        foreach (var point in OfStep)
            await KillAsync($"{point}:2");
        await using var server = await ArmedServer.StartAsync(_temporary.Root, new Dictionary<string, string>(), null, Token);
        Assert.Empty(await server.Client.QueueAsync(Token));
    }

    [Fact]
    public async Task OPS_95_Failed_call_of_a_migration_leaves_it_to_next_start()
    {
        FailpointBuild.Require();
        var latest = Migration.LoadEmbedded().Count;
        await SeedAsync();
        var (partial, log) = (CopyOf(1, latest) + ".partial", _temporary.Folder.Database + "-wal");
        (string Path, string Call, string Error)[] faults =
        [
            (partial, "openat", "EIO"), (partial, "pwrite64", "EIO"), (partial, "pwrite64", "ENOSPC"), (partial, "fsync,fdatasync", "EIO"),
            (partial, "?rename,?renameat,?renameat2", "EIO"), (log, "pwrite64", "EIO"), (log, "pwrite64", "ENOSPC"), (log, "fsync,fdatasync", "EIO"),
        ];
        for (var i = 0; i < faults.Length; i++)
        {
            var (path, call, error) = faults[i];
            var output = Path.Combine(_temporary.Parent, $"fault-{i}");
            var arguments = SystemCallTrace.Launching(FailpointBuild.Executable, output, path, call, error);
            await using var server = ServerProcess.Launch("strace", arguments, _temporary.Root, ServerProcess.FreePort(), new Dictionary<string, string>());
            var code = await server.EndAsync(Token);

            var what = $"{call} of {Path.GetFileName(path)} fails with {error}: {code}\n{string.Join('\n', server.Lines)}";
            Assert.Contains("INJECTED", await File.ReadAllTextAsync(output, Token), StringComparison.Ordinal);
            Assert.True(code == 78 && server.Lines.Last().StartsWith("sluice: ", StringComparison.Ordinal), what);
            Assert.Equal((1, "ok"), Look(_temporary.Folder.Database));
            // A copy has its name only if it is complete.
            Assert.Equal(path == log, File.Exists(CopyOf(1, latest)));
        }

        await AssertServesAsync();
        Assert.Equal((latest, "ok"), Look(_temporary.Folder.Database));
        Assert.Equal((1, "ok"), Look(CopyOf(1, latest)));
    }

    private string CopyOf(int version, int latest) => Path.Combine(_temporary.Folder.Backups, $"before-migration-{version}-to-{latest}.db");

    private async Task KillAsync(string armed)
    {
        await using var server = await ArmedServer.StartAsync(_temporary.Root, new Dictionary<string, string>(), armed, Token);
        await server.EndAsync(Token);
    }

    /// <summary>Creates a database of the first version with a paused item and its NZB.</summary>
    private async Task SeedAsync()
    {
        await using var database = _temporary.OpenDatabase([.. Migration.LoadEmbedded().Take(1)]);
        var blobs = new BlobStore(_temporary.Folder, new DiskBlobFiles(), new BlobQuarantine(_temporary.Folder, TimeProvider.System), TimeProvider.System);
        var nzb = new SyntheticFilm(35, 60_000, 30_000).Nzb;
        var blob = await blobs.SaveNzbAsync(new MemoryStream(nzb), Token);
        await database.WriteAsync(
            connection => connection.Execute(
                """
                INSERT INTO queue_item
                  (id, position, name, nzb_name, category, folder, priority, paused, password, post_processing, script, nzb_hash, nzb_length, encoded_bytes, added_at)
                VALUES (@FirstItem, 1, 'Rel', 'Rel.nzb', 'movies', 'movies', 0, 1, '', -1, '', @Hash, @PlainLength, 0, 1767434400000)
                """,
                new { FirstItem, blob.Hash, blob.PlainLength }),
            Token);
    }

    private async Task AssertServesAsync()
    {
        await using var server = await ArmedServer.StartAsync(_temporary.Root, new Dictionary<string, string>(), null, Token);
        using var queue = await server.Client.CallAsync("mode=queue&limit=0", Token);
        var slot = Assert.Single(queue.RootElement.GetProperty("queue").GetProperty("slots").EnumerateArray());
        Assert.Equal((FirstItem, "Rel", "Paused"), (slot.GetProperty("nzo_id").GetString(), slot.GetProperty("filename").GetString(), slot.GetProperty("status").GetString()));
    }

    /// <summary>Returns version and integrity of a database that no process uses.</summary>
    private static (int Version, string Check) Look(string path)
    {
        using var connection = new SqliteConnection($"Data Source={path};Pooling=False");
        connection.Open();
        return (connection.ExecuteScalar<int>("PRAGMA user_version"), connection.ExecuteScalar<string>("PRAGMA integrity_check")!);
    }
}
