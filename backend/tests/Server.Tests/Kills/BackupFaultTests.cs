using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Tests.Backups;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>
/// System calls that fail during a backup, its copy or a restore, as on a full or broken disk. The fault is reported, and neither the database nor an earlier
/// backup is lost (OPS-95).
/// </summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Name)]
[Trait("Category", FailpointBuild.Part)]
public sealed class BackupFaultTests
{
    // Both forms of the call, because not every processor has the older one.
    private const string MakeFolder = "?mkdir,?mkdirat";
    private const string Rename = "?rename,?renameat,?renameat2";
    private const string Sync = "fsync,fdatasync";

    // Names of backups contain the time. A fault is set for each name of this period, which no test exceeds.
    private const int NamedSeconds = 300;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task OPS_95_Failed_call_of_a_backup_is_reported_and_harmless()
    {
        await using var set = await MockedServer.StartAsync(new MockOptions(), OwnerSession.Settings, Token);
        await ImportAsync(set, 1);
        using var owner = await OwnerSession.LogInAsync(set.Server.Port);
        var first = Assert.Single((await OwnerSession.BackUpAsync(owner))["items"]!.AsArray())!["id"]!.ToString();
        var backups = Path.Combine(set.Data, "backups");
        (string Name, string Call, string Error)[] faults =
        [
            ("", MakeFolder, "EIO"), ("", MakeFolder, "ENOSPC"), ("sluice.db", "openat", "EIO"), ("sluice.db", "pwrite64", "EIO"), ("sluice.db", "pwrite64", "ENOSPC"),
            ("sluice.db", Sync, "EIO"), ("sluice.db", "pread64", "EIO"), ("blobs.keys.partial", "pwrite64", "ENOSPC"), ("blobs.keys.partial", Sync, "EIO"),
            ("manifest.json.partial", "pwrite64", "EIO"), ("manifest.json.partial", Rename, "ENOSPC"), ("", Sync, "EIO"), ("", Rename, "EIO"),
        ];
        foreach (var (name, call, error) in faults)
        {
            TestContext.Current.TestOutputHelper!.WriteLine($"{call} of {name} fails with {error}");
            var list = await WithFaultAsync(set, Partials(backups, name), call, error, () => OwnerSession.BackUpAsync(owner));

            var what = $"{call} of {name} fails with {error}: {list}";
            Assert.True(list["failure"]?.ToString() == $"The last backup failed: {(error == "ENOSPC" ? "the disk is full" : "the disk cannot be used")}.", what);
            Assert.True(list["items"]!.AsArray() is [{ } only] && only["id"]!.ToString() == first, what);
            Assert.Empty(Directory.GetDirectories(backups, "*.partial"));
            // The disk of the backups may be another one than that of the database, so writes go on.
            Assert.Equal("""{"status":"ok"}""", await owner.GetStringAsync("readyz", Token));
            Assert.Equal("ok", Check(set));
        }

        var after = await OwnerSession.BackUpAsync(owner);
        Assert.Null(after["failure"]);
        Assert.Equal(2, after["items"]!.AsArray().Count);
        await AssertVerifiesAsync(set, first);
    }

    [Fact]
    public async Task OPS_95_Failed_call_of_a_copy_is_reported_and_harmless()
    {
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, Token);
        var second = Directory.CreateDirectory(set.File("second")).FullName;
        await set.Server.StopAsync(Token);
        await set.RestartAsync(new Dictionary<string, string>(OwnerSession.Settings) { ["SLUICE_CONFIG__BACKUP__SECOND_DIR"] = second }, Token);
        await ImportAsync(set, 2);
        using var owner = await OwnerSession.LogInAsync(set.Server.Port);
        await OwnerSession.BackUpAsync(owner);
        var count = (await CopiedAsync(owner))["second"]!["count"]!.GetValue<int>();
        (string Name, string Call, string Error)[] faults =
        [
            ("", MakeFolder, "ENOSPC"), ("sluice.db", "openat", "EIO"), ("sluice.db", "pwrite64", "EIO"), ("sluice.db", "pwrite64", "ENOSPC"), ("sluice.db", Sync, "EIO"),
            ("sluice.db", "pread64", "EIO"), ("manifest.json", "pwrite64", "ENOSPC"), ("", Sync, "EIO"), ("", Rename, "EIO"),
        ];
        foreach (var (name, call, error) in faults)
        {
            TestContext.Current.TestOutputHelper!.WriteLine($"{call} of {name} fails with {error}");
            var list = await WithFaultAsync(set, Partials(second, name), call, error, async () =>
            {
                Assert.Null((await OwnerSession.BackUpAsync(owner))["failure"]);
                return await OwnerSession.UntilAsync(owner, list => list["second"]!["failure"] is not null && !list["second"]!["isCopying"]!.GetValue<bool>());
            });

            var what = $"{call} of {name} fails with {error}: {list}";
            Assert.True(list["second"]!["failure"]!.ToString().EndsWith(error == "ENOSPC" ? " its disk is full." : " its disk cannot be used.", StringComparison.Ordinal), what);
            Assert.True(list["second"]!["count"]!.GetValue<int>() == count, what);
            Assert.Equal(("data-folder", "ok"), (list["items"]![0]!["place"]!.ToString(), Check(set)));
            // The next backup is copied again.
            Assert.Null((await OwnerSession.BackUpAsync(owner))["failure"]);
            count = (await CopiedAsync(owner))["second"]!["count"]!.GetValue<int>();
        }

        Assert.Empty(Directory.GetDirectories(second, "*.partial"));
        await AssertVerifiesAsync(set, new BackupFolder(second).List()[0].Path);
    }

    [Fact]
    public async Task OPS_95_Failed_call_before_a_restore_replaces_nothing()
    {
        await using var set = await MockedServer.StartAsync(new MockOptions(), OwnerSession.Settings, Token);
        var kept = await ImportAsync(set, 3);
        using var owner = await OwnerSession.LogInAsync(set.Server.Port);
        var id = (await OwnerSession.BackUpAsync(owner))["items"]![0]!["id"]!.ToString();
        var later = await ImportAsync(set, 4);
        var (database, replaced) = (Path.Combine(set.Data, "sluice.db"), Path.Combine(set.Data, "replaced"));
        string[] interim = [database + ".restoring"];
        (string[] Paths, string Call, string Error)[] faults =
        [
            (interim, "openat", "EIO"), (interim, "pwrite64", "EIO"), (interim, "pwrite64", "ENOSPC"), (interim, Sync, "EIO"),
            ([replaced], MakeFolder, "ENOSPC"), (Replaced(replaced), MakeFolder, "EIO"), (Replaced(replaced), MakeFolder, "ENOSPC"),
        ];
        var failed = 0;
        foreach (var (paths, call, error) in faults)
        {
            await WithFaultAsync(set, paths, call, error, async () =>
            {
                await RestoreAsync(owner, id);
                failed++;
                await UntilLinesAsync(set, "Could not restore", failed);
                await OwnerSession.ReadyAsync(owner);
                return failed;
            });

            Assert.False(File.Exists(interim[0]));
            Assert.False(File.Exists(Path.Combine(set.Data, "restore.json")));
            Assert.Equal("ok", Check(set));
            await set.Client.PublishedAsync(kept.Name, Token);
            await set.Client.PublishedAsync(later.Name, Token);
        }

        await RestoreAsync(owner, id);
        await UntilLinesAsync(set, "as requested from the web UI", 1);
        await OwnerSession.ReadyAsync(owner);
        await set.Client.PublishedAsync(kept.Name, Token);
        Assert.Equal(1, await CountLaterAsync(set));
    }

    /// <summary>Runs work while system calls of the server fail on some paths, and checks that one has failed.</summary>
    private static async Task<T> WithFaultAsync<T>(MockedServer set, IEnumerable<string> paths, string call, string error, Func<Task<T>> work)
    {
        var output = set.File("fault");
        T result;
        await using (await SystemCallTrace.FailAsync(set.Server.Id, output, paths, call, error, Token))
            result = await work();
        var trace = await File.ReadAllTextAsync(output, Token);
        Assert.True(trace.Contains("INJECTED", StringComparison.Ordinal), $"{call} of {paths.First()} did not fail with {error}: {trace}");
        return result;
    }

    /// <summary>Paths of one file in a backup that begins from now on, until the backup is complete.</summary>
    private static string[] Partials(string folder, string name) =>
        [.. Times().Select(at => Path.Combine(folder, BackupFolder.NameOf(at, Migration.LoadEmbedded()[^1].Version) + ".partial", name))];

    /// <summary>Paths of the folder for the database that a restore requested from now on replaces.</summary>
    private static string[] Replaced(string folder) =>
        [.. Times().Select(at => Path.Combine(folder, at.UtcDateTime.ToString(ReplacedDatabases.TimeFormat, CultureInfo.InvariantCulture)))];

    private static IEnumerable<DateTimeOffset> Times()
    {
        var now = TimeProvider.System.GetUtcNow();
        return Enumerable.Range(0, NamedSeconds).Select(second => now.AddSeconds(second));
    }

    private static async Task<SyntheticFilm> ImportAsync(MockedServer set, int seed)
    {
        var film = new SyntheticFilm((ulong)(9500 + seed), 60_000, 30_000);
        await set.Client.AddFileAsync("movies", film.Name, film.Nzb, Token);
        await set.Client.PublishedAsync(film.Name, Token);
        return film;
    }

    private static Task<JsonNode> CopiedAsync(HttpClient owner) => OwnerSession.UntilAsync(
        owner, list => list["items"]![0]!["place"]!.ToString() == "both" && list["second"]!["failure"] is null && !list["second"]!["isCopying"]!.GetValue<bool>());

    private static async Task RestoreAsync(HttpClient owner, string id)
    {
        using var begun = await owner.PostAsJsonAsync($"api/backups/{id}/restore", new { password = OwnerSession.Password }, Token);
        Assert.True(begun.IsSuccessStatusCode, await begun.Content.ReadAsStringAsync(Token));
    }

    private static async Task UntilLinesAsync(MockedServer set, string text, int count)
    {
        var found = 0;
        await set.Server.LineAsync(
            _ => (found = set.Server.Lines.Count(line => line.Contains(text, StringComparison.Ordinal))) >= count, Token);
        Assert.Equal(count, found);
    }

    private static async Task<int> CountLaterAsync(MockedServer set)
    {
        using var owner = await OwnerSession.LogInAsync(set.Server.Port);
        return JsonNode.Parse(await owner.GetStringAsync("api/backups/later", Token))!["total"]!.GetValue<int>();
    }

    private static async Task AssertVerifiesAsync(MockedServer set, string backup)
    {
        await using var command = ServerProcess.Launch(ServerProcess.Executable, ["--verify", backup], set.Data, set.Server.Port, new Dictionary<string, string>());
        Assert.True(await command.EndAsync(Token) == 0, string.Join('\n', command.Lines));
    }

    private static string Check(MockedServer set)
    {
        using var connection = new SqliteConnection($"Data Source={Path.Combine(set.Data, "sluice.db")};Mode=ReadOnly;Pooling=False");
        connection.Open();
        return connection.ExecuteScalar<string>("PRAGMA integrity_check")!;
    }
}
