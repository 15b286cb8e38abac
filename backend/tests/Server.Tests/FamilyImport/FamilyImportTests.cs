using System.Collections.Concurrent;
using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Diagnostics;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>A library of every kind from a relative of nzbdav, imported by the real server and read over the wire (CFG-40 to CFG-42).</summary>
public sealed class FamilyImportTests(OldLibrary library) : IClassFixture<OldLibrary>
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(OldShape.Json)]
    [InlineData(OldShape.Compressed)]
    [InlineData(OldShape.Blobs)]
    public async Task Library_in_every_format_is_imported_and_left_unchanged(OldShape shape)
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(shape, folder);
        var broken = Fill(old, out var displaced);
        old.Leave();
        var before = old.Look();
        JsonNode rows;
        await using (var server = await ImportingServer.StartAsync(folder, imports: true))
        {
            var report = await server.WaitAsync("finished");
            AssertSums(old, report, broken);
            await AssertPlaysAsync(server, [.. library.Releases.SelectMany(release => release.Files), .. displaced]);
            await AssertLinksAsync(server);
            await AssertListsAsync(server, old);
            await AssertSettingsAsync(server, report);
            await server.SendAsync(HttpMethod.Post, "/api/setup/import", HttpStatusCode.Conflict);
            Assert.Equal(before, old.Look());
            rows = await server.RowsAsync();
        }

        await using var again = await ImportingServer.StartAsync(folder, imports: true);
        Assert.Equal("finished", (await again.ReportAsync())["state"]!.GetValue<string>());
        Assert.Equal(rows.ToJsonString(), (await again.RowsAsync()).ToJsonString());
        Assert.Equal(before, old.Look());
        Assert.False(Directory.Exists(folder.Folder.Import));
    }

    [Fact]
    public async Task Rehearsal_matches_the_import_report_and_writes_nothing()
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(OldShape.Blobs, folder);
        Fill(old, out _);
        old.Leave();
        var before = old.Look();
        await using var server = await ImportingServer.StartAsync(folder, imports: false);
        var empty = await server.RowsAsync();

        var rehearsal = await server.WaitAsync("found");

        Assert.Equal(empty.ToJsonString(), (await server.RowsAsync()).ToJsonString());
        Assert.Equal("blob-files", rehearsal["shape"]!.GetValue<string>());
        await server.SendAsync(HttpMethod.Post, "/api/setup/import", HttpStatusCode.Accepted);
        var report = await server.WaitAsync("finished");
        foreach (var part in (string[])["counts", "left", "leftTotal", "notes", "kept"])
            Assert.Equal(rehearsal[part]!.ToJsonString(), report[part]!.ToJsonString());
        Assert.Equal(before, old.Look());
    }

    [Fact]
    public async Task Failed_import_resumes_at_the_next_start_and_completes()
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(OldShape.Json, folder);
        Fill(old, out var displaced);
        old.Leave();
        var before = old.Look();
        await using (var server = await ImportingServer.StartAsync(folder, imports: true, services => services.AddSingleton<IBlobFiles>(new FullDisk(120))))
        {
            Assert.Equal("failed", (await server.WaitAsync("failed"))["state"]!.GetValue<string>());
            Assert.InRange((long)(await server.RowsAsync())["release"]!, 1, OldLibrary.Count - 1);
        }

        await using var next = await ImportingServer.StartAsync(folder, imports: false);
        await next.WaitAsync("finished");
        await AssertPlaysAsync(next, [.. library.Releases.SelectMany(release => release.Files).Where((_, i) => i % 10 == 0), .. displaced]);
        Assert.Equal(library.Releases.Count + 2, (long)(await next.RowsAsync())["release"]!);
        Assert.Equal(before, old.Look());
    }

    [Fact]
    public async Task Generated_NZB_of_an_archive_imports_to_the_same_file()
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(OldShape.Json, folder);
        var release = library.Releases.First(release => release.Name == "Archive.rar5");
        old.Add(release);
        AddProvider(old);
        old.Leave();
        byte[] nzb;
        await using (var server = await ImportingServer.StartAsync(folder, imports: true))
        {
            await server.WaitAsync("finished");
            var file = (await server.Get<LibraryStore>().FindByIdAsync(release.Files[0].Id, Token))!.File;
            await using var text = server.Get<StoredNzbReader>().Open(file.Release.NzbHash);
            using var copy = new MemoryStream();
            await text.CopyToAsync(copy, Token);
            nzb = copy.ToArray();
        }

        using var fresh = new TemporaryFolder();
        await using var host = await ProductHost.StartAsync(fresh, library.Mock);
        var slot = await host.WaitForHistoryAsync((await host.AddAsync(nzb, "again.nzb", Token, "&cat=tv"))[0], Token);
        Assert.Equal("Completed", slot.GetProperty("status").GetString());
        using var answer = await host.SendAsync(HttpMethod.Get, "/content/tv/again/film.mkv", null, Token);
        Assert.Equal(release.Files[0].Truth.ToArray(), await answer.Content.ReadAsByteArrayAsync(Token));
    }

    [Fact]
    public async Task Items_from_one_old_folder_get_separate_folders()
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(OldShape.Json, folder);
        var release = library.Releases.First(release => release.Name == "Archive.rar5");
        old.Add(release);
        old.AddHistory(Guid.NewGuid(), release.Name, release.Category, 1, null, release.Folder, null);
        AddProvider(old);
        AddAccess(old);
        old.Leave();
        await using var server = await ImportingServer.StartAsync(folder, imports: true);
        await server.WaitAsync("finished");

        var links = $"completed-symlinks/{release.Category}/{release.Name}";
        Assert.Equal([$"{OldServer.Mount}/{links} (2)", $"{OldServer.Mount}/{links}"], await StoragesAsync(server));
        foreach (var storage in (string[])[links, $"{links} (2)"])
        {
            using var link = await server.GetTreeAsync($"/{storage}/film.mkv.rclonelink");
            Assert.Equal($"{OldServer.Mount}/{IdPath.Of(release.Files[0].Id)}", await link.Content.ReadAsStringAsync(Token));
        }
    }

    [Fact]
    public async Task Item_folder_is_never_reused_for_an_old_release()
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(OldShape.Json, folder);
        var release = library.Releases.First(release => release.Name == "Archive.rar5");
        old.Add(release);
        AddProvider(old);
        AddAccess(old);
        old.Leave();
        await using var server = await ImportingServer.StartAsync(folder, imports: false);
        // A history item with its own links, whose release is Other.
        await server.Get<SluiceDatabase>().WriteAsync(
            connection =>
            {
                var other = LibraryStore.Insert(connection, new NewRelease(release.Category, "Other", "hash", [], []), DateTimeOffset.UnixEpoch);
                HistoryStore.Insert(connection, new HistoryItem
                {
                    Id = "here",
                    Name = release.Name,
                    NzbName = "x.nzb",
                    Category = release.Category,
                    Folder = release.Category,
                    ReleaseFolder = release.Name,
                    ReleaseId = other,
                });
                return true;
            },
            Token);

        await server.WaitAsync("found");
        await server.SendAsync(HttpMethod.Post, "/api/setup/import", HttpStatusCode.Accepted);
        await server.WaitAsync("finished");

        var links = $"{OldServer.Mount}/completed-symlinks/{release.Category}/{release.Name}";
        Assert.Equal([$"{links} (2)", links], await StoragesAsync(server));
        using var content = await server.GetTreeAsync($"/content/{release.Category}/{release.Name} (2)/film.mkv", HttpMethod.Head);
        Assert.Equal(HttpStatusCode.OK, content.StatusCode);
    }

    [Theory]
    [InlineData("no database at all")]
    [InlineData(null)]
    public async Task Unknown_database_is_refused_with_a_message_and_kept(string? text)
    {
        using var folder = new TemporaryFolder();
        var path = Path.Combine(folder.Root, "db.sqlite");
        if (text is not null)
            await File.WriteAllTextAsync(path, string.Concat(Enumerable.Repeat(text, 100)), Token);
        else
            OtherDatabase(path);
        var bytes = await File.ReadAllBytesAsync(path, Token);
        using var lines = new CapturedLines();
        await using var server = await ImportingServer.StartAsync(folder, imports: true, services => services.AddSingleton<ILoggerProvider>(lines));

        var report = await server.ReportAsync();

        Assert.Equal("failed", report["state"]!.GetValue<string>());
        Assert.StartsWith("The ", report["error"]!.GetValue<string>(), StringComparison.Ordinal);
        Assert.Contains(lines.Lines, line => line.Contains($"Import failed: {report["error"]!.GetValue<string>()} You can start it again", StringComparison.Ordinal));
        Assert.Equal(bytes, await File.ReadAllBytesAsync(path, Token));
    }

    private static void OtherDatabase(string path)
    {
        using var connection = new Microsoft.Data.Sqlite.SqliteConnection($"Data Source={path};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = "CREATE TABLE other (id INTEGER)";
        command.ExecuteNonQuery();
    }

    /// <summary>Writes the library and adds broken rows and files.</summary>
    /// <param name="old">The old server.</param>
    /// <param name="displaced">Intact files at invalid paths.</param>
    /// <returns>The number of files that cannot be imported.</returns>
    private int Fill(OldServer old, out List<OldFile> displaced)
    {
        foreach (var release in library.Releases)
            old.Add(release);
        AddProvider(old);
        old.AddLogin();
        foreach (var (key, value) in (ReadOnlySpan<(string, string)>)
        [
            ("api.key", OldServer.ApiKey), ("api.strm-key", OldServer.StrmKey), ("api.categories", "movies,tv"), ("rclone.mount-dir", OldServer.Mount + "/"),
            ("webdav.user", OldServer.User), ("webdav.pass", OldServer.Identity(OldServer.Password)), ("usenet.article-buffer-size", "40"), ("usenet.max-streams", ""),
            ("api.history-max-page-size", "many"), ("search.profiles", """{"key":"secret-of-an-indexer"}"""), ("repair.enable", "true"),
        ])
            old.AddSetting(key, value);

        var (whole, damaged) = (library.Releases[^1], library.Releases[^2]);
        var sample = damaged.Files[0];
        var folder = whole.Folder;
        OldFile Copy(string name) => sample with { Id = Guid.NewGuid(), Name = name };
        var length = sample.Truth.Length;
        old.AddFile(Copy("unreadable.mkv"), folder, length, "", null, bytes => [.. bytes.Reverse()]);
        old.AddFile(Copy("missing.mkv"), folder, length, "", null, isMissing: true);
        old.AddFile(Copy("cut.mkv"), folder, length, "", null, bytes => bytes[..(bytes.Length / 2)]);
        old.AddFile(Copy("endless.mkv"), folder, long.MaxValue, "", null);
        old.AddFile(Copy("negative.mkv"), folder, -5, "", null);
        old.AddFile(Copy("unknown.mkv"), folder, null, "", null);
        old.AddFile(Copy("short.mkv"), folder, 3, "", null);
        old.AddFile(sample with { Id = Guid.NewGuid(), Name = "empty.mkv", Parts = [new OldPart([], length, 0, length)] }, folder, length, "", null);
        old.AddFile(sample with { Id = Guid.NewGuid(), Name = "no-id.mkv", Parts = [new OldPart(["a b", "c"], length, 0, length)] }, folder, length, "", null);
        old.AddFile(sample with { Id = Guid.NewGuid(), Name = "outside.mkv", Kind = 202, Parts = [new OldPart(sample.Parts[0].Ids, length, length - 1, length)] }, folder, length, "", null);
        var nameless = Copy("nameless.mkv");
        old.AddFile(nameless, folder, length, "", null);
        old.Run("UPDATE DavItems SET Id = 'no id' WHERE Id = @p0", nameless.Id.ToString("D").ToUpperInvariant());

        // These files are intact although their paths are invalid.
        displaced = [Copy("dangling.mkv"), Copy("twice.mkv"), Copy("twice.mkv"), Copy("loose.mkv")];
        old.AddFile(displaced[0], Guid.NewGuid(), length, "", null);
        old.AddFile(displaced[1], folder, length, "", null);
        old.AddFile(displaced[2], folder, length, "", null);
        old.AddFile(displaced[3], OldServer.CategoryId("tv"), length, "", null);

        old.AddHistory(Guid.NewGuid(), "Failed.Film", "movies", 2, "Missing articles", null, damaged.Nzb);
        old.AddHistory(Guid.NewGuid(), "Gone.Film", "tv", 1, null, Guid.NewGuid(), null);
        old.AddQueue(Guid.NewGuid(), "Waiting.One", "movies", -2, damaged.Nzb);
        old.AddQueue(Guid.NewGuid(), "Waiting.Two", "tv", -2, whole.Nzb);
        old.AddQueue(Guid.NewGuid(), "Lost.One", "tv", -2, null);
        return 11;
    }

    private static void AddAccess(OldServer old)
    {
        old.AddSetting("api.key", OldServer.ApiKey);
        old.AddSetting("webdav.user", OldServer.User);
        old.AddSetting("webdav.pass", OldServer.Identity(OldServer.Password));
        old.AddSetting("rclone.mount-dir", OldServer.Mount);
    }

    /// <summary>Returns the storage of each history item, newest first.</summary>
    private static async Task<IEnumerable<string>> StoragesAsync(ImportingServer server) =>
        (await server.CallAsync($"mode=history&apikey={OldServer.ApiKey}"))["history"]!["slots"]!.AsArray().Select(slot => slot!["storage"]!.GetValue<string>());

    private void AddProvider(OldServer old) => old.AddSetting("usenet.providers", ProductHost.ProvidersJson(library.Mock));

    private static void AssertSums(OldServer old, JsonNode report, int broken)
    {
        var counts = report["counts"]!.AsArray().ToDictionary(count => count!["kind"]!.GetValue<string>(), count => count!);
        Assert.All(counts.Values, count => Assert.Equal((int)count["found"]!, (int)count["taken"]! + (int)count["left"]!));
        var files = old.Count("SELECT (SELECT count(*) FROM DavItems) - (SELECT count(*) FROM DavItems WHERE Type = 1)");
        Assert.Equal((files, broken), ((long)counts["files"]["found"]!, (int)counts["files"]["left"]!));
        Assert.Equal((old.Count("SELECT count(*) FROM HistoryItems"), 0), ((long)counts["history"]["found"]!, (int)counts["history"]["left"]!));
        Assert.Equal((old.Count("SELECT count(*) FROM QueueItems"), 1), ((long)counts["queue"]["found"]!, (int)counts["queue"]["left"]!));
        Assert.Equal((old.Count("SELECT count(*) FROM ConfigItems"), 1), ((long)counts["settings"]["found"]!, (int)counts["settings"]["left"]!));
        Assert.Equal((1, 0), ((int)counts["logins"]["found"]!, (int)counts["logins"]["left"]!));
        var left = report["left"]!.AsArray();
        Assert.Equal((int)report["leftTotal"]!, left.Count);
        Assert.All(left, thing => Assert.NotEqual("", thing!["reason"]!.GetValue<string>()));
        Assert.Equal(broken, left.Count(thing => thing!["kind"]!.GetValue<string>() == "files"));
    }

    /// <summary>Checks that each file can be read by its id.</summary>
    private async Task AssertPlaysAsync(ImportingServer server, IReadOnlyList<OldFile> files)
    {
        var failures = new ConcurrentBag<string>();
        await Parallel.ForEachAsync(files, new ParallelOptions { MaxDegreeOfParallelism = 4, CancellationToken = Token }, async (file, token) =>
        {
            var name = $"{library.Releases.FirstOrDefault(release => release.Files.Contains(file))?.Name} {file.Name} of kind {file.Kind}";
            using var answer = await server.GetTreeAsync("/" + IdPath.Of(file.Id));
            if (answer.StatusCode != HttpStatusCode.OK)
                failures.Add($"{name}: {(int)answer.StatusCode}");
            var bytes = await answer.Content.ReadAsByteArrayAsync(token);
            if (answer.StatusCode == HttpStatusCode.OK && !bytes.AsSpan().SequenceEqual(file.Truth.ToArray()))
                failures.Add($"{name} differs");
        });
        Assert.Empty(failures);
    }

    /// <summary>Checks that links by id and addresses in STRM files still lead to their files.</summary>
    private async Task AssertLinksAsync(ImportingServer server)
    {
        foreach (var release in library.Releases.Where((_, i) => i % 20 == 0))
        {
            foreach (var file in release.Files)
            {
                using var link = await server.GetTreeAsync($"/completed-symlinks/{release.Category}/{release.Name}/{file.Name}.rclonelink");
                Assert.Equal($"{OldServer.Mount}/{IdPath.Of(file.Id)}", await link.Content.ReadAsStringAsync(Token));
                using var content = await server.GetTreeAsync($"/content/{release.Category}/{release.Name}/{file.Name}", HttpMethod.Head);
                Assert.Equal(file.Truth.Length, content.Content.Headers.ContentLength);
                var path = IdPath.Of(file.Id);
                var key = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes($"{path}_{OldServer.StrmKey}")));
                using var strm = await server.Client.GetAsync(new Uri($"/view/{path}?downloadKey={key}&extension=mkv", UriKind.Relative), Token);
                Assert.Equal(HttpStatusCode.OK, strm.StatusCode);
                Assert.Equal(file.Truth.ToArray(), await strm.Content.ReadAsByteArrayAsync(Token));
            }
        }
    }

    private async Task AssertListsAsync(ImportingServer server, OldServer old)
    {
        var history = await server.CallAsync($"mode=history&limit=1000&apikey={OldServer.ApiKey}");
        var slots = history["history"]!["slots"]!.AsArray().ToDictionary(slot => slot!["nzo_id"]!.GetValue<string>(), slot => slot!);
        Assert.Equal(old.Count("SELECT count(*) FROM HistoryItems"), slots.Count);
        Assert.All(library.Releases, release => Assert.Equal(release.Name, slots[release.Item.ToString()]["name"]!.GetValue<string>()));
        // Newest first, as on the old server.
        Assert.Equal(["Gone.Film", "Failed.Film", library.Releases[^1].Name], slots.Values.Take(3).Select(slot => slot["name"]!.GetValue<string>()));
        Assert.Equal("It failed on the old server, which said: Missing articles.", slots.Values.ElementAt(1)["fail_message"]!.GetValue<string>());
        // Its release is gone. Sonarr deletes the storage of an item, so this must not be the folder of a category.
        Assert.Equal($"{OldServer.Mount}/completed-symlinks/tv/Gone.Film", slots.Values.First()["storage"]!.GetValue<string>());
        var queue = await server.CallAsync($"mode=queue&apikey={OldServer.ApiKey}");
        Assert.Equal(["Waiting.One", "Waiting.Two"], queue["queue"]!["slots"]!.AsArray().Select(slot => slot!["filename"]!.GetValue<string>()));
    }

    private static async Task AssertSettingsAsync(ImportingServer server, JsonNode report)
    {
        var values = server.Get<SettingsSource>().Current;
        Assert.Equal((OldServer.Mount, "28", "0"), (values.Text("rclone.mount-dir"), values.Text("usenet.read-ahead-mb"), values.Text("database.history-retention-days")));
        Assert.Contains("usenet.article-buffer-size: 40 is usenet.read-ahead-mb: 28 here", report["notes"]!.AsArray().Select(note => note!.GetValue<string>()));
        Assert.Equal(["repair.enable", "search.profiles"], report["kept"]!.AsArray().Select(key => key!.GetValue<string>()).Order(StringComparer.Ordinal).Where(key => key != "usenet.max-streams"));
        // SettingsStore encrypts the values of unknown keys, because they may be secrets.
        var kept = await server.Get<SluiceDatabase>().ReadAsync(connection => connection.Query<string>("SELECT value FROM setting").ToList(), Token);
        Assert.DoesNotContain(kept, value => value.Contains("secret-of-an-indexer", StringComparison.Ordinal));

        var hash = values.Text("webdav.pass");
        Assert.False(PasswordHash.Parse(hash)!.IsImported, "the tree was read with the old password, which is hashed anew");
        using var login = await server.Client.PostAsync(
            new Uri("/api/session", UriKind.Relative),
            new StringContent(new JsonObject { ["user"] = OldServer.User, ["password"] = OldServer.Password }.ToJsonString(), Encoding.UTF8, "application/json"),
            Token);
        Assert.Equal(HttpStatusCode.OK, login.StatusCode);
        Assert.False(server.Get<AdminStore>().Admin!.Password.IsImported);
    }

    /// <summary>A disk that is full after this number of files.</summary>
    private sealed class FullDisk(int files) : IBlobFiles
    {
        private readonly DiskBlobFiles _disk = new();
        private int _left = files;

        public Stream Create(string path) => Interlocked.Decrement(ref _left) >= 0 ? _disk.Create(path) : throw new IOException("full") { HResult = 28 };

        public void SyncFile(Stream file) => _disk.SyncFile(file);

        public void SyncFiles(string folder, IReadOnlyCollection<string> files) => _disk.SyncFiles(folder, files);

        public void Rename(string from, string to) => _disk.Rename(from, to);

        public void SyncFolder(string path) => _disk.SyncFolder(path);

        public FileStream OpenRead(string path) => _disk.OpenRead(path);

        public void Delete(string path) => _disk.Delete(path);

        public IEnumerable<FileInfo> List(string folder) => _disk.List(folder);

        public long FreeBytes(string folder) => _disk.FreeBytes(folder);
    }
}

/// <summary>The whole server over an old data folder, with only the settings of the old server.</summary>
internal sealed class ImportingServer : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly string _key;

    private ImportingServer(WebApplication app, Uri address, string key)
    {
        (_app, _key) = (app, key);
        Client = new HttpClient { BaseAddress = address };
    }

    public HttpClient Client { get; }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static async Task<ImportingServer> StartAsync(TemporaryFolder folder, bool imports, Action<IServiceCollection>? replace = null, MockServer? provider = null)
    {
        var environment = new Dictionary<string, string>
        {
            ["CONFIG_PATH"] = folder.Root,
            ["PORT"] = "0",
            ["BIND_ADDRESS"] = "127.0.0.1",
            ["LOG_LEVEL"] = "error",
            ["SLUICE_IMPORT"] = imports ? "true" : "false",
        };
        if (provider is not null)
            environment["SLUICE_CONFIG__USENET__PROVIDERS"] = ProductHost.ProvidersJson(provider);
        var app = Program.Build(new ProcessEnvironment(environment), services =>
        {
            MigratedTemplate.AddTo(services, folder.Root);
            replace?.Invoke(services);
        });
        await app.StartAsync(Token);
        var address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First();
        var (_, key) = await app.Services.GetRequiredService<AdminStore>().MakeKeyAsync("test", hasFullAccess: true, Token);
        return new ImportingServer(app, new Uri(address), key);
    }

    public T Get<T>()
        where T : notnull => _app.Services.GetRequiredService<T>();

    public Task<JsonNode> ReportAsync() => SendAsync(HttpMethod.Get, "/api/setup/import", HttpStatusCode.OK);

    /// <summary>Polls until the import reaches a state; fails if the import has failed.</summary>
    public async Task<JsonNode> WaitAsync(string state)
    {
        while (true)
        {
            var report = await ReportAsync();
            var now = report["state"]!.GetValue<string>();
            if (now == state)
                return report;
            Assert.True(now is "looking" or "running", $"{now}: {report["error"]}");
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        }
    }

    public async Task<JsonNode> SendAsync(HttpMethod method, string path, HttpStatusCode expected)
    {
        using var request = new HttpRequestMessage(method, new Uri(path, UriKind.Relative));
        request.Headers.Add("X-Api-Key", _key);
        using var answer = await Client.SendAsync(request, Token);
        var text = await answer.Content.ReadAsStringAsync(Token);
        Assert.True(answer.StatusCode == expected, $"{method} {path}: {(int)answer.StatusCode} {text}");
        return JsonNode.Parse(text)!;
    }

    public async Task<JsonNode> CallAsync(string query) =>
        JsonNode.Parse(await Client.GetStringAsync(new Uri($"/api?output=json&{query}", UriKind.Relative), Token))!;

    /// <summary>Reads the tree with the login of the old server.</summary>
    public Task<HttpResponseMessage> GetTreeAsync(string path, RangeHeaderValue range) => GetTreeAsync(path, HttpMethod.Get, range);

    /// <inheritdoc cref="GetTreeAsync(string, RangeHeaderValue)"/>
    public Task<HttpResponseMessage> GetTreeAsync(string path, HttpCompletionOption completion) => GetTreeAsync(path, HttpMethod.Get, null, completion);

    /// <inheritdoc cref="GetTreeAsync(string, RangeHeaderValue)"/>
    public async Task<HttpResponseMessage> GetTreeAsync(string path, HttpMethod? method = null, RangeHeaderValue? range = null, HttpCompletionOption completion = HttpCompletionOption.ResponseContentRead)
    {
        using var request = new HttpRequestMessage(method ?? HttpMethod.Get, new Uri(path, UriKind.Relative));
        request.Headers.Range = range;
        request.Headers.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{OldServer.User}:{OldServer.Password}")));
        return await Client.SendAsync(request, completion, Token);
    }

    /// <summary>Counts the rows of each table that an import writes.</summary>
    public async Task<JsonNode> RowsAsync() => await Get<SluiceDatabase>().ReadAsync(
        connection => (JsonNode)new JsonObject(((string[])["release", "library_file", "posted_file", "history_item", "queue_item", "setting", "admin_account"])
            .Select(table => KeyValuePair.Create(table, (JsonNode?)connection.ExecuteScalar<long>($"SELECT count(*) FROM {table}")))),
        Token);

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _app.StopAsync();
        await _app.DisposeAsync();
    }
}
