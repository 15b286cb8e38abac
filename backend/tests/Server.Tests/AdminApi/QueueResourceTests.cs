using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using Sluice.Server.Auth;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

public sealed class QueueResourceTests : IDisposable
{
    private static readonly string[] Steps = ["read", "heads", "names", "archives", "availability", "publish"];

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Step_moves_an_item_relative_to_its_current_position()
    {
        await using var server = await JobServer.StartAsync(_folder);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        var ids = new List<string>();
        foreach (var name in new[] { "A", "B", "C", "D" })
            ids.Add(await server.AddAsync(name));
        // A page that was loaded before this removal shows D in position four.
        await server.SendAsync(HttpMethod.Delete, $"queue/{ids[0]}");

        foreach (var (id, step, order) in new[]
        {
            (ids[3], -1, "B D C"), (ids[1], 1, "D B C"), (ids[1], 9, "D C B"), (ids[1], int.MinValue, "B D C"), (ids[1], 0, "B D C"), (ids[3], int.MaxValue, "B C D"),
        })
        {
            await server.SendAsync(HttpMethod.Put, $"queue/{id}", new JsonObject { ["step"] = step });
            Assert.Equal(order, string.Join(' ', (await server.ListAsync("queue")).Select(row => row["name"]!.ToString())));
        }

        await server.SendAsync(HttpMethod.Put, $"queue/{ids[1]}", new JsonObject { ["step"] = 1, ["position"] = 0 }, HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task Item_waits_with_a_reason_if_there_is_no_provider()
    {
        await using var server = await JobServer.StartAsync(_folder);

        var id = await server.AddAsync("Some.Release", ("category", "tv"), ("priority", "high"), ("password", "pw"));
        await server.Host.WaitForWaitingAsync(id, Token);
        var page = await server.GetAsync("queue");
        var row = Assert.Single(page["items"]!.AsArray())!;

        Assert.Equal((id, "Some.Release", "tv", "high"), (Text(row, "id"), Text(row, "name"), Text(row, "category"), Text(row, "priority")));
        Assert.Equal(("waiting", "No provider yet", true, 0), (Text(row, "state"), Text(row, "sentence"), row["hasPassword"]!.GetValue<bool>(), row["position"]!.GetValue<int>()));
        Assert.Equal(1000, row["bytes"]!.GetValue<long>());
        Assert.Equal(Steps.Select(step => (step, "pending")), row["steps"]!.AsArray().Select(step => (Text(step!, "step"), Text(step!, "state"))));
        Assert.Equal((1, null, false), (page["total"]!.GetValue<int>(), page["next"], page["paused"]!.GetValue<bool>()));
        Assert.Contains("movies", page["categories"]!.AsArray().Select(category => category!.GetValue<string>()));
        Assert.DoesNotContain("pw", page.ToJsonString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Running_item_shows_steps_with_times_and_results()
    {
        await using var mock = await MockServer.StartAsync();
        var gate = new GateStep(_ => true) { Name = nameof(CheckAvailability) };
        await using var server = await JobServer.StartAsync(_folder, mock, services => gate.InsertBefore(services, typeof(CheckAvailability)));
        var release = new MockRelease("rel", 11, [new MockFile { Name = "film.mkv", Size = 100_000, ArticleSize = 20_000 }]);

        var id = (await server.UploadAsync(release.ToNzb(), "Rel.nzb"))["ids"]![0]!.GetValue<string>();
        await gate.WaitForAsync(id, 1, Token);
        var row = (await server.ListAsync("queue?state=running")).Single();

        Assert.Equal(("running", null), (Text(row, "state"), row["sentence"]));
        Assert.InRange(row["percent"]!.GetValue<int>(), 1, 99);
        Assert.Equal(
            [("read", "done"), ("heads", "done"), ("names", "done"), ("archives", "done"), ("availability", "running"), ("publish", "pending")],
            row["steps"]!.AsArray().Select(step => (Text(step!, "step"), Text(step!, "state"))));
        Assert.StartsWith("1 files, 5 segments", Text(row["steps"]![0]!, "detail"), StringComparison.Ordinal);
        Assert.All(row["steps"]!.AsArray().Take(5), step => Assert.True(step!["ms"]!.GetValue<long>() >= 0));
        Assert.Null(row["steps"]![5]!["ms"]);
        gate.Open();
        Assert.Equal("completed", Text(await server.WaitForHistoryAsync(id), "result"));
    }

    [Fact]
    public async Task Upload_format_is_detected_by_content_not_by_name()
    {
        await using var server = await JobServer.StartAsync(_folder);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());

        var plain = await server.UploadAsync(NzbText.Of("a.mkv"), "Plain.nzb");
        var gzip = await server.UploadAsync(NzbText.Gzip(NzbText.Of("b.mkv")), "Gzip.nzb");
        var bzip2 = await server.UploadAsync(NzbText.Bzip2(NzbText.Of("c.mkv")), "Bzip2.nzb");
        var zip = await server.UploadAsync(NzbText.Zip(("One.nzb", NzbText.Of("d.mkv")), ("Two.nzb", NzbText.Of("e.mkv"))), "Both.nzb");
        var named = await server.UploadAsync(NzbText.Of("f.mkv"), "x.nzb", HttpStatusCode.OK, ("name", "Given {{pw}}"));
        var odd = await server.UploadAsync(NzbText.DamagedZip(), "Odd.nzb");

        Assert.Equal(["Plain", "Gzip", "Bzip2", "One", "Two", "Given"], (await server.ListAsync("queue")).Select(row => Text(row, "name")));
        Assert.Equal(["One", "Two"], zip["names"]!.AsArray().Select(name => name!.GetValue<string>()));
        Assert.Equal(6, new[] { plain, gzip, bzip2, zip, named, odd }.Sum(answer => answer["ids"]!.AsArray().Count) - 1);
        Assert.True((await server.ListAsync("queue?q=given")).Single()["hasPassword"]!.GetValue<bool>());
        // An upload that is not an NZB is accepted and then fails with its reason (SAB-22).
        var failed = (await server.ListAsync("history")).Single();
        Assert.Equal((Text(odd["ids"]!, 0), "Odd", "not-an-nzb"), (Text(failed, "id"), Text(failed, "name"), Text(failed, "reason")));
        Assert.Equal(("Odd", "The file is not an NZB (damaged zip)."), (Text(odd["names"]!, 0), Text(odd["failures"]!, 0)));
        Assert.Equal(["", ""], zip["failures"]!.AsArray().Select(sentence => sentence!.GetValue<string>()));
    }

    [Theory]
    [InlineData(-1, false)]
    [InlineData(0, false)]
    [InlineData(1, false)]
    [InlineData(-1, true)]
    [InlineData(0, true)]
    [InlineData(1, true)]
    public async Task Upload_above_the_size_limit_returns_413(int beyond, bool isChunked)
    {
        const int Limit = 1 << 20;
        const string Start = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.nzb\"\r\n\r\n";
        const string End = "\r\n--x--\r\n";
        await using var server = await JobServer.StartAsync(_folder, null, null, ("MAX_REQUEST_BODY_SIZE", $"{Limit}"));
        var text = Encoding.ASCII.GetBytes(Start + new string(' ', Limit + beyond - Start.Length - End.Length) + End);

        using var body = isChunked ? new UnannouncedContent(text) : new ByteArrayContent(text);
        body.Headers.TryAddWithoutValidation("Content-Type", "multipart/form-data; boundary=x");
        var answer = await server.SendContentAsync(HttpMethod.Post, "queue", body, beyond > 0 ? HttpStatusCode.RequestEntityTooLarge : HttpStatusCode.OK);

        Assert.Equal(beyond > 0 ? "too-large" : null, answer["type"]?.GetValue<string>());
    }

    [Fact]
    public async Task Invalid_form_names_the_wrong_field()
    {
        await using var server = await JobServer.StartAsync(_folder);

        Assert.Equal("file", Field(await PostAsync(("name", null, "x"))));
        Assert.Equal("colour", Field(await PostAsync(("colour", null, "red"), ("file", "a.nzb", "x"))));
        Assert.Equal("priority", Field(await PostAsync(("file", "a.nzb", "x"), ("priority", null, "urgent"))));
        Assert.Equal("file", Field(await PostAsync(("file", "a.nzb", "x"), ("file", "b.nzb", "x"))));
        Assert.Equal("nzb", Field(await PostAsync(("nzb", "a.nzb", "x"))));
        Assert.Equal("category", Field(await PostAsync(("category", null, new string('c', 9000)), ("file", "a.nzb", "x"))));
        using var broken = new ByteArrayContent("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.nzb\"\r\n\r\n<nzb"u8.ToArray());
        broken.Headers.TryAddWithoutValidation("Content-Type", "multipart/form-data; boundary=x");
        Assert.Equal("file", Field(await server.SendContentAsync(HttpMethod.Post, "queue", broken, HttpStatusCode.BadRequest)));
        Assert.Equal(0, (await server.GetAsync("queue"))["total"]!.GetValue<int>());
        Assert.Equal(0, (await server.GetAsync("history"))["total"]!.GetValue<int>());

        async Task<JsonNode> PostAsync(params (string Name, string? FileName, string Text)[] parts)
        {
            using var form = new MultipartFormDataContent();
            foreach (var (name, fileName, text) in parts)
            {
                if (fileName is null)
                    form.Add(new StringContent(text), name);
                else
                    form.Add(new StringContent(text), name, fileName);
            }

            return await server.SendContentAsync(HttpMethod.Post, "queue", form, HttpStatusCode.BadRequest);
        }

        static string Field(JsonNode problem) => Assert.Single(problem["errors"]!.AsObject()).Key;
    }

    [Fact]
    public async Task Full_queue_refuses_uploads_with_queue_full()
    {
        await using var server = await JobServer.StartAsync(_folder, null, null, ("SLUICE_CONFIG__QUEUE__MAX_ITEMS", "1"));
        await server.AddAsync("First");

        var refused = await server.UploadAsync(NzbText.Of("b.mkv"), "Second.nzb", HttpStatusCode.InsufficientStorage);

        Assert.Equal("queue-full", Text(refused, "type"));
        Assert.Equal(["First"], (await server.ListAsync("queue")).Select(row => Text(row, "name")));
    }

    [Fact]
    public async Task All_500_uploads_survive_a_restart_and_broken_ones_fail()
    {
        var names = Enumerable.Range(0, 500).Select(i => $"Release.{i:000}").ToList();
        await using (var server = await JobServer.StartAsync(_folder))
        {
            await UploadAsync(server, names.Take(250));
        }

        await using (var server = await JobServer.StartAsync(_folder))
        {
            await UploadAsync(server, names.Skip(250));
            while ((await server.GetAsync("history"))["total"]!.GetValue<int>() < 3)
                await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
            var listed = new List<string>();
            for (var cursor = ""; cursor is not null;)
            {
                var page = await server.GetAsync($"queue?sort=name&limit=100&cursor={cursor}");
                listed.AddRange(page["items"]!.AsArray().Select(row => Text(row!, "name")));
                cursor = page["next"]?.GetValue<string>();
            }

            var failed = await server.ListAsync("history");
            Assert.Equal(names.Where(name => !IsBroken(name)), listed);
            Assert.Equal(names.Where(IsBroken).Order(), failed.Select(row => Text(row, "name")).Order());
            Assert.All(failed, row => Assert.Equal(("failed", "not-an-nzb"), (Text(row, "result"), Text(row, "reason"))));
        }

        static bool IsBroken(string name) => name is "Release.007" or "Release.250" or "Release.499";

        static Task UploadAsync(JobServer server, IEnumerable<string> names) => Parallel.ForEachAsync(
            names,
            new ParallelOptions { MaxDegreeOfParallelism = 8, CancellationToken = Token },
            async (name, _) => await server.UploadAsync(IsBroken(name) ? "no nzb"u8.ToArray() : NzbText.Of(name + ".mkv"), name + ".nzb"));
    }

    [Fact]
    public async Task URL_is_queued_unless_it_is_private_or_invalid()
    {
        await using var server = await JobServer.StartAsync(_folder);

        var refused = await server.SendAsync(HttpMethod.Post, "queue/address", new JsonObject { ["url"] = "http://127.0.0.1/x.nzb" }, HttpStatusCode.BadRequest);
        var odd = await server.SendAsync(HttpMethod.Post, "queue/address", new JsonObject { ["url"] = "indexer" }, HttpStatusCode.BadRequest);
        var added = await server.SendAsync(
            HttpMethod.Post, "queue/address", new JsonObject { ["url"] = "http://indexer.invalid/get/x.nzb?apikey=canary", ["category"] = "tv", ["priority"] = "force" });

        Assert.Contains("not public", refused["errors"]!["url"]![0]!.GetValue<string>(), StringComparison.Ordinal);
        Assert.Contains("no address", odd["errors"]!["url"]![0]!.GetValue<string>(), StringComparison.Ordinal);
        Assert.Equal("NZB from indexer.invalid", Text(added["names"]!, 0));
        Assert.DoesNotContain("canary", added.ToJsonString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Item_can_be_renamed_recategorized_and_reordered()
    {
        await using var server = await JobServer.StartAsync(_folder);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        var a = await server.AddAsync("A", ("password", "pw"));
        var b = await server.AddAsync("B");
        var c = await server.AddAsync("C");

        var changed = await ChangeAsync(c, new JsonObject { ["name"] = "New Name", ["category"] = "movies", ["password"] = "secret", ["position"] = 0 });
        Assert.Equal(("New Name", "movies", true, 0), (Text(changed, "name"), Text(changed, "category"), changed["hasPassword"]!.GetValue<bool>(), changed["position"]!.GetValue<int>()));
        Assert.False((await ChangeAsync(a, new JsonObject { ["password"] = "" }))["hasPassword"]!.GetValue<bool>());
        Assert.Equal(0, (await ChangeAsync(b, new JsonObject { ["priority"] = "high" }))["position"]!.GetValue<int>());
        Assert.Equal([b, c, a], (await server.ListAsync("queue")).Select(row => Text(row, "id")));
        Assert.Equal(2, (await ChangeAsync(c, new JsonObject { ["position"] = 99 }))["position"]!.GetValue<int>());
        Assert.Equal("paused", Text(await ChangeAsync(a, new JsonObject { ["paused"] = true, ["priority"] = "force" }), "state"));

        await server.SendAsync(HttpMethod.Put, $"queue/{a}", new JsonObject { ["name"] = " " }, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Put, $"queue/{a}", new JsonObject { ["position"] = -1 }, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Put, $"queue/{a}", new JsonObject { ["colour"] = "red" }, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Put, "queue/unknown", new JsonObject { ["name"] = "x" }, HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Delete, "queue/unknown", null, HttpStatusCode.NotFound);

        Task<JsonNode> ChangeAsync(string id, JsonObject change) => server.SendAsync(HttpMethod.Put, $"queue/{id}", change);
    }

    [Fact]
    public async Task Several_items_are_changed_by_their_ids_or_by_a_filter()
    {
        await using var server = await JobServer.StartAsync(_folder);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        var show = await server.AddAsync("Some.Show.S01E01");
        await server.AddAsync("Some.Show.S01E02");
        var film = await server.AddAsync("Some.Film", ("category", "movies"));

        Assert.Equal(2, await CountAsync("change", new JsonObject { ["filter"] = new JsonObject { ["q"] = "show some" }, ["category"] = "tv", ["priority"] = "high" }));
        Assert.Equal(1, await CountAsync("change", new JsonObject { ["ids"] = new JsonArray(film, "unknown"), ["paused"] = true }));
        Assert.Equal(["tv", "tv", "movies"], (await server.ListAsync("queue")).Select(row => Text(row, "category")));
        Assert.Equal(2, (await server.ListAsync("queue?category=TV")).Count);
        Assert.Equal(0, await CountAsync("remove", new JsonObject { ["ids"] = new JsonArray("unknown") }));
        Assert.Equal(1, await CountAsync("remove", new JsonObject { ["ids"] = new JsonArray(show, show) }));
        Assert.Equal(1, await CountAsync("remove", new JsonObject { ["filter"] = new JsonObject { ["category"] = "tv" } }));
        Assert.Equal(1, await CountAsync("remove", new JsonObject { ["filter"] = new JsonObject() }));
        Assert.Empty(await server.ListAsync("queue"));

        await server.SendAsync(HttpMethod.Post, "queue/remove", new JsonObject(), HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Post, "queue/remove", new JsonObject { ["ids"] = new JsonArray(), ["filter"] = new JsonObject() }, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Post, "queue/change", new JsonObject { ["ids"] = new JsonArray(film) }, HttpStatusCode.BadRequest);

        async Task<int> CountAsync(string call, JsonObject body) => (await server.SendAsync(HttpMethod.Post, $"queue/{call}", body))["count"]!.GetValue<int>();
    }

    [Fact]
    public async Task Queue_is_paused_for_a_while_or_until_it_is_resumed()
    {
        await using var server = await JobServer.StartAsync(_folder);

        var timed = await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject { ["minutes"] = 30 });
        await server.AddAsync("A");
        var row = (await server.ListAsync("queue?state=paused")).Single();
        var endless = await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        var resumed = await server.SendAsync(HttpMethod.Post, "queue/resume");

        Assert.Equal((true, true), (timed["paused"]!.GetValue<bool>(), timed["pausedUntil"]!.GetValue<DateTimeOffset>() > DateTimeOffset.UnixEpoch));
        Assert.Equal("paused", Text(row, "state"));
        Assert.Equal((true, null), (endless["paused"]!.GetValue<bool>(), endless["pausedUntil"]));
        Assert.False(resumed["paused"]!.GetValue<bool>());
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject { ["minutes"] = 0 }, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject { ["minutes"] = 1_000_000 }, HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task Pause_set_by_the_environment_cannot_be_changed()
    {
        await using var server = await JobServer.StartAsync(_folder, null, null, ("SLUICE_CONFIG__QUEUE__PAUSED", "true"));

        Assert.Equal("wrong-state", Text(await server.SendAsync(HttpMethod.Post, "queue/resume", null, HttpStatusCode.Conflict), "type"));
    }

    [Fact]
    public async Task Queue_changes_need_full_access()
    {
        await using var server = await JobServer.StartAsync(_folder);
        var id = await server.AddAsync("A");
        var (_, reading) = await server.Host.Get<AdminStore>().MakeKeyAsync("reader", hasFullAccess: false, Token);

        foreach (var (method, path) in new[]
        {
            (HttpMethod.Post, "queue"), (HttpMethod.Post, "queue/address"), (HttpMethod.Put, $"queue/{id}"), (HttpMethod.Delete, $"queue/{id}"), (HttpMethod.Post, "queue/change"),
            (HttpMethod.Post, "queue/remove"), (HttpMethod.Post, "queue/pause"), (HttpMethod.Post, "queue/resume"), (HttpMethod.Post, $"history/{id}/retry"),
            (HttpMethod.Post, "history/retry"), (HttpMethod.Delete, $"history/{id}"), (HttpMethod.Post, "history/remove"), (HttpMethod.Post, "undo/u-1"),
        })
        {
            Assert.Equal((path, HttpStatusCode.Unauthorized), (path, await StatusAsync(method, path, null)));
            Assert.Equal((path, HttpStatusCode.Forbidden), (path, await StatusAsync(method, path, reading)));
        }

        foreach (var path in new[] { "queue", "history", $"history/{id}", $"history/{id}/nzb" })
            Assert.Equal((path, HttpStatusCode.Unauthorized), (path, await StatusAsync(HttpMethod.Get, path, null)));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(HttpMethod.Get, "queue", reading));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(HttpMethod.Get, "queue", ProductHost.Key));

        async Task<HttpStatusCode> StatusAsync(HttpMethod method, string path, string? key)
        {
            using var request = new HttpRequestMessage(method, new Uri($"/api/{path}", UriKind.Relative));
            if (key is not null)
                request.Headers.Add("X-Api-Key", key);
            if (method != HttpMethod.Get)
                request.Content = path == "queue"
                    ? new MultipartFormDataContent { { new StringContent("x"), "file", "a.nzb" } }
                    : new StringContent(path == "queue/address" ? """{"url":"http://indexer.invalid/"}""" : "{}", Encoding.UTF8, "application/json");
            using var answer = await server.Host.Client.SendAsync(request, Token);
            return answer.StatusCode;
        }
    }

    [Fact]
    public async Task Session_upload_needs_the_CSRF_header()
    {
        const string Secret = "correct-horse-battery";
        await using var server = await JobServer.StartAsync(_folder, null, null, ("SLUICE_ADMIN_PASSWORD", QuickHash.Of(Secret)));
        using var login = new StringContent($$"""{"user":"admin","password":"{{Secret}}"}""", Encoding.UTF8, "application/json");
        using var session = await server.Host.Client.PostAsync(new Uri("/api/session", UriKind.Relative), login, Token);
        var cookie = session.Headers.GetValues("Set-Cookie").First().Split(';')[0];

        Assert.Equal(HttpStatusCode.Forbidden, await UploadAsync(null));
        Assert.Equal(HttpStatusCode.Forbidden, await UploadAsync("2"));
        Assert.Equal(HttpStatusCode.OK, await UploadAsync("1"));

        async Task<HttpStatusCode> UploadAsync(string? csrf)
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri("/api/queue", UriKind.Relative));
            request.Headers.Add("Cookie", cookie);
            request.Headers.Add("Origin", server.Host.Client.BaseAddress!.GetLeftPart(UriPartial.Authority));
            if (csrf is not null)
                request.Headers.Add("X-Csrf", csrf);
            request.Content = new MultipartFormDataContent { { new ByteArrayContent(NzbText.Of("a.mkv")), "file", "a.nzb" } };
            using var answer = await server.Host.Client.SendAsync(request, Token);
            return answer.StatusCode;
        }
    }

    private static string Text(JsonNode node, string name) => node[name]!.GetValue<string>();

    private static string Text(JsonNode node, int index) => node[index]!.GetValue<string>();

    /// <summary>A body without a Content-Length.</summary>
    private sealed class UnannouncedContent(byte[] body) : ByteArrayContent(body)
    {
        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }
    }
}
