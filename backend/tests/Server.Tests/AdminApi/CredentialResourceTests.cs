using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Creating and revoking credentials (S33).</summary>
public sealed class CredentialResourceTests : IDisposable
{
    private const string Code = "K7QF-2M9X";
    private const string Secret = "correct-horse-battery";

    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Sessions_are_listed_and_can_be_ended_individually()
    {
        await using var server = await StartAsync();
        var (one, other) = (await LogInAsync(server, "Browser A"), await LogInAsync(server, "Browser B"));

        var items = (await ListAsync(one)).AsArray();
        Assert.Equal(["Browser A", "Browser B"], items.Select(item => item!["agent"]!.ToString()).Order());
        Assert.All(items, item => Assert.Equal("127.0.0.1", item!["address"]!.ToString()));
        Assert.Equal("Browser A", items.Single(item => item!["current"]!.GetValue<bool>())!["agent"]!.ToString());
        Assert.DoesNotContain(one.Split('=')[1], items.ToJsonString(), StringComparison.Ordinal);

        var id = items.Single(item => item!["agent"]!.ToString() == "Browser B")!["id"]!.ToString();
        var (_, read) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("reader", hasFullAccess: false, Token);
        Assert.Equal(HttpStatusCode.Forbidden, (await SendAsync(server, HttpMethod.Delete, $"sessions/{id}", null, null, ("X-Api-Key", read))).Status);
        Assert.Equal(HttpStatusCode.NoContent, (await SendAsync(server, HttpMethod.Delete, $"sessions/{id}", null, one)).Status);
        Assert.Equal(HttpStatusCode.NotFound, (await SendAsync(server, HttpMethod.Delete, $"sessions/{id}", null, one)).Status);
        Assert.Equal(HttpStatusCode.Unauthorized, (await SendAsync(server, HttpMethod.Get, "session", null, other)).Status);
        Assert.Single((await ListAsync(one)).AsArray());

        async Task<JsonNode> ListAsync(string cookie) => JsonNode.Parse((await SendAsync(server, HttpMethod.Get, "sessions", null, cookie)).Text)!["items"]!;
    }

    [Fact]
    public async Task Full_access_key_needs_a_recently_entered_password()
    {
        await using var server = await StartAsync();
        var cookie = await LogInAsync(server);
        Assert.Equal(HttpStatusCode.OK, (await MakeAsync("full", null)).Status);

        _time.Advance(TimeSpan.FromMinutes(10));
        var asked = await MakeAsync("full", null);
        Assert.Equal((HttpStatusCode.Forbidden, "password-needed"), (asked.Status, TypeOf(asked.Text)));
        Assert.Equal(HttpStatusCode.OK, (await MakeAsync("read", null)).Status);
        var wrong = await MakeAsync("full", "wrong-horse-battery");
        Assert.Equal(HttpStatusCode.BadRequest, wrong.Status);
        Assert.Contains("\"password\"", wrong.Text, StringComparison.Ordinal);
        Assert.Equal(HttpStatusCode.Forbidden, (await MakeAsync("full", null)).Status);
        Assert.Equal(HttpStatusCode.OK, (await MakeAsync("full", Secret)).Status);
        Assert.Equal(HttpStatusCode.OK, (await MakeAsync("full", null)).Status);

        // A key cannot create a key without the password, because the new key would outlive it.
        var (_, key) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("full", hasFullAccess: true, Token);
        Assert.Equal(HttpStatusCode.Forbidden, (await MakeAsync("full", null, key)).Status);
        Assert.Equal(HttpStatusCode.OK, (await MakeAsync("full", Secret, key)).Status);

        Task<(HttpStatusCode Status, string Text, string? Cookie)> MakeAsync(string access, string? password, string? key = null) => SendAsync(
            server, HttpMethod.Post, "keys", Body(new() { ["name"] = access, ["access"] = access }, password), key is null ? cookie : null, ("X-Api-Key", key));
    }

    [Fact]
    public async Task Generating_a_WebDAV_password_needs_the_admin_password()
    {
        await using var server = await StartAsync();
        var cookie = await LogInAsync(server);
        _time.Advance(TimeSpan.FromMinutes(10));

        Assert.Equal(HttpStatusCode.Forbidden, await MakeAsync(null));
        Assert.Equal(HttpStatusCode.BadRequest, (await GiveAsync("wrong-horse-battery")).Status);
        Assert.Equal(HttpStatusCode.Forbidden, await MakeAsync(null));
        Assert.Equal(HttpStatusCode.NoContent, (await GiveAsync(Secret)).Status);
        Assert.Equal(HttpStatusCode.OK, await MakeAsync(null));
        var (_, key) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("full", hasFullAccess: true, Token);
        Assert.Equal(HttpStatusCode.Forbidden, await MakeAsync(key));

        Task<(HttpStatusCode Status, string Text, string? Cookie)> GiveAsync(string password) =>
            SendAsync(server, HttpMethod.Post, "session/password", new JsonObject { ["password"] = password }, cookie);
        async Task<HttpStatusCode> MakeAsync(string? key) =>
            (await SendAsync(server, HttpMethod.Post, "settings/webdav-password", null, key is null ? cookie : null, ("X-Api-Key", key))).Status;
    }

    [Fact]
    public async Task Saving_a_WebDAV_password_needs_the_admin_password()
    {
        await using var server = await StartAsync();
        var cookie = await LogInAsync(server);
        _time.Advance(TimeSpan.FromMinutes(10));

        Assert.Equal(HttpStatusCode.Forbidden, await AskAsync(null));
        Assert.Equal(HttpStatusCode.BadRequest, await AskAsync("wrong-horse-battery"));
        Assert.Equal(HttpStatusCode.OK, await AskAsync(Secret));
        Assert.Equal(HttpStatusCode.OK, await AskAsync(null));

        async Task<HttpStatusCode> AskAsync(string? password)
        {
            var body = new JsonObject { ["values"] = new JsonObject { ["queue.worker-count"] = "3", ["webdav.pass"] = "another-horse-battery" } };
            return (await SendAsync(server, HttpMethod.Put, "settings", Body(body, password), cookie)).Status;
        }
    }

    [Fact]
    public async Task Importing_a_WebDAV_password_needs_the_admin_password()
    {
        await using var server = await StartAsync();
        var cookie = await LogInAsync(server);
        _time.Advance(TimeSpan.FromMinutes(10));

        Assert.Equal(HttpStatusCode.Forbidden, (await SendTextAsync(server, "settings/import", "webdav.pass=another-horse-battery", cookie)).Status);
        Assert.Equal(HttpStatusCode.OK, (await SendTextAsync(server, "settings/import", "queue.worker-count=3", cookie)).Status);
    }

    [Theory]
    [InlineData(false, HttpStatusCode.OK)]
    [InlineData(true, HttpStatusCode.Unauthorized)]
    public async Task Password_change_revokes_all_keys_if_requested(bool endKeys, HttpStatusCode expected)
    {
        await using var server = await StartAsync();
        var cookie = await LogInAsync(server);
        var (_, key) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("full", hasFullAccess: true, Token);

        var changed = await SendAsync(
            server, HttpMethod.Put, "account", new JsonObject { ["user"] = "admin", ["oldPassword"] = Secret, ["newPassword"] = "another-horse-battery", ["endKeys"] = endKeys }, cookie);

        Assert.Equal(HttpStatusCode.OK, changed.Status);
        Assert.Equal(expected, (await SendAsync(server, HttpMethod.Get, "settings", null, null, ("X-Api-Key", key))).Status);
    }

    [Theory]
    [InlineData(false, HttpStatusCode.OK)]
    [InlineData(true, HttpStatusCode.Unauthorized)]
    public async Task Setup_after_a_reset_revokes_all_keys_if_requested(bool endKeys, HttpStatusCode expected)
    {
        string key;
        await using (var before = await StartAsync())
            (_, key) = await before.Services.GetRequiredService<AdminStore>().MakeKeyAsync("full", hasFullAccess: true, Token);

        await using var server = await RunningServer.StartAsync(_temporary, new() { ["RESET_ADMIN_PASSWORD"] = "true", ["SLUICE_SETUP_CODE"] = Code });
        Assert.Contains("\"hasKeys\":true", (await SendAsync(server, HttpMethod.Get, "setup")).Text, StringComparison.Ordinal);
        var setup = new JsonObject { ["code"] = Code, ["user"] = "admin", ["password"] = Secret, ["endKeys"] = endKeys };
        Assert.Equal(HttpStatusCode.OK, (await SendAsync(server, HttpMethod.Post, "setup", setup)).Status);

        Assert.Equal(expected, (await SendAsync(server, HttpMethod.Get, "settings", null, null, ("X-Api-Key", key))).Status);
        Assert.DoesNotContain("hasKeys", (await SendAsync(server, HttpMethod.Get, "setup")).Text, StringComparison.Ordinal);
    }

    private Task<RunningServer> StartAsync() => RunningServer.StartAsync(
        _temporary,
        new() { ["SLUICE_ADMIN_PASSWORD"] = QuickHash.Of(Secret), ["SLUICE_CONFIG__WEBDAV__PASS"] = "" },
        replace: services => services.AddSingleton<TimeProvider>(_time));

    private static JsonObject Body(JsonObject body, string? password)
    {
        if (password is not null)
            body["password"] = password;
        return body;
    }

    private static string TypeOf(string problem) => JsonNode.Parse(problem)!["type"]!.ToString();

    private static async Task<string> LogInAsync(RunningServer server, string agent = "a browser") =>
        (await SendAsync(server, HttpMethod.Post, "session", new JsonObject { ["user"] = "admin", ["password"] = Secret }, null, ("User-Agent", agent))).Cookie!;

    private static Task<(HttpStatusCode Status, string Text, string? Cookie)> SendAsync(
        RunningServer server, HttpMethod method, string path, JsonObject? body = null, string? cookie = null, params (string Name, string? Value)[] headers) =>
        SendAsync(server, method, path, body is null ? null : new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json"), cookie, headers);

    private static Task<(HttpStatusCode Status, string Text, string? Cookie)> SendTextAsync(RunningServer server, string path, string text, string cookie) =>
        SendAsync(server, HttpMethod.Post, path, new StringContent(text, Encoding.UTF8, "text/plain"), cookie, []);

    private static async Task<(HttpStatusCode Status, string Text, string? Cookie)> SendAsync(
        RunningServer server, HttpMethod method, string path, HttpContent? content, string? cookie, (string Name, string? Value)[] headers)
    {
        using var http = new HttpClient(new SocketsHttpHandler { UseCookies = false });
        using var request = new HttpRequestMessage(method, new Uri(server.Address, "/api/" + path)) { Content = content };
        foreach (var (name, value) in headers.Concat([("Cookie", cookie), ("X-Csrf", "1"), ("Origin", server.Address.GetLeftPart(UriPartial.Authority))]))
        {
            if (value is not null)
                request.Headers.TryAddWithoutValidation(name, value);
        }

        using var answer = await http.SendAsync(request, Token);
        return (
            answer.StatusCode,
            await answer.Content.ReadAsStringAsync(Token),
            answer.Headers.TryGetValues("Set-Cookie", out var cookies) ? cookies.First().Split(';')[0] : null);
    }
}
