using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.AdminApi;
using Sluice.Server.Outbound;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Providers;
using Sluice.Server.Tests.Startup;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;
using static Sluice.Server.Tests.AdminApi.ProviderResourceTests;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The provider test, step by step, against news servers that fail in each step.</summary>
public sealed class ProviderTestTests : IDisposable
{
    private const string Secret = "s3cret-of-the-account";

    // Short timeouts, because some of the servers never reply.
    private static readonly Dictionary<string, string> Impatient = new()
    {
        ["SLUICE_CONFIG__USENET__CONNECT_TIMEOUT_SECONDS"] = "2",
        ["SLUICE_CONFIG__USENET__LOGIN_TIMEOUT_SECONDS"] = "2",
    };

    private static readonly MockFault NoGroups = new() { Kind = FaultKind.Command500, Verb = "GROUP" };

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    public static TheoryData<MockProvider, bool, string, string, string> Failures => new()
    {
        { new MockProvider(), true, "tls", "plain-port", "does not use TLS" },
        { new MockProvider { Tls = MockTls.Valid }, false, "login", "tls-port", "requires TLS" },
        { new MockProvider { Tls = MockTls.WrongHost }, true, "tls", "bad-certificate", "is for another name" },
        { new MockProvider { Tls = MockTls.Expired }, true, "tls", "bad-certificate", "is out of date" },
        { new MockProvider { Tls = MockTls.SelfSigned }, true, "tls", "bad-certificate", "comes from no issuer" },
        { new MockProvider { User = "anna", Password = "another" }, false, "login", "wrong-login", "481 Authentication failed" },
        { Failing(FaultKind.Auth481, "481 Account expired"), false, "login", "account-expired", "481 Account expired" },
        { Failing(FaultKind.Auth502, "502 Download quota exceeded"), false, "login", "account-expired", "502 Download quota exceeded" },
        { Failing(FaultKind.Auth502, null), false, "login", "too-many-connections", "allows no more connections" },
        { Failing(FaultKind.Greeting502, null), false, "login", "too-many-connections", "allows no more connections" },
        { Failing(FaultKind.Greeting400, null), false, "login", "refused", "400 Service temporarily unavailable" },
        { Failing(FaultKind.GreetingNone, null), false, "login", "silent", "did not answer in time" },
        { Failing(FaultKind.TlsStall, null) with { Tls = MockTls.Valid }, true, "tls", "silent", "did not answer in time" },
        { Failing(FaultKind.GreetingGarbage, null), false, "login", "not-nntp", "is not a Usenet server" },
        { Failing(FaultKind.GreetingGarbage, "220 mail.example.com ESMTP"), false, "login", "not-nntp", "is not a Usenet server" },
        { Failing(FaultKind.ConnectClose, null), false, "login", "refused", "closed the connection" },
    };

    [Theory]
    [MemberData(nameof(Failures))]
    public async Task Each_failure_reports_its_stage_cause_and_message(MockProvider provider, bool tls, string stage, string cause, string sentence)
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [provider] });
        await using var server = await ResourceServer.StartAsync(_temporary, Impatient);

        var (steps, outcome) = await TestAsync(server, Login("127.0.0.1", mock.Port, tls));

        var last = steps[^1];
        Assert.Equal((stage, "failed", cause), (Text(last, "stage"), Text(last, "state"), Text(last, "cause")));
        Assert.Contains(sentence, Text(last, "sentence"), StringComparison.Ordinal);
        Assert.False(outcome["ok"]!.GetValue<bool>());
        Assert.Equal("ok", Text(steps.Last(step => Text(step, "stage") == "tcp"), "state"));
        await NoneIsOpenAsync(mock);
    }

    [Fact]
    public async Task Unreachable_or_forbidden_address_fails_before_login()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, Impatient, services => services.AddSingleton(new HostLookup(
            (host, _) => host == "inside.example.com"
                ? Task.FromResult<IPAddress[]>([IPAddress.Parse("169.254.169.254")])
                : throw new SocketException((int)SocketError.HostNotFound))));

        var (steps, _) = await TestAsync(server, Login("no.example.com", 563, tls: true));
        Assert.Equal(("dns", "unknown-host"), (Text(steps[^1], "stage"), Text(steps[^1], "cause")));
        Assert.Contains("no host named no.example.com", Text(steps[^1], "sentence"), StringComparison.Ordinal);

        (steps, _) = await TestAsync(server, Login("127.0.0.1", ServerProcess.FreePort(), tls: false));
        Assert.Equal(("tcp", "connection-refused"), (Text(steps[^1], "stage"), Text(steps[^1], "cause")));

        foreach (var host in new[] { "inside.example.com", "169.254.169.254", "0.0.0.0" })
        {
            (steps, _) = await TestAsync(server, Login(host, 563, tls: false));
            Assert.Equal(("dns", "forbidden-address"), (Text(steps[^1], "stage"), Text(steps[^1], "cause")));
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Exact_connection_limit_is_found_and_all_sockets_send_QUIT(bool atLogin)
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers =
            [
                new MockProvider { User = "anna", Password = Secret, MaxConnections = 9, CapAtLogin = atLogin, Latency = TimeSpan.FromMilliseconds(20), Faults = [NoGroups] },
            ],
        });
        await using var server = await ResourceServer.StartAsync(_temporary);

        var (steps, outcome) = await TestAsync(server, Login("127.0.0.1", mock.Port, tls: false));

        Assert.Equal(["dns ok", "tcp ok", "tls skipped", "login ok", "ceiling ok", "speed skipped"], Ends(steps));
        Assert.Equal((true, 9), (outcome["ok"]!.GetValue<bool>(), outcome["connections"]!.GetValue<int>()));
        Assert.Null(outcome["bytesPerSecond"]);
        Assert.Contains("first film", Text(steps[^1], "sentence"), StringComparison.Ordinal);
        Assert.Equal(9, mock.Stats.CommandCount("QUIT"));
        Assert.InRange(mock.Stats.Refused, 1, 4);
        Assert.InRange(mock.Stats.HandshakesPeak, 2, 4);
        Assert.All(steps, step => Assert.True(step["ms"]!.GetValue<double>() >= 0));
        await NoneIsOpenAsync(mock);
    }

    [Fact]
    public async Task Connection_search_stops_at_the_requested_limit()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { Tls = MockTls.SelfSigned, Faults = [NoGroups] }] });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var login = Login("127.0.0.1", mock.Port, tls: true);
        (login["maxConnections"], login["skipsCertificateCheck"], login["user"]) = (5, true, "");

        var (steps, outcome) = await TestAsync(server, login);

        Assert.Equal(["dns ok", "tcp ok", "tls ok", "login ok", "ceiling ok", "speed skipped"], Ends(steps));
        Assert.Equal(5, outcome["connections"]!.GetValue<int>());
        Assert.Equal((5, 5), (mock.Stats.Opened, mock.Stats.CommandCount("QUIT")));

        // The test asks for the second group if the first is refused, each on one connection.
        Assert.Equal(2, mock.Stats.CommandCount("GROUP"));
    }

    [Fact]
    public async Task Test_during_playback_stays_within_the_connection_limit()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { User = "anna", Password = Secret, Faults = [NoGroups, new() { Kind = FaultKind.BodyStall, Duration = TimeSpan.Zero }] }],
        });
        await using var server = await ResourceServer.StartAsync(
            _temporary, new() { ["SLUICE_CONFIG__USENET__HEDGE__ENABLED"] = "false", ["SLUICE_CONFIG__USENET__STREAMING_STALL_SECONDS"] = "40" });
        var draft = Draft("127.0.0.1", mock.Port, tls: false, password: Secret);
        draft["maxConnections"] = 6;
        var id = Text(await server.SendAsync(HttpMethod.Post, "providers", draft), "id");
        using var film = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var playing = PlayAsync(server.Server.Services.GetRequiredService<ProviderHost>(), film.Token);
        await HoldsAsync(() => Task.FromResult(mock.Stats.CommandCount("BODY") >= 2));
        var login = Login("127.0.0.1", mock.Port, tls: false);
        (login["id"], login["password"]) = (id, null);

        var (steps, outcome) = await TestAsync(server, login);

        Assert.Equal(6, outcome["connections"]!.GetValue<int>());
        Assert.Contains("that this server has open", Text(steps.Last(step => Text(step, "stage") == "ceiling"), "sentence"), StringComparison.Ordinal);
        Assert.InRange(mock.Stats.ConnectionsPeak, 2, 6);
        await film.CancelAsync();
        await playing;
    }

    [Fact]
    public async Task Saved_password_is_sent_to_the_saved_address_only()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { User = "anna", Password = Secret, Faults = [NoGroups] }, new MockProvider { User = "anna", Password = Secret }],
        });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var draft = Draft("127.0.0.1", mock.Ports[0], tls: false, password: Secret);
        draft["maxConnections"] = 2;
        var id = Text(await server.SendAsync(HttpMethod.Post, "providers", draft), "id");
        var login = Login("127.0.0.1", mock.Ports[1], tls: false);
        (login["id"], login["password"]) = (id, null);

        var (steps, outcome) = await TestAsync(server, login);

        Assert.Equal(("login", "failed", "password-needed"), (Text(steps[^1], "stage"), Text(steps[^1], "state"), Text(steps[^1], "cause")));
        Assert.False(outcome["ok"]!.GetValue<bool>());
        Assert.Equal((0, 0), (mock.ProviderStats[1].CommandCount("AUTHINFO USER"), mock.ProviderStats[1].CommandCount("AUTHINFO PASS")));

        login["port"] = mock.Ports[0];
        (_, outcome) = await TestAsync(server, login);
        Assert.True(outcome["ok"]!.GetValue<bool>());
        login["id"] = null;
        var problem = await server.SendAsync(HttpMethod.Post, "providers/test", login.DeepClone(), HttpStatusCode.BadRequest);
        Assert.Equal("Enter the password.", problem["errors"]!["password"]![0]!.GetValue<string>());
    }

    [Fact]
    public async Task Password_echoed_by_the_server_is_masked()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [Failing(FaultKind.Auth481, $"481 No user anna with {Secret}")] });
        await using var server = await ResourceServer.StartAsync(_temporary);

        var (steps, _) = await TestAsync(server, Login("127.0.0.1", mock.Port, tls: false));

        Assert.Contains("481 No user anna with ********", Text(steps[^1], "sentence"), StringComparison.Ordinal);
        Assert.All(steps, step => Assert.DoesNotContain(Secret, step.ToJsonString(), StringComparison.Ordinal));
    }

    [Fact]
    public async Task Missing_login_is_reported_if_the_server_needs_one()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { User = "anna", Password = Secret }] });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var login = Login("127.0.0.1", mock.Port, tls: false);
        login["user"] = "";

        var (steps, _) = await TestAsync(server, login);

        Assert.Equal(("login", "wrong-login"), (Text(steps[^1], "stage"), Text(steps[^1], "cause")));
        Assert.Contains("asks for a username", Text(steps[^1], "sentence"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Aborted_test_closes_its_connections_and_allows_the_next()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { User = "anna", Password = Secret, Latency = TimeSpan.FromMilliseconds(200), Faults = [NoGroups] }],
        });
        await using var server = await ResourceServer.StartAsync(_temporary);
        var login = Login("127.0.0.1", mock.Port, tls: false);
        login["maxConnections"] = 8;
        using (var left = await BeginAsync(server, login))
        {
            await using var body = await left.Content.ReadAsStreamAsync(Token);
            using var reader = new StreamReader(body);
            while (!(await reader.ReadLineAsync(Token))!.Contains("\"stage\":\"ceiling\"", StringComparison.Ordinal))
            {
            }

            await server.SendAsync(HttpMethod.Post, "providers/test", login.DeepClone(), HttpStatusCode.Conflict);
        }

        await NoneIsOpenAsync(mock);
        HttpResponseMessage? next = null;
        await HoldsAsync(async () =>
        {
            next?.Dispose();
            next = await BeginAsync(server, login);
            return next.StatusCode == HttpStatusCode.OK;
        });
        using (next)
            Assert.True((await ReadAsync(next!)).Outcome["ok"]!.GetValue<bool>());
    }

    [Fact]
    public async Task Speed_is_measured_with_the_newest_NZB_within_the_budget()
    {
        var release = MockRelease.Plain(9, 6_000_000, articleSize: 100_000);
        var budget = new SpeedBudget(3_000_000, TimeSpan.FromSeconds(60));
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { User = "anna", Password = Secret, MaxConnections = 3 }] });
        await using var server = await ResourceServer.StartAsync(_temporary, replace: services => services.AddSingleton(budget));
        await QueueAsync(server, release);

        var (steps, outcome) = await TestAsync(server, Login("127.0.0.1", mock.Port, tls: false));

        Assert.Equal("speed ok", Ends(steps)[^1]);
        Assert.True(outcome["bytesPerSecond"]!.GetValue<long>() > 0);

        // The reply lines come in addition to the budget.
        Assert.InRange(mock.Stats.Bytes, 2_500_000, budget.Bytes + 20_000);
        Assert.Equal(0, mock.Stats.CommandCount("GROUP"));
        Assert.All(mock.Stats.Bodies.Keys, id => Assert.Contains(id, release.MessageIds()));
        Assert.Equal(3, mock.Stats.CommandCount("QUIT"));
    }

    [Fact]
    public async Task Speed_test_without_an_NZB_uses_new_articles_of_a_group()
    {
        var budget = new SpeedBudget(9_000_000, TimeSpan.FromSeconds(60));
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { User = "anna", Password = Secret, MaxConnections = 3, Faults = [NoGroups with { Count = 1 }] }],
        });
        await using var server = await ResourceServer.StartAsync(_temporary, replace: services => services.AddSingleton(budget));

        var (steps, outcome) = await TestAsync(server, Login("127.0.0.1", mock.Port, tls: false));

        Assert.Equal("speed ok", Ends(steps)[^1]);
        Assert.True(outcome["bytesPerSecond"]!.GetValue<long>() > 0);
        Assert.InRange(mock.Stats.Bytes, 5_000_000, budget.Bytes + 20_000);

        // The first group is refused once; the second is selected on each connection.
        Assert.Equal(4, mock.Stats.CommandCount("GROUP"));
    }

    [Fact]
    public async Task Speed_test_stops_early_if_all_articles_are_missing()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { User = "anna", Password = Secret, MaxConnections = 2, Missing = ArticleSelection.Parse("100%") }],
        });
        await using var server = await ResourceServer.StartAsync(_temporary);

        var (steps, outcome) = await TestAsync(server, Login("127.0.0.1", mock.Port, tls: false));

        Assert.Equal("speed skipped", Ends(steps)[^1]);
        Assert.True(outcome["ok"]!.GetValue<bool>());
        Assert.InRange(mock.Stats.CommandCount("BODY"), 400, 2 * (200 + 20));
        Assert.Equal(2, mock.Stats.CommandCount("QUIT"));
    }

    [Fact]
    public void Test_steps_are_serialized_with_kebab_case_names()
    {
        var step = new ProviderTestStep(ProviderTestStage.Tcp, ProviderTestState.Failed, 1.5, ProviderTestCause.NotNntp, null, null);
        Assert.Equal(
            """{"stage":"tcp","state":"failed","ms":1.5,"cause":"not-nntp","sentence":null,"value":null}""",
            JsonSerializer.Serialize(step, AdminJson.Default.ProviderTestStep));
        Assert.Equal((200_000_000, TimeSpan.FromSeconds(10)), (SpeedBudget.Usual.Bytes, SpeedBudget.Usual.Time));
    }

    private static MockProvider Failing(FaultKind kind, string? text) =>
        new() { User = "anna", Password = Secret, Faults = [new MockFault { Kind = kind, Text = text }] };

    private static JsonObject Login(string host, int port, bool tls) =>
        new() { ["id"] = null, ["host"] = host, ["port"] = port, ["tls"] = tls, ["user"] = "anna", ["password"] = Secret };

    private static string[] Ends(IEnumerable<JsonObject> steps) =>
        [.. steps.Where(step => Text(step, "state") != "running").Select(step => $"{Text(step, "stage")} {Text(step, "state")}")];

    private static async Task<(List<JsonObject> Steps, JsonObject Outcome)> TestAsync(ResourceServer server, JsonObject login)
    {
        using var answer = await BeginAsync(server, login);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal("no", answer.Headers.GetValues("X-Accel-Buffering").Single());
        Assert.True(answer.Headers.CacheControl!.NoStore);
        return await ReadAsync(answer);
    }

    private static async Task<(List<JsonObject> Steps, JsonObject Outcome)> ReadAsync(HttpResponseMessage answer)
    {
        Assert.Equal("text/event-stream", answer.Content.Headers.ContentType!.MediaType);
        var steps = new List<JsonObject>();
        foreach (var frame in (await answer.Content.ReadAsStringAsync(Token)).Split("\n\n", StringSplitOptions.RemoveEmptyEntries))
        {
            Assert.StartsWith("event: ", frame, StringComparison.Ordinal);
            var data = JsonNode.Parse(frame[(frame.IndexOf("data: ", StringComparison.Ordinal) + 6)..])!.AsObject();
            if (frame.StartsWith("event: done", StringComparison.Ordinal))
                return (steps, data);
            steps.Add(data);
        }

        throw new InvalidDataException("The test did not come to its end.");
    }

    private static Task<HttpResponseMessage> BeginAsync(ResourceServer server, JsonObject login)
    {
        var request = new HttpRequestMessage(HttpMethod.Post, new Uri("api/providers/test", UriKind.Relative))
        {
            Content = new StringContent(login.ToJsonString(), Encoding.UTF8, "application/json"),
        };
        return server.Server.Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
    }

    private static Task NoneIsOpenAsync(MockServer mock) => HoldsAsync(() => Task.FromResult(mock.Stats.ConnectionsNow == 0));

    /// <summary>Plays two articles until the test cancels them halfway.</summary>
    private static async Task PlayAsync(ProviderHost host, CancellationToken enough)
    {
        var film = MockRelease.Plain(3, 3_000_000, articleSize: 100_000);
        try
        {
            await Task.WhenAll(Enumerable.Range(1, 2).Select(part => host.FetchAsync(
                new ArticleRequest(MessageId.Parse(film.MessageId(0, part)), OperationLane.Playback, new FetchUrgency(film, isHeadOfLine: true)),
                new DrainingSink(),
                enough).AsTask()));
        }
        catch (OperationCanceledException)
        {
            // The test has canceled the articles.
        }
    }

    private static async Task QueueAsync(ResourceServer server, MockRelease release)
    {
        using var form = new MultipartFormDataContent { { new ByteArrayContent(release.ToNzb()), "name", "Film.nzb" } };
        using var answer = await server.Server.Client.PostAsync(new Uri($"api?mode=addfile&apikey={RunningServer.ApiKey}", UriKind.Relative), form, Token);
        Assert.Contains("nzo_ids", await answer.Content.ReadAsStringAsync(Token), StringComparison.Ordinal);
    }
}
