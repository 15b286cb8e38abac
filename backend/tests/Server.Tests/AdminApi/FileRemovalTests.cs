using System.Globalization;
using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Outbound;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Files that are removed from the library, and what brings them back (HLT-60, HLT-61, HLT-62).</summary>
public sealed class FileRemovalTests : IAsyncLifetime
{
    private static readonly string[] Tables =
        ["release", "posted_file", "library_file", "file_media", "file_position", "release_proof", "release_opening", "picture"];

    private readonly TemporaryFolder _folder = new();
    private readonly ManualTimeProvider _time = new();
    private readonly List<string> _programs = [];
    private MockServer _mock = null!;
    private JobServer _server = null!;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _mock = await MockServer.StartAsync();
        _server = await StartAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        await _mock.DisposeAsync();
        _folder.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Removed_release_disappears_everywhere_until_undone(bool isRestarted)
    {
        var (id, film) = (await ImportAsync("Harbour.Lights", 1, "film.mkv", "film.srt"), await FileAsync("Harbour.Lights/film.mkv"));
        await ImportAsync("Other", 2, "other.mkv");
        await LearnAsync(film);
        string[] ways =
        [
            "/content/movies/Harbour.Lights/film.mkv", $"/.ids/{string.Join('/', film.Take(5))}/{film}", $"/view/content/movies/Harbour.Lights/film.mkv",
            "/completed-symlinks/movies/Harbour.Lights/film.mkv.rclonelink",
        ];
        var (rows, tags) = (await DumpAsync(), await TagsAsync(ways));
        var (bytes, sab, detail) = (await ReadAsync(ways[0]), await SabAsync(), (await _server.GetAsync($"history/{id}")).ToJsonString());
        Assert.All(tags, tag => Assert.StartsWith("200 ", tag, StringComparison.Ordinal));

        var removed = await RemoveAsync(new JsonObject { ["paths"] = new JsonArray("movies/Harbour.Lights") });

        Assert.Equal((2L, 1L), (removed["files"]!.GetValue<long>(), removed["releases"]!.GetValue<long>()));
        Assert.All(await TagsAsync(ways), tag => Assert.Equal("404 ", tag));
        await _server.SendAsync(HttpMethod.Get, $"files/{film}", null, HttpStatusCode.NotFound);
        Assert.Empty(await _server.ListAsync("files?q=film"));
        Assert.Equal(["Other"], (await _server.ListAsync("files?path=movies")).Select(row => Text(row, "name")));
        Assert.Equal(sab, await SabAsync());
        Assert.Null((await _server.GetAsync($"history/{id}"))["item"]!["path"]);
        Assert.Equal(2, Nzbs());
        if (isRestarted)
        {
            await _server.DisposeAsync();
            _server = await StartAsync();
        }

        await UndoAsync(removed, HttpStatusCode.NoContent);

        Assert.Equal(rows, await DumpAsync());
        Assert.Equal(tags, await TagsAsync(ways));
        Assert.Equal(bytes, await ReadAsync(ways[0]));
        Assert.Equal(sab, await SabAsync());
        Assert.Equal(detail, (await _server.GetAsync($"history/{id}")).ToJsonString());
        Assert.Equal("Harbour.Lights", Text((await _server.ListAsync("files?q=film.mkv"))[0], "path").Split('/')[1]);
        Assert.Empty(await _server.ListAsync("quarantine"));
        Assert.Equal(0, await _server.CountAsync("library_removal"));
        await UndoAsync(removed, HttpStatusCode.Conflict);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Release_is_removed_with_its_last_file_and_restored(bool isFirstBackFirst)
    {
        await ImportAsync("Rel", 1, "a.mkv", "b.mkv");
        foreach (var name in new[] { "Rel/a.mkv", "Rel/b.mkv" })
            await LearnAsync(await FileAsync(name));
        var rows = await DumpAsync();
        Assert.Equal(3, await _server.CountAsync("picture"));

        var first = await RemoveAsync(new JsonObject { ["ids"] = new JsonArray(await FileAsync("Rel/a.mkv")) });
        Assert.Equal(["b.mkv"], await NamesAsync("movies/Rel"));
        Assert.Equal(2, await _server.CountAsync("picture"));
        var second = await RemoveAsync(new JsonObject { ["paths"] = new JsonArray("movies/Rel/b.mkv") });
        await _server.SendAsync(HttpMethod.Get, "files?path=movies/Rel", null, HttpStatusCode.NotFound);
        var listed = await _server.ListAsync("quarantine");
        Assert.Equal(
            [("Rel", (string?)null, true, 1L), ("Rel", "a.mkv", true, 1L)],
            listed.Select(row => (Text(row, "name"), (string?)row["path"], row["whole"]!.GetValue<bool>(), row["files"]!.GetValue<long>())));

        await UndoAsync(isFirstBackFirst ? first : second, HttpStatusCode.NoContent);
        Assert.Equal([isFirstBackFirst ? "a.mkv" : "b.mkv"], await NamesAsync("movies/Rel"));
        Assert.Equal(2, await _server.CountAsync("picture"));
        await UndoAsync(isFirstBackFirst ? second : first, HttpStatusCode.NoContent);

        Assert.Equal(rows, await DumpAsync());
    }

    [Fact]
    public async Task Restored_file_gets_a_number_if_its_name_is_taken()
    {
        await ImportAsync("Rel", 1, "a.mkv", "b.mkv");
        var film = await FileAsync("Rel/a.mkv");
        var removed = await RemoveAsync(new JsonObject { ["paths"] = new JsonArray("movies/Rel") });
        await _server.Host.Get<SluiceDatabase>().WriteAsync(connection => LibraryStore.Insert(connection, Release("Rel", 1), _time.GetUtcNow()), Token);

        await UndoAsync(removed, HttpStatusCode.NoContent);

        Assert.Equal(["Rel", "Rel (2)"], await NamesAsync("movies"));
        Assert.Equal(film, await FileAsync("Rel (2)/a.mkv"));
        Assert.Equal("movies/Rel (2)/a.mkv", Text(Assert.Single(await _server.ListAsync($"files?q={Uri.EscapeDataString("rel (2) a mkv")}")), "path"));

        var one = await RemoveAsync(new JsonObject { ["ids"] = new JsonArray(film) });
        await _server.Host.Get<SluiceDatabase>().WriteAsync(
            connection => connection.Execute("UPDATE library_file SET path_key = 'a.mkv' WHERE path_key = 'b.mkv'"), Token);
        await UndoAsync(one, HttpStatusCode.NoContent);
        Assert.Equal(["a (2).mkv", "a.mkv"], await NamesAsync("movies/Rel (2)"));
    }

    [Fact]
    public async Task New_release_never_gets_the_number_of_a_removed_one()
    {
        await ImportAsync("First", 1, "a.mkv");
        var rows = await DumpAsync();
        var removed = await RemoveAsync(new JsonObject { ["paths"] = new JsonArray("movies/First") });
        await ImportAsync("Second", 2, "b.mkv");
        await UndoAsync(removed, HttpStatusCode.NoContent);

        var again = await RemoveAsync(new JsonObject { ["paths"] = new JsonArray("movies/Second") });
        Assert.Equal(rows, string.Join('\n', (await DumpAsync()).Split('\n').Where(row => !row.StartsWith("history_item: number=2|", StringComparison.Ordinal))));
        await UndoAsync(again, HttpStatusCode.NoContent);
        Assert.Equal(["First", "Second"], await NamesAsync("movies"));
    }

    [Fact]
    public async Task History_item_and_its_files_are_removed_and_restored_at_once()
    {
        var good = await ImportAsync("Rel", 1, "a.mkv");
        var page = (await _server.GetAsync("history"))["items"]!.ToJsonString();
        var (rows, sab) = (await DumpAsync(), await SabAsync());
        var choice = new JsonObject { ["history"] = new JsonObject { ["ids"] = new JsonArray(good) } };
        Assert.Equal((1L, 1L), Counts(await RemoveAsync(choice, "?dryRun=true")));

        var removed = await RemoveAsync(choice);

        Assert.Equal((1L, 1L), Counts(removed));
        Assert.Empty(await _server.ListAsync("history"));
        Assert.Empty(await NamesAsync("movies"));
        await UndoAsync(removed, HttpStatusCode.NoContent);
        Assert.Equal(page, (await _server.GetAsync("history"))["items"]!.ToJsonString());
        Assert.Equal((rows, sab), (await DumpAsync(), await SabAsync()));

        removed = await RemoveAsync(choice);
        await PassAsync(UndoWorker.UndoTime, UndoWorker.UndoTime);
        await WaitUntilAsync(async () => await _server.CountAsync("removal") == 0);
        await UndoAsync(removed, HttpStatusCode.Conflict);
        var kept = Assert.Single(await _server.ListAsync("quarantine"));
        Assert.Equal(1, (await _server.SendAsync(HttpMethod.Post, $"quarantine/{kept["id"]}/restore"))["count"]!.GetValue<int>());
        Assert.Empty(await _server.ListAsync("history"));
        Assert.Equal(["Rel"], await NamesAsync("movies"));
        await _server.SendAsync(HttpMethod.Post, $"quarantine/{kept["id"]}/restore", null, HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Dry_run_reports_active_players_and_importing_apps()
    {
        var id = await _server.ImportAsync("Rel", 1, 20_000_000, "a.mkv", "b.srt");
        await ImportAsync("Other", 2, "c.mkv");
        _programs.Add(id);
        using var player = await PlayAsync("Rel/a.mkv");

        var impact = await RemoveAsync(new JsonObject { ["paths"] = new JsonArray("movies/Rel") }, "?dryRun=true");

        Assert.Equal((2L, 1L), (impact["files"]!.GetValue<long>(), impact["releases"]!.GetValue<long>()));
        Assert.Equal("a.mkv", Text(Assert.Single(impact["playing"]!.AsArray())!, "name"));
        var program = Assert.Single(impact["programs"]!.AsArray())!;
        Assert.Equal(("My Radarr", 1, null), (Text(program, "name"), program["imported"]!.GetValue<int>(), (string?)program["failure"]));
        Assert.Equal(1, impact["asked"]!.GetValue<int>());
        Assert.Null(impact["undo"]);
        Assert.Equal(["Other", "Rel"], await NamesAsync("movies"));
        _programs.Add("down");
        var other = await RemoveAsync(new JsonObject { ["filter"] = new JsonObject { ["path"] = "movies", ["q"] = "c mkv" } }, "?dryRun=true");
        Assert.Equal((1L, 0), (other["files"]!.GetValue<long>(), other["playing"]!.AsArray().Count));
        Assert.Contains("500", Text(other["programs"]![0]!, "failure"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("{}", HttpStatusCode.BadRequest)]
    [InlineData("""{"ids":["x"],"paths":["movies"]}""", HttpStatusCode.BadRequest)]
    [InlineData("""{"history":{}}""", HttpStatusCode.BadRequest)]
    [InlineData("""{"folder":"movies"}""", HttpStatusCode.BadRequest)]
    [InlineData("""{"ids":["x","../..","0f8fad5b-d9cb-469f-a165-70867728950e"]}""", HttpStatusCode.OK)]
    [InlineData("""{"paths":["","/","none","movies/none","movies/Rel/none","demo","demo/sluice-demo.mp4"]}""", HttpStatusCode.OK)]
    [InlineData("""{"filter":{"q":"none"}}""", HttpStatusCode.OK)]
    public async Task Invalid_or_unknown_selections_remove_nothing(string body, HttpStatusCode expected)
    {
        await ImportAsync("Rel", 1, "a.mkv");
        var rows = await DumpAsync();

        var answer = await _server.SendAsync(HttpMethod.Delete, "files", JsonNode.Parse(body), expected);

        Assert.Equal(rows, await DumpAsync());
        Assert.Null(answer["undo"]);
        await _server.SendAsync(HttpMethod.Post, "undo/r-1", null, HttpStatusCode.NotFound);
        await _server.SendAsync(HttpMethod.Post, "undo/r-x", null, HttpStatusCode.NotFound);
        await _server.SendAsync(HttpMethod.Post, "quarantine/x/restore", null, HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Removed_files_are_deleted_after_seven_days_of_uptime()
    {
        var id = await ImportAsync("Rel", 1, "a.mkv");
        await ImportAsync("Kept", 2, "b.mkv");
        var removed = await RemoveAsync(new JsonObject { ["paths"] = new JsonArray("movies/Rel") });

        // A clock that jumps deletes nothing, and neither does a restart.
        _time.SetWallClock(TimeSpan.FromDays(730));
        await PassAsync(TimeSpan.FromDays(3), RemovalTerm.Round);
        await _server.DisposeAsync();
        _server = await StartAsync();
        await PassAsync(TimeSpan.FromDays(3), RemovalTerm.Round);
        Assert.Single(await _server.ListAsync("quarantine"));
        _time.SetWallClock(TimeSpan.FromDays(-740));
        await PassAsync(TimeSpan.FromDays(6), RemovalTerm.Round);
        Assert.Single(await _server.ListAsync("quarantine"));
        Assert.Equal(2, Nzbs());

        await PassAsync(TimeSpan.FromDays(2), RemovalTerm.Round);
        await WaitUntilAsync(async () => await _server.CountAsync("removed_release") + await _server.CountAsync("library_removal") == 0 && Nzbs() == 2);
        await UndoAsync(removed, HttpStatusCode.Conflict);
        foreach (var table in Tables)
            Assert.Equal(0, await _server.CountAsync($"removed_{table}"));
        Assert.Equal(["Kept"], await NamesAsync("movies"));

        // The history item still refers to its NZB.
        await _server.SendAsync(HttpMethod.Delete, $"history/{id}");
        await PassAsync(UndoWorker.UndoTime, UndoWorker.UndoTime);
        await WaitUntilAsync(() => Task.FromResult(Nzbs() == 1));
    }

    [Fact]
    public async Task Removed_file_tables_have_all_columns_of_the_original_rows()
    {
        var database = _server.Host.Get<SluiceDatabase>();
        var dependents = await database.ReadAsync(
            connection => connection.Query<string>(
                """
                SELECT DISTINCT t.name FROM sqlite_master t, pragma_foreign_key_list(t.name) f
                WHERE t.type = 'table' AND f."table" IN ('release', 'library_file') AND t.name NOT LIKE '%history_item' AND t.name <> 'leaving_release'
                """).ToList(),
            Token);
        Assert.Equal(Tables.Where(table => table != "release").Order(), dependents.Order());

        foreach (var table in Tables)
        {
            var (all, kept) = await database.ReadAsync(
                connection => (
                    connection.Query<string>($"SELECT name FROM pragma_table_info('{table}')").ToList(),
                    connection.Query<string>($"SELECT name FROM pragma_table_info('removed_{table}') WHERE name <> 'item'").ToList()),
                Token);
            Assert.Equal(all.Order(), kept.Order());
        }
    }

    [Theory]
    [Trait("Category", EndToEndRun.Measures)]
    [InlineData(10_000, 1)]
    [InlineData(1, 10_000)]
    [InlineData(100, 100)]
    public async Task Ten_thousand_files_are_removed_and_restored(int releases, int files)
    {
        await _server.Host.Get<SluiceDatabase>().WriteAsync(
            connection =>
            {
                for (var i = 0; i < releases; i++)
                    LibraryStore.Insert(connection, Release(string.Create(CultureInfo.InvariantCulture, $"Rel.{i:D5}"), files), _time.GetUtcNow());
                return true;
            },
            Token);
        await _server.Host.Get<SluiceDatabase>().WriteAsync(
            connection => connection.Execute("INSERT INTO file_media (file_id, duration) SELECT id, 1 FROM library_file"), Token);
        var rows = await DumpAsync();

        var began = TimeProvider.System.GetTimestamp();
        var removed = await RemoveAsync(new JsonObject { ["paths"] = new JsonArray("movies") });
        var went = TimeProvider.System.GetElapsedTime(began);
        Assert.Equal(10_000, removed["files"]!.GetValue<long>());
        Assert.Equal(0, await _server.CountAsync("library_file"));
        began = TimeProvider.System.GetTimestamp();
        await UndoAsync(removed, HttpStatusCode.NoContent);
        var back = TimeProvider.System.GetElapsedTime(began);

        Assert.Equal(rows, await DumpAsync());
        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(
            CultureInfo.InvariantCulture, $"{releases} releases of {files}: removed in {went.TotalMilliseconds:F0} ms, back in {back.TotalMilliseconds:F0} ms"));
    }

    [Fact]
    public async Task Removal_above_the_file_limit_is_refused()
    {
        await _server.Host.Get<SluiceDatabase>().WriteAsync(
            connection => LibraryStore.Insert(connection, Release("Rel", FileRemoval.MostFiles + 1), _time.GetUtcNow()), Token);

        await _server.SendAsync(HttpMethod.Delete, "files", new JsonObject { ["paths"] = new JsonArray("movies") }, HttpStatusCode.BadRequest);
        await _server.SendAsync(HttpMethod.Delete, "files", new JsonObject { ["filter"] = new JsonObject { ["q"] = "film" } }, HttpStatusCode.BadRequest);

        Assert.Equal(FileRemoval.MostFiles + 1, await _server.CountAsync("library_file"));
    }

    private async Task<JobServer> StartAsync()
    {
        var radarr = await FakeIndexer.StartAsync(AnswerAsync);
        var instances = $$$"""
            {"RadarrInstances":[{"Id":"r","Name":"My Radarr","Host":"http://127.0.0.1:{{{radarr.Port}}}","ApiKey":"k","Enabled":true,"Category":"movies"},
             {"Id":"o","Name":"Turned off","Host":"http://127.0.0.1:{{{radarr.Port}}}/off","ApiKey":"k","Enabled":false,"Category":"movies"}]}
            """;
        return await JobServer.StartAsync(
            _folder,
            _mock,
            services => JobServer.UseRemovalClock(services.AddSingleton(_ => radarr), _time),
            ("SLUICE_CONFIG__ARR__INSTANCES", instances));
    }

    /// <summary>The history of a program, which knows its imports by their download ids.</summary>
    private Task AnswerAsync(HttpContext context)
    {
        if (_programs.Contains("down"))
            return FakeIndexer.Say(500)(context);
        var asked = context.Request.Query["downloadId"].ToString();
        var records = _programs.Contains(asked) ? $$"""{"eventType":"grabbed","downloadId":"{{asked}}"},{"eventType":"downloadFolderImported","downloadId":"{{asked}}"}""" : "";
        return context.Response.WriteAsync($$"""{"records":[{{records}}]}""", Token);
    }

    private Task<string> ImportAsync(string name, ulong seed, params string[] files) => _server.ImportAsync(name, seed, 100_000, files);

    private static NewRelease Release(string name, int files) => new(
        "movies", name, new string('a', 64),
        [new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000))],
        [.. Enumerable.Range(0, files).Select(i => new NewLibraryFile(
            Guid.NewGuid(), string.Create(CultureInfo.InvariantCulture, $"film.{i:D5}.mkv"), null, 1000, $"tag-{i}", new FileContent([new ContentExtent(0, 0, 1000)])))]);

    /// <summary>Writes what the server learns of a film while it plays, with a still and a poster.</summary>
    private async Task LearnAsync(string file)
    {
        var film = Guid.Parse(file);
        await _server.Host.Get<MediaStore>().KeepAsync(film, new MediaFacts(7000, 640, 480, "H.264", null), Token);
        var release = await _server.Host.Get<SluiceDatabase>().ReadAsync(
            connection => connection.ExecuteScalar<long>("SELECT release_id FROM library_file WHERE id = @file", new { file }), Token);
        Assert.NotNull(await _server.Host.Get<PictureStore>().SaveStillAsync(release, film, film.ToByteArray(), Token));
        Assert.NotNull(await _server.Host.Get<PictureStore>().SavePosterAsync(release, "poster"u8.ToArray(), Token));
    }

    private Task<JsonNode> RemoveAsync(JsonObject choice, string query = "") => _server.SendAsync(HttpMethod.Delete, $"files{query}", choice.DeepClone());

    private Task<JsonNode> UndoAsync(JsonNode removed, HttpStatusCode expected) => _server.SendAsync(HttpMethod.Post, $"undo/{Text(removed, "undo")}", null, expected);

    private async Task<string> FileAsync(string path) =>
        Text((await _server.ListAsync($"files?path=movies/{Uri.EscapeDataString(path[..path.IndexOf('/', StringComparison.Ordinal)])}")).Single(row => Text(row, "path") == $"movies/{path}"), "id");

    private async Task<List<string>> NamesAsync(string path) => [.. (await _server.ListAsync($"files?path={Uri.EscapeDataString(path)}")).Select(row => Text(row, "name"))];

    private async Task<string> SabAsync() => (await _server.Host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots").ToString();

    private async Task<string[]> TagsAsync(string[] paths)
    {
        var tags = new List<string>();
        foreach (var path in paths)
        {
            using var answer = await _server.Host.SendAsync(HttpMethod.Head, path, null, Token);
            tags.Add($"{(int)answer.StatusCode} {answer.Headers.ETag}");
        }

        return [.. tags];
    }

    private async Task<byte[]> ReadAsync(string path)
    {
        using var answer = await _server.Host.SendAsync(HttpMethod.Get, path, null, Token);
        return await answer.EnsureSuccessStatusCode().Content.ReadAsByteArrayAsync(Token);
    }

    /// <summary>Begins to play a file, and reads enough for a playback.</summary>
    private async Task<Stream> PlayAsync(string path)
    {
        var link = Text((await _server.GetAsync($"files/{await FileAsync(path)}"))["links"]!, "signed");
        var body = await _server.Client.GetStreamAsync(new Uri(link), Token);
        await body.ReadExactlyAsync(new byte[5 << 20], Token);
        return body;
    }

    /// <summary>Lets time pass in steps, each once a worker waits for exactly one step, or once nothing is left to wait for.</summary>
    private async Task PassAsync(TimeSpan span, TimeSpan step)
    {
        for (var passed = TimeSpan.Zero; passed < span; passed += step)
        {
            await WaitUntilAsync(async () => _time.IsDueIn(step) || await _server.CountAsync("library_removal") + await _server.CountAsync("removal") == 0);
            _time.Advance(step);
        }
    }

    private static async Task WaitUntilAsync(Func<Task<bool>> condition)
    {
        while (!await condition())
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }

    private int Nzbs() => Directory.GetFiles(Path.Combine(_folder.Root, "blobs"), "*.nzb*", SearchOption.TopDirectoryOnly).Length;

    /// <summary>Every column of every row of the library and of the links to it.</summary>
    private Task<string> DumpAsync() => _server.Host.Get<SluiceDatabase>().ReadAsync(
        connection => string.Join('\n', Tables.Append("history_item").SelectMany(table =>
            connection.Query($"SELECT * FROM {table} ORDER BY 1, 2").Cast<IDictionary<string, object>>()
                .Select(row => $"{table}: {string.Join('|', row.Select(column => $"{column.Key}={(column.Value is byte[] bytes ? Convert.ToHexString(bytes) : column.Value)}"))}"))),
        Token);

    private static (long Files, long Items) Counts(JsonNode state) => (state["files"]!.GetValue<long>(), state["historyItems"]!.GetValue<long>());

    private static string Text(JsonNode node, string name) => node[name]!.GetValue<string>();
}
