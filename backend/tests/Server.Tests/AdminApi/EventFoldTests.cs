using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The lists that a page builds from the deltas it receives (ADM-21, ADM-92).</summary>
public sealed class EventFoldTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Deltas_folded_into_pages_match_fresh_reads()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        using var stream = await EventStreamClient.WatchAsync(server.Client, "topics=queue,history,files");
        SeenFrame[] snapshots = [await stream.ReadAsync(), await stream.ReadAsync(), await stream.ReadAsync()];
        Assert.Equal(["queue", "history", "files"], snapshots.Select(frame => frame.Topic));
        Assert.All(snapshots, frame => Assert.Equal(0, frame.Data!["total"]!.GetValue<int>()));
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        var (queue, history) = (await FoldedList.ReadAsync(server, "queue"), await FoldedList.ReadAsync(server, "history"));

        var paths = new HashSet<string>();
        async Task<string> FoldAsync()
        {
            var frame = await stream.ReadAsync();
            Assert.Equal("delta", frame.Kind);
            if (frame.Topic == "files")
                paths.UnionWith(frame.Data!["paths"]!.AsArray().Select(path => path!.ToString()));
            else
                await (frame.Topic == "queue" ? queue : history).FoldAsync(server, frame);
            return frame.Topic;
        }

        var dice = new Random(20261128);
        var ids = new List<string>();
        for (var change = 0; change < 60; change++)
        {
            // Keeps at least five items to change; every fourth added one is a film that can be imported.
            if (ids.Count < 5 || dice.Next(3) == 0)
                ids.Add(change % 4 == 0 ? await AddFilmAsync(server, change) : await server.AddAsync($"Release.{change}"));
            else
                await ChangeAsync(server, ids, dice, change);
            // Changes in quick succession share a frame. Reading a frame here puts the next changes into another one.
            if (change % 6 == 5)
                while (await FoldAsync() != "queue") ;
        }

        // The last change: a film with forced priority is imported although the queue is paused.
        var last = await AddFilmAsync(server, 99);
        await server.SendAsync(HttpMethod.Put, $"queue/{last}", new JsonObject { ["priority"] = "force" });
        await server.WaitForHistoryAsync(last);
        await server.SendAsync(HttpMethod.Put, $"queue/{ids[^1]}", new JsonObject { ["name"] = "The.Last.One" }, HttpStatusCode.OK);

        while (!queue.HasRow("The.Last.One") || !history.Holds(last) || !paths.Contains("tv"))
            await FoldAsync();

        Assert.Equal((await FoldedList.ReadAsync(server, "queue")).Text, queue.Text);
        Assert.Equal((await FoldedList.ReadAsync(server, "history")).Text, history.Text);
        Assert.Contains("tv/Film99", paths);
        Assert.True(queue.Folded > 5, $"{queue.Folded} frames");
    }

    [Fact]
    public async Task Removal_of_60_rows_arrives_in_one_event()
    {
        await using var server = await JobServer.StartAsync(_folder);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        var ids = new JsonArray();
        for (var i = 0; i < 60; i++)
            ids.Add(await server.AddAsync($"Release.{i}"));
        using var stream = await EventStreamClient.WatchAsync(server.Client, "topics=queue");
        Assert.Equal(60, (await stream.ReadAsync()).Data!["total"]!.GetValue<int>());

        await server.SendAsync(HttpMethod.Post, "queue/remove", new JsonObject { ["ids"] = ids });

        var frame = await stream.ReadAsync();
        Assert.Equal((0, 60), (frame.Data!["total"]!.GetValue<int>(), frame.Data["removed"]!.AsArray().Count));
    }

    private static async Task<string> AddFilmAsync(JobServer server, int seed)
    {
        var release = new MockRelease($"film{seed}", (ulong)seed, [new MockFile { Name = "film.mkv", Size = 30_000, ArticleSize = 20_000 }]);
        return (await server.UploadAsync(release.ToNzb(), $"Film{seed}.nzb", HttpStatusCode.OK, ("category", "tv")))["ids"]![0]!.GetValue<string>();
    }

    private static async Task ChangeAsync(JobServer server, List<string> ids, Random dice, int change)
    {
        var id = ids[dice.Next(ids.Count)];
        switch (dice.Next(5))
        {
            case 0:
                await server.SendAsync(HttpMethod.Put, $"queue/{id}", new JsonObject { ["name"] = $"Renamed.{change}" });
                break;
            case 1:
                await server.SendAsync(HttpMethod.Put, $"queue/{id}", new JsonObject { ["category"] = "movies" });
                break;
            case 2:
                await server.SendAsync(HttpMethod.Put, $"queue/{id}", new JsonObject { ["priority"] = dice.Next(2) == 0 ? "high" : "low" });
                break;
            case 3:
                await server.SendAsync(HttpMethod.Put, $"queue/{id}", new JsonObject { ["paused"] = dice.Next(2) == 0 });
                break;
            default:
                await server.SendAsync(HttpMethod.Post, "queue/remove", new JsonObject { ["ids"] = new JsonArray(id) });
                ids.Remove(id);
                break;
        }
    }

    /// <summary>A list as a page keeps it, without queue positions, because the page derives them from the order of its rows.</summary>
    private sealed class FoldedList(string name, long seq, Dictionary<string, JsonObject> rows)
    {
        private long _seq = seq;
        private Dictionary<string, JsonObject> _rows = rows;

        public int Folded { get; private set; }

        public string Text => string.Join('\n', _rows.OrderBy(row => row.Key, StringComparer.Ordinal).Select(row => row.Value.ToJsonString()));

        public static async Task<FoldedList> ReadAsync(JobServer server, string name)
        {
            var page = await server.GetAsync($"{name}?limit=500");
            return new FoldedList(name, page["seq"]!.GetValue<long>(), page["items"]!.AsArray().Select(Plain).ToDictionary(row => row["id"]!.ToString()));
        }

        public bool HasRow(string title) => _rows.Values.Any(row => row["name"]!.ToString() == title);

        public bool Holds(string id) => _rows.ContainsKey(id);

        public async Task FoldAsync(JobServer server, SeenFrame frame)
        {
            if (frame.Seq <= _seq)
                return;
            Folded++;
            if (frame.Data!["changed"] is not JsonArray changed)
            {
                var fresh = await ReadAsync(server, name);
                (_seq, _rows) = (fresh._seq, fresh._rows);
                return;
            }

            foreach (var id in frame.Data["removed"]!.AsArray())
                _rows.Remove(id!.ToString());
            foreach (var row in changed)
                _rows[row!["id"]!.ToString()] = Plain(row);
            _seq = frame.Seq;
        }

        private static JsonObject Plain(JsonNode? row)
        {
            var copy = row!.DeepClone().AsObject();
            copy.Remove("position");
            // The steps of a running import contain the time so far, so they differ from reading to reading.
            copy.Remove("steps");
            copy.Remove("percent");
            return copy;
        }
    }
}
