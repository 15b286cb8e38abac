using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Removals from the queue and the history can be undone for ten seconds (HLT-61).</summary>
public sealed class UndoTests : IDisposable
{
    private static readonly TimeSpan Almost = UndoWorker.UndoTime - TimeSpan.FromSeconds(1);

    private readonly TemporaryFolder _folder = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Undo_restores_removed_items_in_place(bool isRestarted)
    {
        var server = await StartAsync();
        await using var ending = new Ending(() => server);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        await server.AddAsync("First", ("priority", "high"));
        var a = await server.AddAsync("A", ("category", "tv"), ("password", "pw"));
        await server.AddAsync("Between");
        await server.Host.PutAsync("/nzbs/movies/Two.zip", NzbText.Zip(("One.nzb", NzbText.Of("d.mkv")), ("Two.nzb", NzbText.Of("e.mkv"))), Token);
        var zip = (await server.ListAsync("queue?category=movies")).Select(row => Text(row, "id")).ToList();
        await server.AddAsync("Last");
        var rows = await server.GetAsync("queue");
        var (stored, files) = (await DumpAsync(server), await server.Host.CallAsync("mode=queue", Token));

        var removed = await server.SendAsync(HttpMethod.Post, "queue/remove", new JsonObject { ["ids"] = new JsonArray(a, zip[0], zip[1]) });

        Assert.Equal(3, removed["count"]!.GetValue<int>());
        Assert.Equal(_time.GetUtcNow() + UndoWorker.UndoTime, removed["until"]!.GetValue<DateTimeOffset>());
        Assert.Equal(["First", "Between", "Last"], (await server.ListAsync("queue")).Select(row => Text(row, "name")));
        Assert.Equal([0, 1, 2], (await server.ListAsync("queue")).Select(row => row["position"]!.GetValue<int>()));
        Assert.Equal(3, (await server.Host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("noofslots_total").GetInt32());
        Assert.Equal(HttpStatusCode.NotFound, await StatusAsync(server, "/nzbs/movies/Two.zip"));
        if (isRestarted)
        {
            await server.DisposeAsync();
            server = await StartAsync();
        }

        _time.Advance(Almost);
        await UndoAsync(server, removed, HttpStatusCode.NoContent);

        Assert.Equal(Shown(rows), Shown(await server.GetAsync("queue")));
        Assert.Equal(stored, await DumpAsync(server));
        Assert.Equal(files.GetProperty("queue").GetProperty("slots").ToString(), (await server.Host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots").ToString());
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "/nzbs/movies/Two.zip"));
        await UndoAsync(server, removed, HttpStatusCode.Conflict);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Expired_undo_is_refused_and_leaves_no_data(bool isRestarted)
    {
        var server = await StartAsync();
        await using var ending = new Ending(() => server);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        var id = await server.AddAsync("A");
        Assert.Single(Nzbs());

        var removed = await server.SendAsync(HttpMethod.Delete, $"queue/{id}");
        Assert.Single(Nzbs());
        if (isRestarted)
        {
            await server.DisposeAsync();
            _time.Advance(UndoWorker.UndoTime);
            server = await StartAsync();
        }
        else
        {
            await WaitForTimerAsync();
            _time.Advance(UndoWorker.UndoTime);
        }

        await UndoAsync(server, removed, HttpStatusCode.Conflict);
        while (Nzbs().Length > 0 || await CountAsync(server) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        await UndoAsync(server, removed, HttpStatusCode.Conflict);
        await server.SendAsync(HttpMethod.Post, "undo/u-999", null, HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Post, "undo/else", null, HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Removed_import_stops_at_once_and_undo_restarts_it()
    {
        await using var mock = await MockServer.StartAsync();
        var gate = new GateStep(_ => true);
        await using var server = await JobServer.StartAsync(_folder, mock, services => gate.InsertBefore(services, typeof(Publish)));
        var release = new MockRelease("rel", 11, [new MockFile { Name = "film.mkv", Size = 100_000, ArticleSize = 20_000 }]);
        var id = (await server.UploadAsync(release.ToNzb(), "Rel.nzb"))["ids"]![0]!.GetValue<string>();
        await gate.WaitForAsync(id, 1, Token);

        var removed = await server.SendAsync(HttpMethod.Delete, $"queue/{id}");
        while (server.Host.Get<QueueActivity>().Current.Count > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        Assert.Empty(await server.ListAsync("history"));
        await UndoAsync(server, removed, HttpStatusCode.NoContent);
        await gate.WaitForAsync(id, 2, Token);
        gate.Open();

        Assert.Equal("completed", Text(await server.WaitForHistoryAsync(id), "result"));
    }

    [Fact]
    public async Task Undo_adds_a_number_if_the_file_name_is_taken()
    {
        await using var server = await StartAsync();
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        await server.AddAsync("First");
        var id = await server.AddAsync("Same");

        var removed = await server.SendAsync(HttpMethod.Delete, $"queue/{id}");
        var other = await server.AddAsync("Same");
        await UndoAsync(server, removed, HttpStatusCode.NoContent);

        Assert.Equal([("First", 0), ("Same", 1), ("Same", 2)], (await server.ListAsync("queue")).Select(row => (Text(row, "name"), row["position"]!.GetValue<int>())));
        Assert.Equal([id, other], (await server.ListAsync("queue?q=same&sort=position")).Select(row => Text(row, "id")));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "/nzbs/uncategorized/Same.nzb"));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "/nzbs/uncategorized/Same%20(2).nzb"));
    }

    [Fact]
    public async Task Undo_restores_removed_history_and_the_release_is_kept()
    {
        await using var mock = await MockServer.StartAsync();
        var server = await StartAsync(mock);
        await using var ending = new Ending(() => server);
        var release = new MockRelease("rel", 11, [new MockFile { Name = "film.mkv", Size = 100_000, ArticleSize = 20_000 }]);
        var good = (await server.UploadAsync(release.ToNzb(), "Rel.nzb", HttpStatusCode.OK, ("category", "tv")))["ids"]![0]!.GetValue<string>();
        await server.WaitForHistoryAsync(good);
        await server.UploadAsync(NzbText.DamagedZip(), "Odd.nzb");
        var (rows, stored) = (await server.GetAsync("history"), await DumpAsync(server));

        var removed = await server.SendAsync(HttpMethod.Post, "history/remove", new JsonObject { ["filter"] = new JsonObject() });

        Assert.Equal(2, removed["count"]!.GetValue<int>());
        Assert.Empty(await server.ListAsync("history"));
        Assert.Equal(0, (await server.Host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("noofslots").GetInt32());
        Assert.Equal(HttpStatusCode.NotFound, await StatusAsync(server, "/completed-symlinks/tv/Rel/film.mkv.rclonelink"));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "/content/tv/Rel/film.mkv"));
        await server.SendAsync(HttpMethod.Get, $"history/{good}", null, HttpStatusCode.NotFound);
        await server.DisposeAsync();
        server = await StartAsync(mock);
        await UndoAsync(server, removed, HttpStatusCode.NoContent);

        Assert.Equal(Shown(rows), Shown(await server.GetAsync("history")));
        Assert.Equal(stored, await DumpAsync(server));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "/completed-symlinks/tv/Rel/film.mkv.rclonelink"));
        Assert.Equal(1, (await server.SendAsync(HttpMethod.Delete, $"history/{good}"))["count"]!.GetValue<int>());
        await WaitForTimerAsync();
        _time.Advance(UndoWorker.UndoTime);
        while (await CountAsync(server) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        // The NZB is kept, because the release still needs it.
        Assert.Single(Nzbs());
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "/content/tv/Rel/film.mkv"));
    }

    [Fact]
    public async Task Removed_row_tables_have_all_columns_of_the_original_rows()
    {
        await using var database = _folder.OpenDatabase();

        foreach (var table in new[] { "queue_item", "queue_file", "history_item" })
        {
            var (all, kept) = await database.ReadAsync(
                connection => (
                    connection.Query<string>($"SELECT name FROM pragma_table_info('{table}')").ToList(),
                    connection.Query<string>($"SELECT name FROM pragma_table_info('removed_{table}') WHERE name <> 'removal'").ToList()),
                Token);
            Assert.Equal(all.Order(), kept.Order());
        }
    }

    private Task<JobServer> StartAsync(MockServer? provider = null) =>
        JobServer.StartAsync(_folder, provider, services => services.AddSingleton<TimeProvider>(_time));

    private string[] Nzbs() => Directory.GetFiles(Path.Combine(_folder.Root, "blobs"), "*.nzb*", SearchOption.TopDirectoryOnly);

    private static async Task UndoAsync(JobServer server, JsonNode removed, HttpStatusCode expected) =>
        await server.SendAsync(HttpMethod.Post, $"undo/{Text(removed, "undo")}", null, expected);

    private static Task<long> CountAsync(JobServer server) => server.Host.Get<SluiceDatabase>().ReadAsync(
        connection => connection.ExecuteScalar<long>("SELECT count(*) FROM removal"), Token);

    /// <summary>Returns every column of every row except the row numbers of the queue.</summary>
    private static Task<string> DumpAsync(JobServer server) => server.Host.Get<SluiceDatabase>().ReadAsync(
        connection => string.Join('\n', new[] { "queue_item", "queue_file", "history_item" }.SelectMany(table =>
            connection.Query($"SELECT * FROM {table} ORDER BY id").Cast<IDictionary<string, object>>()
                .Select(row => string.Join('|', row.Select(column => $"{column.Key}={column.Value}"))))),
        Token);

    private static async Task<HttpStatusCode> StatusAsync(JobServer server, string path)
    {
        using var answer = await server.Host.SendAsync(HttpMethod.Head, path, null, Token);
        return answer.StatusCode;
    }

    /// <summary>Waits until the worker has started the timer of the removal.</summary>
    private async Task WaitForTimerAsync()
    {
        for (var waiting = _time.Waiting; ; waiting = _time.Waiting)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(50), TimeProvider.System, Token);
            if (waiting == _time.Waiting)
                return;
        }
    }

    private static string Shown(JsonNode page) => page["items"]!.ToJsonString();

    private static string Text(JsonNode node, string name) => node[name]!.GetValue<string>();

    /// <summary>Disposes the server that was started last.</summary>
    private sealed class Ending(Func<JobServer> server) : IAsyncDisposable
    {
        public ValueTask DisposeAsync() => server().DisposeAsync();
    }
}
