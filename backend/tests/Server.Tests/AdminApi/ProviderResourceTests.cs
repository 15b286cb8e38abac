using System.Net;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.AdminApi;
using Sluice.Server.Auth;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Providers;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>News servers through the API: their settings and their state.</summary>
public sealed class ProviderResourceTests : IDisposable
{
    private const string Secret = "s3cret-of-the-account";

    private static readonly MockRelease Film = MockRelease.Plain(3, 3_000_000, articleSize: 100_000);

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Each_provider_change_saves_one_settings_set()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var sets = await SetsAsync(server);

        var added = await server.SendAsync(HttpMethod.Post, "providers", Draft("news.example.com", 563, tls: true, password: Secret));
        Assert.Equal(
            ("news.example.com", 563, true, "anna", true, "primary", 20),
            (Text(added, "host"), added["port"]!.GetValue<int>(), added["tls"]!.GetValue<bool>(), Text(added, "user"), added["hasPassword"]!.GetValue<bool>(), Text(added, "use"), added["connections"]!["max"]!.GetValue<int>()));
        var id = Text(added, "id");

        var change = Draft("news.example.com", 563, tls: true, password: null);
        (change["name"], change["use"], change["maxConnections"], change["priority"], change["backbone"]) = ("block", "backup", 7, 3, "one");
        var changed = await server.SendAsync(HttpMethod.Put, $"providers/{id}", change);
        Assert.Equal(
            (id, "block", "backup", 7, 3, "one", true),
            (Text(changed, "id"), Text(changed, "name"), Text(changed, "use"), changed["connections"]!["max"]!.GetValue<int>(), changed["priority"]!.GetValue<int>(), Text(changed, "backbone"), changed["hasPassword"]!.GetValue<bool>()));
        Assert.Equal(Secret, Saved(server)["Pass"]!.GetValue<string>());
        Assert.Equal(Text(changed, "name"), Text((await server.GetAsync("providers"))["items"]!.AsArray().Single()!, "name"));

        await server.SendAsync(HttpMethod.Delete, $"providers/{id}", expected: HttpStatusCode.NoContent);
        Assert.Empty((await server.GetAsync("providers"))["items"]!.AsArray());
        await server.SendAsync(HttpMethod.Delete, $"providers/{id}", expected: HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Put, $"providers/{id}", change, HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Post, "providers/none/reset", new JsonObject { ["what"] = "cap" }, HttpStatusCode.NotFound);

        // The first save also stores the previous settings as a set.
        Assert.InRange(await SetsAsync(server) - sets, 3, 4);
    }

    [Fact]
    public async Task Update_keeps_fields_missing_from_the_request()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await server.SaveAsync(HttpStatusCode.OK, ("usenet.providers", """
            {"note":"mine","providers":[{"host":"a.example.com","PORT":119,"usessl":false,"User":"anna","pass":"old","ByteLimit":5,"Type":3,"Backbone":"b","PipeliningDepth":2},{"Host":"z.example.com"}]}
            """));
        var row = (await server.GetAsync("providers"))["items"]!.AsArray().Single(item => Text(item!, "host") == "a.example.com")!;

        var change = Draft("a.example.com", 119, tls: false, password: null);
        (change["use"], change["backbone"]) = ("backup", "");
        await server.SendAsync(HttpMethod.Put, $"providers/{row["id"]}", change);

        var all = JsonNode.Parse(server.Server.Services.GetRequiredService<SettingsSource>().Current.Text("usenet.providers"))!.AsObject();
        Assert.Equal("mine", all["note"]!.GetValue<string>());
        var saved = all["Providers"] ?? all["providers"];
        Assert.Equal(2, saved!.AsArray().Count);
        var element = saved[0]!.AsObject();
        Assert.Equal((5, 2, "old"), (element["ByteLimit"]!.GetValue<int>(), element["PipeliningDepth"]!.GetValue<int>(), element["pass"]!.GetValue<string>()));
        Assert.Equal(3, element["Type"]!.GetValue<int>());
        Assert.False(element.ContainsKey("Backbone"));
        Assert.Equal(element.Count, element.Select(field => field.Key.ToUpperInvariant()).Distinct().Count());
    }

    [Fact]
    public async Task All_errors_are_returned_at_once_by_form_field()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var wrong = Draft("two words", 70_000, tls: true, password: "line\nbreak");
        (wrong["maxConnections"], wrong["priority"]) = (501, 100);

        var errors = (await server.SendAsync(HttpMethod.Post, "providers", wrong, HttpStatusCode.BadRequest))["errors"]!.AsObject();

        Assert.Equal(["host", "maxConnections", "password", "port", "priority"], errors.Select(error => error.Key).Order());
        Assert.Equal("Must be a whole number from 1 to 65535.", errors["port"]![0]!.GetValue<string>());
        Assert.Empty((await server.GetAsync("providers"))["items"]!.AsArray());
        errors = (await server.SendAsync(HttpMethod.Post, "providers", Draft("news.example.com", 563, tls: true, password: null), HttpStatusCode.BadRequest))["errors"]!.AsObject();
        Assert.Equal("Enter the password.", errors["password"]![0]!.GetValue<string>());
    }

    [Fact]
    public async Task Bytes_by_purpose_add_up_to_the_bytes_sent()
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(MockRelease.Plain(1, 40_000_000, articleSize: 400_000));
        server.LeaveNothingUnread();
        var (first, second) = (server.Player(StreamServer.Vlc), server.Player("mpv/0.38"));
        await Task.WhenAll(
            StreamServer.ReadAsync(first, path, 0, 39_999_999),
            StreamServer.ReadAsync(second, path, 10_000_000, 30_000_000),
            LeaveAsync(server, path));
        await server.CountedAsync();

        var row = (await server.Api.GetAsync("providers"))["items"]!.AsArray().Single()!;
        var lanes = row["lanesTotal"]!.AsObject();
        var sent = server.Mock.Stats.Bytes;
        Assert.Equal(row["bytesTotal"]!.GetValue<long>(), lanes.Sum(static lane => lane.Value!.GetValue<long>()));
        Assert.InRange(row["bytesTotal"]!.GetValue<double>(), sent * 0.999, sent * 1.001);
        Assert.InRange(lanes["playback"]!.GetValue<long>(), 40_000_000, sent);
        Assert.InRange(lanes["import"]!.GetValue<long>(), 400_000, 5_000_000);
        Assert.Equal(lanes.ToJsonString(), row["lanesToday"]!.ToJsonString());

        static async Task LeaveAsync(StreamServer server, string path)
        {
            for (var from = 0; from < 40_000_000; from += 5_000_000)
            {
                using var answer = await StreamServer.OpenAsync(server.Player("Infuse/7"), path, from);
                await using var body = await answer.Content.ReadAsStreamAsync(Token);
                await body.ReadExactlyAsync(new byte[1_000], Token);
            }
        }
    }

    [Theory]
    [InlineData("other.example.com", 563, true, "anna")]
    [InlineData("news.example.com", 564, true, "anna")]
    [InlineData("news.example.com", 563, false, "anna")]
    [InlineData("news.example.com", 563, true, "berta")]
    public async Task Saved_password_is_never_used_for_another_login_or_host(string host, int port, bool tls, string user)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var id = Text(await server.SendAsync(HttpMethod.Post, "providers", Draft("news.example.com", 563, tls: true, password: Secret)), "id");
        var change = Draft(host, port, tls, password: null);
        change["user"] = user;

        var errors = (await server.SendAsync(HttpMethod.Put, $"providers/{id}", change, HttpStatusCode.BadRequest))["errors"]!.AsObject();

        Assert.Contains("again", errors["password"]![0]!.GetValue<string>(), StringComparison.Ordinal);
        Assert.Equal("news.example.com", Saved(server)["Host"]!.GetValue<string>());
        change["password"] = "another one";
        await server.SendAsync(HttpMethod.Put, $"providers/{id}", change);
        Assert.Equal("another one", Saved(server)["Pass"]!.GetValue<string>());
    }

    [Fact]
    public async Task Environment_locks_the_list_but_allows_resets()
    {
        await using var server = await ResourceServer.StartAsync(
            _temporary, new() { ["SLUICE_CONFIG__USENET__PROVIDERS"] = """{"Providers":[{"Host":"127.0.0.1","Port":1,"UseSsl":false}]}""" });
        var list = await server.GetAsync("providers");
        var id = Text(list["items"]![0]!, "id");

        Assert.Equal("SLUICE_CONFIG__USENET__PROVIDERS", Text(list, "locked"));
        var draft = Draft("news.example.com", 563, tls: true, password: Secret);
        foreach (var (method, path, body) in new[] { (HttpMethod.Post, "providers", draft), (HttpMethod.Put, $"providers/{id}", draft), (HttpMethod.Delete, $"providers/{id}", null) })
        {
            var problem = await server.SendAsync(method, path, body?.DeepClone(), HttpStatusCode.Conflict);
            Assert.Contains("SLUICE_CONFIG__USENET__PROVIDERS", Text(problem, "title"), StringComparison.Ordinal);
        }

        await server.SendAsync(HttpMethod.Post, $"providers/{id}/reset", new JsonObject { ["what"] = "breaker" });
    }

    [Fact]
    public async Task Password_appears_in_no_response()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { User = "anna", Password = "right" }] });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var draft = Draft("127.0.0.1", mock.Port, tls: false, password: Secret).ToJsonString();

        var added = await server.SendTextAsync(HttpMethod.Post, "providers", draft, "application/json", HttpStatusCode.OK);
        var id = Text(JsonNode.Parse(added)!, "id");
        await HoldsAsync(async () => Text(await RowAsync(server, id), "condition") == "refused");
        string[] answers =
        [
            added,
            await server.SendTextAsync(HttpMethod.Put, $"providers/{id}", draft, "application/json", HttpStatusCode.OK),
            await server.SendTextAsync(HttpMethod.Get, "providers", null, "application/json", HttpStatusCode.OK),
            await server.SendTextAsync(HttpMethod.Get, "settings", null, "application/json", HttpStatusCode.OK),
        ];
        Assert.All(answers, answer => Assert.DoesNotContain(Secret, answer, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Row_reports_a_provider_omitting_message_ids()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Faults = [new MockFault { Kind = FaultKind.CommandBare, Verb = "BODY", Tries = 0 }] });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var id = await AddAsync(server, mock);
        var host = server.Server.Services.GetRequiredService<ProviderHost>();

        await HoldsAsync(async () =>
        {
            await Assert.ThrowsAsync<NntpException>(() => FetchAsync(host, Film.MessageId(0, 1)));
            return (await RowAsync(server, id))["sentence"] is not null;
        });

        Assert.Contains("sends articles without their names (“222”)", Text(await RowAsync(server, id), "sentence"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Refused_login_is_shown_until_the_breaker_is_reset()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { User = "anna", Password = "right" }] });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var id = Text(await server.SendAsync(HttpMethod.Post, "providers", Draft("127.0.0.1", mock.Port, tls: false, password: "wrong")), "id");

        await HoldsAsync(async () => Text(await RowAsync(server, id), "condition") == "refused");
        var row = await RowAsync(server, id);
        Assert.Contains("rejected the username or password (“481 Authentication failed”)", Text(row, "sentence"), StringComparison.Ordinal);

        var reset = await server.SendAsync(HttpMethod.Post, $"providers/{id}/reset", new JsonObject { ["what"] = "breaker" });
        Assert.Equal("ok", Text(reset, "condition"));
        Assert.Null(reset["sentence"]);
        var off = Draft("127.0.0.1", mock.Port, tls: false, password: null);
        off["use"] = "disabled";
        Assert.Equal("disabled", Text(await server.SendAsync(HttpMethod.Put, $"providers/{id}", off), "condition"));
    }

    [Fact]
    public async Task Provider_row_shows_bytes_misses_and_latency()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(5) }] });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var id = await AddAsync(server, mock);
        var host = server.Server.Services.GetRequiredService<ProviderHost>();
        await FetchAsync(host, Film.MessageId(0, 1));
        await FetchAsync(host, "absent@example.com");

        var row = await RowAsync(server, id);
        Assert.Equal("ok", Text(row, "condition"));
        Assert.InRange(row["bytesToday"]!.GetValue<long>(), 100_000, 120_000);
        Assert.Equal(row["bytesToday"]!.GetValue<long>(), row["bytesTotal"]!.GetValue<long>());
        Assert.Equal(50, row["missPercent"]!.GetValue<double>());
        Assert.InRange(row["latencyMs"]!.GetValue<double>(), 4, 10_000);
        Assert.Equal((0, 1, 0), (Connections(row, "connecting"), Connections(row, "idle"), Connections(row, "busy")));
        Assert.Null(row["connections"]!["cap"]);

        var reset = await server.SendAsync(HttpMethod.Post, $"providers/{id}/reset", new JsonObject { ["what"] = "bytes" });
        Assert.Equal((0, 0), (reset["bytesToday"]!.GetValue<long>(), reset["bytesTotal"]!.GetValue<long>()));
        await FetchAsync(host, Film.MessageId(0, 2));
        Assert.InRange((await RowAsync(server, id))["bytesTotal"]!.GetValue<long>(), 100_000, 120_000);
    }

    [Fact]
    public async Task Speed_is_measured_between_two_snapshots()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await ResourceServer.StartAsync(_temporary);
        await AddAsync(server, mock);
        var host = server.Server.Services.GetRequiredService<ProviderHost>();
        var clock = new ManualTimeProvider();
        var table = new ProviderTable(host, server.Server.Services.GetRequiredService<ProviderUsage>(), server.Server.Services.GetRequiredService<ProviderQuotas>(), clock);
        await FetchAsync(host, Film.MessageId(0, 1));
        Assert.Equal(0, table.Rows()[0].BytesPerSecond);
        var before = host.Uses.Values.Single().Bytes;

        await FetchAsync(host, Film.MessageId(0, 2));
        clock.Advance(TimeSpan.FromSeconds(4));
        var came = host.Uses.Values.Single().Bytes - before;
        Assert.Equal(came / 4, table.Rows()[0].BytesPerSecond);

        // A second reading at the same time returns the same rate.
        Assert.Equal(came / 4, table.Rows()[0].BytesPerSecond);
        clock.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(0, table.Rows()[0].BytesPerSecond);
    }

    [Fact]
    public async Task Learned_connection_cap_is_shown_and_can_be_reset()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { MaxConnections = 2, Latency = TimeSpan.FromMilliseconds(50) }] });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var id = await AddAsync(server, mock);
        var host = server.Server.Services.GetRequiredService<ProviderHost>();

        await HoldsAsync(async () =>
        {
            await Task.WhenAll(Enumerable.Range(1, 24).Select(part => FetchAsync(host, Film.MessageId(0, part))));
            return (await RowAsync(server, id))["connections"]!["cap"]?.GetValue<int>() == 2;
        });
        var reset = await server.SendAsync(HttpMethod.Post, $"providers/{id}/reset", new JsonObject { ["what"] = "cap" });

        Assert.Null(reset["connections"]!["cap"]);
        Assert.Equal(20, Connections(reset, "max"));
    }

    [Fact]
    public async Task Providers_are_listed_in_the_order_of_use()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        foreach (var (host, use, priority) in new[] { ("off", "disabled", 0), ("backup", "backup", 0), ("second", "primary", 2), ("first", "primary", 1) })
        {
            var draft = Draft($"{host}.invalid", 563, tls: true, password: Secret);
            (draft["use"], draft["priority"], draft["name"]) = (use, priority, host);
            await server.SendAsync(HttpMethod.Post, "providers", draft);
        }

        var names = (await server.GetAsync("providers"))["items"]!.AsArray().Select(item => Text(item!, "name"));

        Assert.Equal(["first", "second", "backup", "off"], names);
    }

    [Fact]
    public async Task Read_only_key_sees_the_list_and_changes_nothing()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var (_, key) = await server.Server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("reader", hasFullAccess: false, Token);
        server.Server.Client.DefaultRequestHeaders.Remove("X-Api-Key");
        await server.SendAsync(HttpMethod.Get, "providers", expected: HttpStatusCode.Unauthorized);
        server.Server.Client.DefaultRequestHeaders.Add("X-Api-Key", key);

        await server.GetAsync("providers");
        await server.SendAsync(HttpMethod.Post, "providers", Draft("news.example.com", 563, tls: true, password: Secret), HttpStatusCode.Forbidden);
        var login = Draft("news.example.com", 563, tls: true, password: Secret);
        login["id"] = null;
        await server.SendAsync(HttpMethod.Post, "providers/test", login, HttpStatusCode.Forbidden);
        await server.SendAsync(HttpMethod.Delete, "providers/any", expected: HttpStatusCode.Forbidden);
    }

    [Fact]
    public void Every_fault_has_its_own_message()
    {
        var provider = new ProviderOptions { Name = "n", Host = "news.example.com", Password = Secret };
        var sentences = Enum.GetValues<NntpFault>().Select(fault => ProviderSentences.Of(fault, provider, $"481 wrong {Secret}")).ToList();

        Assert.Equal(sentences.Count, sentences.Distinct().Count());
        Assert.All(sentences, sentence => Assert.EndsWith(".", sentence, StringComparison.Ordinal));
        Assert.All(sentences.Where((_, fault) => (NntpFault)fault != NntpFault.CertificateRefused), sentence => Assert.DoesNotContain(Secret, sentence, StringComparison.Ordinal));
    }

    internal static JsonObject Draft(string host, int port, bool tls, string? password) => new()
    {
        ["host"] = host,
        ["port"] = port,
        ["tls"] = tls,
        ["user"] = "anna",
        ["password"] = password,
        ["maxConnections"] = 20,
    };

    internal static string Text(JsonNode node, string name) => node[name]!.GetValue<string>();

    internal static async Task HoldsAsync(Func<Task<bool>> condition)
    {
        while (!await condition())
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    private static int Connections(JsonNode row, string name) => row["connections"]![name]!.GetValue<int>();

    private static JsonObject Saved(ResourceServer server) =>
        JsonNode.Parse(server.Server.Services.GetRequiredService<SettingsSource>().Current.Text("usenet.providers"))!["Providers"]![0]!.AsObject();

    private static async Task<JsonNode> RowAsync(ResourceServer server, string id) =>
        (await server.GetAsync("providers"))["items"]!.AsArray().Single(item => Text(item!, "id") == id)!;

    private static async Task<int> SetsAsync(ResourceServer server) => (await server.GetAsync("settings/sets"))["items"]!.AsArray().Count;

    private static async Task<string> AddAsync(ResourceServer server, MockServer mock)
    {
        var draft = Draft("127.0.0.1", mock.Port, tls: false, password: "");
        draft["user"] = "";
        return Text(await server.SendAsync(HttpMethod.Post, "providers", draft), "id");
    }

    private static async Task FetchAsync(ProviderHost host, string article) =>
        await host.FetchAsync(new ArticleRequest(MessageId.Parse(article), OperationLane.Playback), new DrainingSink(), Token);
}
