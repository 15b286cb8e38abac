using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.AdminApi;
using Sluice.Server.Auth;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Diagnostics;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Callers that the admin API accepts (ADM-2, ADM-3, ADM-6, S5, S7).</summary>
public sealed class SessionResourceTests : IDisposable
{
    private const string Code = "K7QF-2M9X";
    private const string Secret = "correct-horse-battery";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Setup_needs_the_code_and_works_only_once()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["SLUICE_SETUP_CODE"] = Code });
        Assert.True(File.Exists(Path.Combine(_temporary.Root, "setup-code")));
        var state = await SendAsync(server, HttpMethod.Get, "setup");
        Assert.Equal("""{"complete":false,"step":"account","needsCode":true}""", state.Text);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, (await SendAsync(server, HttpMethod.Post, "session", Login("admin", Secret))).Status);

        var wrong = await SendAsync(server, HttpMethod.Post, "setup", Setup("AAAA-AAAA", Secret));
        var weak = await SendAsync(server, HttpMethod.Post, "setup", Setup(Code, "password"));
        var right = await SendAsync(server, HttpMethod.Post, "setup", Setup("k7qf2m9x", Secret));
        var again = await SendAsync(server, HttpMethod.Post, "setup", Setup(Code, Secret));

        Assert.Equal((HttpStatusCode.BadRequest, true), (wrong.Status, wrong.Text.Contains("\"code\"", StringComparison.Ordinal)));
        Assert.Equal((HttpStatusCode.BadRequest, true), (weak.Status, weak.Text.Contains("\"password\"", StringComparison.Ordinal)));
        Assert.Equal(HttpStatusCode.OK, right.Status);
        Assert.Equal(HttpStatusCode.Conflict, again.Status);
        Assert.False(File.Exists(Path.Combine(_temporary.Root, "setup-code")));
        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Get, "settings", cookie: right.Cookie)).Status);
        Assert.Contains("samesite=strict; httponly", right.CookieText, StringComparison.OrdinalIgnoreCase);
        // The session survives a restart, but only its hash is stored.
        Assert.DoesNotContain(right.Cookie!.Split('=')[1], Encoding.Latin1.GetString(await ReadDatabaseAsync()), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("admin")]
    [InlineData("password")]
    [InlineData("changeme")]
    [InlineData("        ")]
    public async Task Weak_SLUICE_ADMIN_PASSWORD_creates_no_login(string password)
    {
        using var captured = new CapturedLines();
        await using var server = await RunningServer.StartAsync(
            _temporary, new() { ["SLUICE_ADMIN_PASSWORD"] = password }, null, services => services.AddLogging(logging => logging.AddProvider(captured)));

        Assert.Equal(HttpStatusCode.ServiceUnavailable, (await SendAsync(server, HttpMethod.Post, "session", Login("admin", password))).Status);
        Assert.True(File.Exists(Path.Combine(_temporary.Root, "setup-code")));
        Assert.Single(captured.Lines, line => line.Contains("SLUICE_ADMIN_PASSWORD must be at least 8 characters", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Strong_SLUICE_ADMIN_PASSWORD_creates_the_login()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["SLUICE_ADMIN_PASSWORD"] = Secret });

        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Post, "session", Login("admin", Secret))).Status);
    }

    [Theory]
    [InlineData("--------", "")]
    [InlineData("1", "1")]
    [InlineData("K7QF-2M9", "K7QF2M9")]
    public async Task Short_setup_code_is_replaced_by_a_random_one(string code, string typed)
    {
        // The file of an earlier start may contain the same code.
        await File.WriteAllTextAsync(Path.Combine(_temporary.Root, "setup-code"), "---------\n", Token);
        using var captured = new CapturedLines();
        await using var server = await RunningServer.StartAsync(
            _temporary, new() { ["SLUICE_SETUP_CODE"] = code }, null, services => services.AddLogging(logging => logging.AddProvider(captured)));

        Assert.Equal(HttpStatusCode.BadRequest, (await SendAsync(server, HttpMethod.Post, "setup", Setup(typed, Secret))).Status);
        Assert.Single(captured.Lines, line => line.Contains("SLUICE_SETUP_CODE must have at least 8 letters or digits", StringComparison.Ordinal));
        var made = await File.ReadAllTextAsync(Path.Combine(_temporary.Root, "setup-code"), Token);
        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Post, "setup", Setup(made.Trim(), Secret))).Status);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("172.17.0.1")]
    [InlineData("192.168.1.20")]
    [InlineData("::1")]
    public async Task Setup_needs_the_code_from_every_address(string? client)
    {
        // The peer is a trusted proxy that forwards the client's address.
        await using var server = await RunningServer.StartAsync(
            _temporary, new() { ["SLUICE_SETUP_CODE"] = Code, ["SLUICE_CONFIG__GENERAL__TRUSTED_PROXIES"] = "127.0.0.0/8" });
        var forwarded = ("X-Forwarded-For", client);

        var without = await SendAsync(server, HttpMethod.Post, "setup", new JsonObject { ["user"] = "admin", ["password"] = Secret }, null, forwarded);
        var empty = await SendAsync(server, HttpMethod.Post, "setup", Setup("", Secret), null, forwarded);
        var wrong = await SendAsync(server, HttpMethod.Post, "setup", Setup("AAAA-AAAA", Secret), null, forwarded);
        var settings = await SendAsync(server, HttpMethod.Get, "settings", null, null, forwarded);

        Assert.All([without, empty, wrong], answer => Assert.Equal((HttpStatusCode.BadRequest, null), (answer.Status, answer.Cookie)));
        Assert.Equal(HttpStatusCode.Unauthorized, settings.Status);
        Assert.Contains("\"complete\":false", (await SendAsync(server, HttpMethod.Get, "setup")).Text, StringComparison.Ordinal);
        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Post, "setup", Setup(Code, Secret), null, forwarded)).Status);
    }

    [Fact]
    public async Task RESET_ADMIN_PASSWORD_applies_once_until_it_is_removed()
    {
        await using (await StartAsync())
        {
            // This start creates the login.
        }

        Assert.False(await IsSetUpAsync(isReset: true));
        await SetUpAsync();
        Assert.True(await IsSetUpAsync(isReset: true));
        Assert.True(await IsSetUpAsync(isReset: false));
        Assert.False(await IsSetUpAsync(isReset: true));

        async Task<bool> IsSetUpAsync(bool isReset)
        {
            await using var server = await RunningServer.StartAsync(_temporary, new() { ["RESET_ADMIN_PASSWORD"] = isReset ? "true" : "false" });
            return (await SendAsync(server, HttpMethod.Get, "setup")).Text.Contains("\"complete\":true", StringComparison.Ordinal);
        }

        async Task SetUpAsync()
        {
            await using var server = await RunningServer.StartAsync(_temporary, new() { ["RESET_ADMIN_PASSWORD"] = "true", ["SLUICE_SETUP_CODE"] = Code });
            Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Post, "setup", Setup(Code, Secret))).Status);
        }
    }

    [Fact]
    public async Task Session_write_needs_the_CSRF_header_and_own_origin()
    {
        await using var server = await StartAsync();
        var cookie = await LogInAsync(server);
        var here = server.Address.GetLeftPart(UriPartial.Authority);

        Assert.Equal(HttpStatusCode.OK, await PutAsync("1", here));
        Assert.Equal(HttpStatusCode.OK, await PutAsync("1", "http://localhost:3000"));
        Assert.Equal(HttpStatusCode.Forbidden, await PutAsync(null, here));
        Assert.Equal(HttpStatusCode.Forbidden, await PutAsync("1", null));
        Assert.Equal(HttpStatusCode.Forbidden, await PutAsync("1", "http://evil.example"));
        Assert.Equal(HttpStatusCode.Forbidden, await PutAsync("1", "http://127.0.0.1:1"));
        Assert.Equal(HttpStatusCode.Forbidden, await PutAsync("1", "null"));
        Assert.Equal(HttpStatusCode.Forbidden, await PutAsync("1", here.Replace("://", "://evil@", StringComparison.Ordinal)));
        Assert.Equal(HttpStatusCode.Forbidden, await PutAsync("1", here.Replace("://", "://@", StringComparison.Ordinal)));
        var mismatch = await SendAsync(server, HttpMethod.Put, "settings", Values(), cookie, ("X-Csrf", "1"), ("Origin", "http://evil.example"));
        Assert.Equal("origin-mismatch", JsonNode.Parse(mismatch.Text)!["type"]!.ToString());
        Assert.Contains("general.base-url", mismatch.Text, StringComparison.Ordinal);

        Assert.Equal(HttpStatusCode.NoContent, (await SendAsync(server, HttpMethod.Delete, "session", null, cookie, ("X-Csrf", "1"), ("Origin", here))).Status);
        Assert.Equal(HttpStatusCode.Unauthorized, (await SendAsync(server, HttpMethod.Get, "session", cookie: cookie)).Status);

        async Task<HttpStatusCode> PutAsync(string? csrf, string? origin) =>
            (await SendAsync(server, HttpMethod.Put, "settings", Values(), cookie, ("X-Csrf", csrf), ("Origin", origin))).Status;
    }

    [Fact]
    public async Task Full_key_writes_and_read_only_key_only_reads()
    {
        await using var server = await StartAsync();
        var cookie = await LogInAsync(server);
        var here = server.Address.GetLeftPart(UriPartial.Authority);
        async Task<JsonNode> MakeAsync(string access) => JsonNode.Parse((await SendAsync(
            server, HttpMethod.Post, "keys", new JsonObject { ["name"] = access, ["access"] = access }, cookie, ("X-Csrf", "1"), ("Origin", here))).Text)!;
        var (full, read) = (await MakeAsync("full"), await MakeAsync("read"));

        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Put, "settings", Values(), null, ("X-Api-Key", full["key"]!.ToString()))).Status);
        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Get, "settings", null, null, ("X-Api-Key", read["key"]!.ToString()))).Status);
        Assert.Equal(HttpStatusCode.Forbidden, (await SendAsync(server, HttpMethod.Put, "settings", Values(), null, ("X-Api-Key", read["key"]!.ToString()))).Status);
        var list = await SendAsync(server, HttpMethod.Get, "keys", cookie: cookie);
        Assert.DoesNotContain(full["key"]!.ToString(), list.Text, StringComparison.Ordinal);
        Assert.Equal(2, JsonNode.Parse(list.Text)!["items"]!.AsArray().Count);
        Assert.Equal(HttpStatusCode.NoContent, (await SendAsync(server, HttpMethod.Delete, $"keys/{full["id"]}", null, null, ("X-Api-Key", full["key"]!.ToString()))).Status);
        Assert.Equal(HttpStatusCode.Unauthorized, (await SendAsync(server, HttpMethod.Get, "settings", null, null, ("X-Api-Key", full["key"]!.ToString()))).Status);
    }

    [Fact]
    public async Task No_resource_accepts_WebDAV_or_SABnzbd_credentials()
    {
        await using var server = await StartAsync();
        var routes = server.Services.GetRequiredService<EndpointDataSource>().Endpoints.OfType<RouteEndpoint>()
            .Where(route => route.Metadata.GetMetadata<AdminEndpoint>() is not null && route.Metadata.GetMetadata<OpenEndpoint>() is null)
            .SelectMany(route => (route.Metadata.GetMetadata<HttpMethodMetadata>()?.HttpMethods ?? ["PATCH"]).Select(method => (method, Path: route.RoutePattern.RawText!)))
            .ToList();
        Assert.True(routes.Count > 15);

        foreach (var (method, path) in routes)
        {
            foreach (var (name, value) in ((string, string?)[])
                [("X-Api-Key", null), ("X-Api-Key", RunningServer.ApiKey), ("Authorization", RunningServer.Basic("admin", RunningServer.Password).ToString())])
            {
                var answer = await SendAsync(server, new HttpMethod(method), path.Replace("/api/", "", StringComparison.Ordinal).Replace("{id}", "1", StringComparison.Ordinal).Replace("{resource}/{**rest}", "no/such", StringComparison.Ordinal), null, null, (name, value));
                // The eleventh wrong key within a minute is throttled.
                Assert.True(answer.Status is HttpStatusCode.Unauthorized or HttpStatusCode.TooManyRequests, $"{method} {path} with {name}: {answer.Status}");
                Assert.True(answer.Text.Contains("\"type\":", StringComparison.Ordinal), $"{method} {path} with {name}: {answer.Status}, {answer.Text}");
            }
        }
    }

    [Fact]
    public async Task Ten_wrong_passwords_a_minute_throttle_the_next_login()
    {
        await using var server = await StartAsync();
        for (var i = 0; i < 10; i++)
            Assert.Equal(HttpStatusCode.Unauthorized, (await SendAsync(server, HttpMethod.Post, "session", Login(i % 2 == 0 ? "admin" : "other", $"wrong {i}"))).Status);

        Assert.Equal(HttpStatusCode.TooManyRequests, (await SendAsync(server, HttpMethod.Post, "session", Login("admin", Secret))).Status);
    }

    [Fact]
    public async Task Correct_code_works_despite_wrong_keys_and_a_stale_code()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["SLUICE_SETUP_CODE"] = Code });
        for (var i = 0; i < 20; i++)
        {
            Assert.Equal(HttpStatusCode.BadRequest, (await SendAsync(server, HttpMethod.Post, "setup", Setup("AAAA-AAAA", Secret))).Status);
            await SendAsync(server, HttpMethod.Get, "settings", null, null, ("X-Api-Key", $"wrong {i}"));
        }

        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Post, "setup", Setup(Code, Secret))).Status);
    }

    [Fact]
    public async Task Ten_wrong_codes_a_minute_throttle_the_next_one()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["SLUICE_SETUP_CODE"] = Code });
        for (var i = 0; i < 10; i++)
            Assert.Equal(HttpStatusCode.BadRequest, (await SendAsync(server, HttpMethod.Post, "setup", Setup($"AAAA-AAA{i}", Secret))).Status);

        Assert.Equal(HttpStatusCode.TooManyRequests, (await SendAsync(server, HttpMethod.Post, "setup", Setup(Code, Secret))).Status);
    }

    [Fact]
    public async Task Password_change_ends_the_other_sessions()
    {
        await using var server = await StartAsync();
        var (one, other) = (await LogInAsync(server), await LogInAsync(server));
        var here = server.Address.GetLeftPart(UriPartial.Authority);
        var body = new JsonObject { ["user"] = "me", ["oldPassword"] = Secret, ["newPassword"] = "another-horse-battery" };

        var changed = await SendAsync(server, HttpMethod.Put, "account", body, one, ("X-Csrf", "1"), ("Origin", here));

        Assert.Equal("me", JsonNode.Parse(changed.Text)!["user"]!.ToString());
        Assert.Equal(HttpStatusCode.Unauthorized, (await SendAsync(server, HttpMethod.Get, "session", cookie: other)).Status);
        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Get, "session", cookie: changed.Cookie)).Status);
    }

    [Theory]
    [InlineData("""{"user":"admin","password":"x","more":1}""")]
    [InlineData("""{"user":"admin"}""")]
    [InlineData("""{"user":null,"password":"x"}""")]
    [InlineData("nonsense")]
    public async Task Invalid_body_returns_400_with_a_problem(string body)
    {
        await using var server = await StartAsync();
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(server.Address, "/api/session")) { Content = new StringContent(body, Encoding.UTF8, "application/json") };
        using var answer = await server.Client.SendAsync(request, Token);

        Assert.Equal((HttpStatusCode.BadRequest, "application/problem+json"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
        Assert.Equal("bad-input", JsonNode.Parse(await answer.Content.ReadAsStringAsync(Token))!["type"]!.ToString());
    }

    private Task<RunningServer> StartAsync() => RunningServer.StartAsync(_temporary, new() { ["SLUICE_ADMIN_PASSWORD"] = QuickHash.Of(Secret) });

    private static async Task<string> LogInAsync(RunningServer server)
    {
        var answer = await SendAsync(server, HttpMethod.Post, "session", Login("admin", Secret));
        Assert.True(answer.Status == HttpStatusCode.OK, answer.Text);
        return answer.Cookie!;
    }

    private static JsonObject Login(string user, string password) => new() { ["user"] = user, ["password"] = password };

    private static JsonObject Setup(string code, string password) => new() { ["code"] = code, ["user"] = "admin", ["password"] = password };

    private static JsonObject Values() => new() { ["values"] = new JsonObject { ["queue.worker-count"] = "3" } };

    private static async Task<(HttpStatusCode Status, string Text, string? Cookie, string CookieText)> SendAsync(
        RunningServer server, HttpMethod method, string path, JsonNode? body = null, string? cookie = null, params (string Name, string? Value)[] headers)
    {
        using var http = new HttpClient(new SocketsHttpHandler { UseCookies = false });
        using var request = new HttpRequestMessage(method, new Uri(server.Address, "/api/" + path));
        if (body is not null)
            request.Content = new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json");
        foreach (var (name, value) in headers.Append(("Cookie", cookie)))
        {
            if (value is not null)
                request.Headers.TryAddWithoutValidation(name, value);
        }

        using var answer = await http.SendAsync(request, Token);
        var set = answer.Headers.TryGetValues("Set-Cookie", out var cookies) ? cookies.First() : "";
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync(Token), set.Length > 0 ? set.Split(';')[0] : null, set);
    }

    private async Task<byte[]> ReadDatabaseAsync()
    {
        await using var file = new FileStream(_temporary.Folder.Database, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        using var held = new MemoryStream();
        await file.CopyToAsync(held, Token);
        return held.ToArray();
    }
}
