using System.Net;
using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>The built program over a faulty data folder: it serves, or exits with one line that gives the reason (CFG-13 to CFG-15, F32, F34).</summary>
public sealed class StorageFaultTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static IReadOnlyDictionary<string, string> Credentials => new Dictionary<string, string>
    {
        ["SLUICE_CONFIG__WEBDAV__USER"] = ServerProcess.User,
        ["SLUICE_CONFIG__WEBDAV__PASS"] = ServerProcess.Password,
        ["SLUICE_CONFIG__API__KEY"] = ServerProcess.ApiKey,
    };

    public void Dispose()
    {
        // Restores access, so that the user of the tests can delete the folders.
        foreach (var folder in Directory.EnumerateDirectories(_temporary.Root).ToList())
            Unprivileged.SetMode(folder, 0b111_000_000);
        _temporary.Dispose();
    }

    [Theory]
    [InlineData("sluice.db", 0b100_000_000, "sluice.db is not readable and writable by uid [0-9]+ .owner [0-9]+:[0-9]+, mode 400.: Permission denied")]
    [InlineData("sluice.db", 0, "sluice.db is not readable and writable by uid [0-9]+ .owner [0-9]+:[0-9]+, mode 0.: Permission denied")]
    [InlineData("sluice.lock", 0b100_000_000, "sluice.lock is not readable and writable by uid [0-9]+ .owner [0-9]+:[0-9]+, mode 400.: Permission denied")]
    [InlineData("blobs", 0b101_000_000, "blobs is not readable and writable by uid [0-9]+ .owner [0-9]+:[0-9]+, mode 500.: Permission denied")]
    [InlineData("keys", 0, "keys is not readable and writable by uid [0-9]+ .owner [0-9]+:[0-9]+, mode 0.: Permission denied")]
    [InlineData("keys/secret.key", 0, "secret.key is not readable and writable by uid [0-9]+ .owner [0-9]+:[0-9]+, mode 0.: Permission denied")]
    public async Task Inaccessible_file_or_folder_exits_with_78_and_one_line(string name, int mode, string pattern)
    {
        Unprivileged.Require();
        // The secrets are generated and stored encrypted, so the start needs the key.
        await SeedAsync(new Dictionary<string, string>());
        Unprivileged.SetMode(Path.Combine(_temporary.Root, name), mode);

        await ExpectRefusalAsync(78, pattern);
    }

    [Theory]
    [InlineData("sluice.db")]
    [InlineData("sluice.lock")]
    [InlineData("keys/secret.key")]
    public async Task Folder_in_place_of_a_file_exits_with_78_and_one_line(string name)
    {
        Directory.CreateDirectory(Path.Combine(_temporary.Root, name));
        Unprivileged.Own(_temporary.Root);

        await ExpectRefusalAsync(78, $"{Path.GetFileName(name)} cannot be used by uid [0-9]+ .owner [0-9]+:[0-9]+, mode [0-7]+.: it is a folder");
    }

    [Theory]
    [InlineData("blobs")]
    [InlineData("keys")]
    [InlineData("staged")]
    public async Task File_in_place_of_a_folder_exits_with_78_and_one_line(string name)
    {
        var path = Path.Combine(_temporary.Root, name);
        if (Directory.Exists(path))
            Directory.Delete(path);
        await File.WriteAllTextAsync(path, "", Token);
        Unprivileged.Own(_temporary.Root);

        await ExpectRefusalAsync(78, $"{name} cannot be used by uid [0-9]+ .owner [0-9]+:[0-9]+, mode [0-7]+.: it is no folder");
    }

    [Fact]
    public async Task Unwritable_blobs_refuse_uploads_until_writable_again()
    {
        Unprivileged.Require();
        await SeedAsync(Credentials);
        await using var server = await StartAsync();
        using var client = new SluiceClient(server);
        Unprivileged.SetMode(_temporary.Folder.Blobs, 0b101_000_000);

        for (var i = 0; i < 5; i++)
        {
            Assert.Equal(HttpStatusCode.ServiceUnavailable, await client.PutNzbAsync("tv", $"a{i}", NzbText.Of("a.mkv"), Token));
            Assert.Equal("""{"status":false,"error":"Storage unavailable"}""", await AddFileAsync(server));
        }

        Assert.Equal("""{"status":"ok","writes":"storage"}""", await GetAsync(server, "readyz"));
        Unprivileged.SetMode(_temporary.Folder.Blobs, 0b111_000_000);
        Assert.Equal(HttpStatusCode.Created, await client.PutNzbAsync("tv", "a", NzbText.Of("a.mkv"), Token));
        Assert.Equal("""{"status":"ok"}""", await GetAsync(server, "readyz"));
        await server.LineAsync(line => line.EndsWith("blobs can be used again", StringComparison.Ordinal), Token);
        Assert.Single(server.Lines, line => line.Contains("blobs is not readable and writable by uid", StringComparison.Ordinal));
        Assert.DoesNotContain(server.Lines, line => line.Contains("   at ", StringComparison.Ordinal));
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task Unreadable_blobs_folder_fails_no_item()
    {
        Unprivileged.Require();
        await SeedAsync(Credentials, async client => await client.PutNzbAsync("tv", "Rel", NzbText.Of("a.mkv"), Token));
        await using var server = await StartAsync();
        using var client = new SluiceClient(server);
        await client.PutNzbAsync("tv", "Other", NzbText.Of("b.mkv"), Token);
        Unprivileged.SetMode(_temporary.Folder.Blobs, 0);

        // The import starts three seconds after the upload.
        await server.LineAsync(
            line => line.Contains("is waiting", StringComparison.Ordinal) && line.Contains("is not readable and writable by uid", StringComparison.Ordinal), Token);

        Assert.Empty(await client.HistoryAsync(Token));
        Assert.Equal(["Other", "Rel"], (await client.QueueAsync(Token)).Order());
    }

    [Fact]
    public async Task Immovable_orphan_blob_is_left_and_the_server_starts()
    {
        Unprivileged.Require();
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "only the administrator can leave a file that its folder's users may not move");
        await SeedAsync(Credentials, async client => await client.PutNzbAsync("tv", "Rel", NzbText.Of("a.mkv"), Token));
        var orphan = Path.Combine(_temporary.Folder.Blobs, new string('a', 64) + ".nzb.br");
        await File.WriteAllTextAsync(orphan, "x", Token);
        File.SetLastWriteTimeUtc(orphan, TimeProvider.System.GetUtcNow().UtcDateTime.AddHours(-3));
        // In a folder with the sticky bit, only the owner of the folder or the file may move the file.
        using (var chown = System.Diagnostics.Process.Start("chown", ["root", _temporary.Folder.Blobs]))
            await chown.WaitForExitAsync(Token);
        Unprivileged.SetMode(_temporary.Folder.Blobs, 0b1_111_111_111);
        // Makes the start check the database and then look for orphans.
        File.Delete(_temporary.Folder.Generation);

        await using var server = await StartAsync();
        using var client = new SluiceClient(server);
        await server.LineAsync(line => line.Contains("Operation not permitted", StringComparison.Ordinal), Token);

        Assert.Equal(HttpStatusCode.Created, await client.PutNzbAsync("tv", "New", NzbText.Of("b.mkv"), Token));
        Assert.Equal(["New", "Rel"], (await client.QueueAsync(Token)).Order());
        Assert.True(File.Exists(orphan));
        Assert.DoesNotContain(server.Lines, line => line.Contains("   at ", StringComparison.Ordinal));
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task Damaged_queue_page_does_not_end_the_process()
    {
        await SeedAsync(Credentials, async client => await client.PutNzbAsync("tv", "Rel", NzbText.Of("a.mkv"), Token));
        await DamageTableAsync("queue_item");
        Unprivileged.Own(_temporary.Root);

        await using var server = await StartAsync("healthz");

        await Task.Delay(TimeSpan.FromSeconds(2), TimeProvider.System, Token);
        Assert.Equal("""{"status":"ok","mode":"safe"}""", await GetAsync(server, "healthz"));
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task SIGTERM_during_startup_exits_with_code_0_silently()
    {
        await SeedAsync(Credentials);
        await using var held = await HoldDatabaseAsync();
        File.Delete(_temporary.Folder.LockFile);
        await using var server = Launch();

        // The lock is taken before the database is opened, and the open has to wait.
        while (!File.Exists(_temporary.Folder.LockFile))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        Assert.Equal(0, await server.StopAsync(Token));
        Assert.Empty(server.Lines);
    }

    [Fact]
    public async Task Startup_on_a_full_disk_serves_but_refuses_uploads()
    {
        using var disk = await SmallDisk.MountAsync(_temporary.Root, 80 << 20, Token);
        await SeedAsync(Credentials, async client => await client.PutNzbAsync("tv", "Rel", NzbText.Of("a.mkv"), Token));
        disk.Fill();

        await using (var server = await StartAsync())
        {
            using var client = new SluiceClient(server);
            Assert.Equal(["Rel"], await client.QueueAsync(Token));
            Assert.Equal(HttpStatusCode.InsufficientStorage, await client.PutNzbAsync("tv", "Other", NzbText.Of("b.mkv"), Token));
            Assert.Equal("""{"status":false,"error":"Disk is full"}""", await AddFileAsync(server));
            Assert.Equal("""{"status":"ok","writes":"disk"}""", await GetAsync(server, "readyz"));
            Assert.Equal(0, await server.StopAsync(Token));
        }

        disk.Free();
        await using var after = await StartAsync();
        Assert.Equal(0, await after.StopAsync(Token));
        await using var connection = new SqliteConnection($"Data Source={_temporary.Folder.Database};Pooling=False");
        Assert.Equal("ok", await connection.ExecuteScalarAsync<string>("PRAGMA integrity_check"));
        Assert.Equal(1 << 20, new FileInfo(_temporary.Folder.Reserve).Length);
    }

    [Fact]
    public async Task Startup_with_new_settings_works_on_a_full_disk()
    {
        using var disk = await SmallDisk.MountAsync(_temporary.Root, 80 << 20, Token);
        await using (var host = await ProductHost.StartAsync(_temporary))
        {
            Assert.Empty(await host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["queue.worker-count"] = "3" }, Token));
            disk.Fill();
        }

        Unprivileged.Own(_temporary.Root);
        await using var server = await StartAsync("healthz");
        using var client = new SluiceClient(server);
        await server.LineAsync(line => line.Contains("Could not save the record of this start", StringComparison.Ordinal), Token);
        Assert.Equal(HttpStatusCode.InsufficientStorage, await client.PutNzbAsync("tv", "Other", NzbText.Of("b.mkv"), Token));

        disk.Free();
        Assert.Equal(HttpStatusCode.Created, await client.PutNzbAsync("tv", "Rel", NzbText.Of("a.mkv"), Token));
        await server.LineAsync(line => line.Contains("Saved the record of this start", StringComparison.Ordinal), Token);
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task First_start_on_a_full_disk_exits_with_78_and_one_line()
    {
        using var disk = await SmallDisk.MountAsync(_temporary.Root, 1 << 20, Token);
        disk.Fill();

        await ExpectRefusalAsync(78, "the disk of .* is full");
    }

    [Fact]
    public async Task Data_folder_is_private_even_after_an_older_version()
    {
        Unprivileged.Require();
        await SeedAsync(Credentials, async client => await client.PutNzbAsync("tv", "Old", NzbText.Of("a.mkv"), Token));
        foreach (var path in Directory.EnumerateFileSystemEntries(_temporary.Root, "*", SearchOption.AllDirectories).ToList())
        {
            if (!path.StartsWith(_temporary.Folder.Keys, StringComparison.Ordinal))
                Unprivileged.SetMode(path, Directory.Exists(path) ? 0b111_101_101 : 0b110_100_100);
        }

        await using var server = await StartAsync();
        using var client = new SluiceClient(server);
        await client.PutNzbAsync("tv", "New", NzbText.Of("b.mkv"), Token);
        using (var body = new ByteArrayContent(NzbText.Of("c.mkv")))
        {
            using var http = new HttpClient();
            http.DefaultRequestHeaders.Authorization = RunningServer.Basic(ServerProcess.User, ServerProcess.Password);
            using var answer = await http.PutAsync(new Uri($"http://127.0.0.1:{server.Port}/nzbs/tv/c.nzb.part"), body, Token);
            Assert.Equal(HttpStatusCode.Created, answer.StatusCode);
        }

        var entries = Directory.EnumerateFileSystemEntries(_temporary.Root, "*", SearchOption.AllDirectories).ToList();
        Assert.Contains(entries, path => path.EndsWith(".db-wal", StringComparison.Ordinal));
        Assert.Contains(entries, path => path.EndsWith(".upload", StringComparison.Ordinal));
        Assert.All(entries, path => Assert.Equal(0, Unprivileged.ModeOf(path) & 0b111_111));
        Assert.DoesNotContain(server.Lines, line => line.Contains("cannot be made private", StringComparison.Ordinal));
    }

    private Task<ServerProcess> StartAsync(string path = "readyz")
    {
        var (command, arguments) = Unprivileged.Server();
        return ServerProcess.StartAsync(command, arguments, _temporary.Root, ServerProcess.FreePort(), Credentials, Token, path);
    }

    private ServerProcess Launch()
    {
        var (command, arguments) = Unprivileged.Server();
        return ServerProcess.Launch(command, arguments, _temporary.Root, ServerProcess.FreePort(), Credentials);
    }

    /// <summary>Starts the server once, runs the actions of a client, and stops it.</summary>
    private async Task SeedAsync(IReadOnlyDictionary<string, string> variables, Func<SluiceClient, Task>? use = null)
    {
        Unprivileged.Own(_temporary.Root);
        var (command, arguments) = Unprivileged.Server();
        await using var server = await ServerProcess.StartAsync(command, arguments, _temporary.Root, ServerProcess.FreePort(), variables, Token);
        using var client = new SluiceClient(server);
        await (use?.Invoke(client) ?? Task.CompletedTask);
        Assert.Equal(0, await server.StopAsync(Token));
    }

    private async Task ExpectRefusalAsync(int exitCode, string pattern)
    {
        var (command, arguments) = Unprivileged.Server();
        var environment = new Dictionary<string, string> { ["CONFIG_PATH"] = _temporary.Root, ["PORT"] = "0", ["BIND_ADDRESS"] = "127.0.0.1" };

        using var limit = CancellationTokenSource.CreateLinkedTokenSource(Token);
        limit.CancelAfter(TimeSpan.FromSeconds(30));
        var result = await ExternalProgram.RunAsync(command, arguments, environment, limit.Token);

        Assert.True(result.ExitCode == exitCode, $"exit code {result.ExitCode}: {result.Errors}");
        var line = Assert.Single(result.Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.Matches("^sluice: .*" + pattern, line);
        Assert.DoesNotContain("   at ", result.Text, StringComparison.Ordinal);
    }

    private static async Task<string> GetAsync(ServerProcess server, string path)
    {
        using var http = new HttpClient();
        return await http.GetStringAsync(new Uri($"http://127.0.0.1:{server.Port}/{path}"), Token);
    }

    private static async Task<string> AddFileAsync(ServerProcess server)
    {
        using var http = new HttpClient();
        using var form = new MultipartFormDataContent { { new ByteArrayContent(NzbText.Of("a.mkv")), "name", "a.nzb" } };
        using var answer = await http.PostAsync(new Uri($"http://127.0.0.1:{server.Port}/api?mode=addfile&apikey={ServerProcess.ApiKey}"), form, Token);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsStringAsync(Token);
    }

    private async Task<SqliteConnection> HoldDatabaseAsync()
    {
        var connection = new SqliteConnection($"Data Source={_temporary.Folder.Database};Pooling=False");
        await connection.OpenAsync(Token);
        await connection.ExecuteAsync("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
        return connection;
    }

    /// <summary>Overwrites the root page of a table.</summary>
    private async Task DamageTableAsync(string table)
    {
        long page;
        await using (var connection = new SqliteConnection($"Data Source={_temporary.Folder.Database};Pooling=False"))
            page = await connection.ExecuteScalarAsync<long>("SELECT rootpage FROM sqlite_master WHERE name = @table", new { table });
        await using var file = new FileStream(_temporary.Folder.Database, FileMode.Open, FileAccess.Write);
        file.Position = (page - 1) * 4096;
        var noise = new byte[4096];
        new Random(12).NextBytes(noise);
        await file.WriteAsync(noise, Token);
    }
}
