using System.Net;
using System.Text;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>Access without credentials is limited to the listed exceptions (S6, DAV-30 to DAV-33).</summary>
public sealed class AccessTests : IDisposable
{
    private static readonly string[] Verbs =
        ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "PROPPATCH", "MKCOL", "MOVE", "COPY", "LOCK", "UNLOCK", "TRACE", "BREW"];

    private static readonly Dictionary<string, string[]> OpenPaths = new()
    {
        [OpenEndpoint.Process] = ["healthz", "readyz", "health", "ready"],
        [OpenEndpoint.Metrics] = ["metrics"],
        [OpenEndpoint.SabApi] = ["api", "sabnzbd/api"],
        [OpenEndpoint.Session] = ["api/session"],
        [OpenEndpoint.Setup] = ["api/setup"],
        [OpenEndpoint.Rescue] = ["api/rescue"],
        [OpenEndpoint.Static] =
        [
            "favicon.ico", "robots.txt", "manifest.webmanifest", "apple-touch-icon.png", "assets/{**path}", "", "{**path}",
            "setup/{**path}", "login/{**path}", "streams/{**path}", "files/{**path}", "queue/{**path}", "history/{**path}", "health/{**path}",
            "benchmark/{**path}", "logs/{**path}", "settings/{**path}", "rescue/{**path}", "config/{**path}", "sabnzbd/{**path}",
        ],
    };

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Only_listed_endpoints_allow_anonymous_access()
    {
        await using var server = await RunningServer.StartAsync(_temporary);

        var endpoints = server.Services.GetRequiredService<EndpointDataSource>().Endpoints;
        Assert.NotEmpty(endpoints);
        foreach (var endpoint in endpoints.Where(endpoint => endpoint.Metadata.GetMetadata<IAllowAnonymous>() is not null))
        {
            var open = Assert.IsType<OpenEndpoint>(endpoint.Metadata.GetMetadata<IAllowAnonymous>());
            Assert.Contains(((RouteEndpoint)endpoint).RoutePattern.RawText!.Trim('/'), OpenPaths[open.Name]);
        }
    }

    [Fact]
    public async Task Every_route_has_an_access_rule_and_is_in_a_contract()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        var contracts = string.Join('\n', Directory.GetFiles(Repository.PathOf("docs/contracts"), "*.md").Select(File.ReadAllText));

        foreach (var endpoint in server.Services.GetRequiredService<EndpointDataSource>().Endpoints.Cast<RouteEndpoint>())
        {
            var path = endpoint.RoutePattern.RawText!;
            // Only the tree has neither; the default rule protects it.
            Assert.True(
                endpoint.Metadata.GetMetadata<OpenEndpoint>() is not null || endpoint.Metadata.GetMetadata<IAuthorizeData>() is not null || endpoint.Order == int.MaxValue,
                $"{path} has no access rule.");
            var names = path.Split('/', StringSplitOptions.RemoveEmptyEntries).TakeWhile(name => !name.StartsWith('{')).ToList();
            var name = string.Join('/', names.Take(names is ["api", ..] ? 2 : 1));
            Assert.True(
                contracts.Contains($"`/{name}", StringComparison.Ordinal) || contracts.Contains($"`{name}`", StringComparison.Ordinal),
                $"/{name} stands in no contract.");
        }
    }

    [Theory]
    [InlineData("*/*")]
    [InlineData("text/html")]
    public async Task Every_path_verb_and_encoding_is_refused_without_credentials(string accept)
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        string[] paths =
        [
            "", "README", "content", "content/", "nzbs/x/y.nzb", "completed-symlinks/", ".ids/", ".health", "view/x", "settings", "metrics", "no/such/path",
        ];

        foreach (var path in paths.SelectMany(Spellings))
        {
            foreach (var verb in Verbs)
            {
                using var request = new HttpRequestMessage(new HttpMethod(verb), server.Address + path);
                request.Headers.Add("Accept", accept);
                using var response = await server.Client.SendAsync(request, Token);
                Assert.True(
                    response.StatusCode is HttpStatusCode.Unauthorized or HttpStatusCode.NotFound || IsPage(response),
                    $"{verb} /{path} answers {(int)response.StatusCode}");
            }
        }
    }

    [Theory]
    [InlineData("favicon.ico")]
    [InlineData("robots.txt")]
    [InlineData("manifest.webmanifest")]
    [InlineData("apple-touch-icon.png")]
    public async Task Automatic_browser_requests_get_no_password_prompt(string name)
    {
        await using var server = await RunningServer.StartAsync(_temporary);

        using var response = await server.Client.GetAsync(name, Token);
        using var written = await server.Client.PutAsync(name, new ByteArrayContent([]), Token);

        Assert.Equal((HttpStatusCode.NotFound, 0), (response.StatusCode, response.Headers.WwwAuthenticate.Count));
        Assert.Equal(HttpStatusCode.Unauthorized, written.StatusCode);
    }

    [Fact]
    public async Task Unauthorized_response_has_a_challenge_and_no_cookie()
    {
        await using var server = await RunningServer.StartAsync(_temporary);

        using var response = await server.Client.GetAsync("content/", Token);

        Assert.Equal(HttpStatusCode.Unauthorized, response.StatusCode);
        Assert.Equal("Basic realm=\"Sluice\", charset=\"UTF-8\"", response.Headers.GetValues("WWW-Authenticate").Single());
        Assert.False(response.Headers.Contains("Set-Cookie"));
        Assert.False(response.Headers.Contains("Server"));
    }

    [Fact]
    public async Task Guesser_gets_429_while_the_right_password_still_works()
    {
        await using var server = await RunningServer.StartAsync(_temporary, map: MapProbe);
        Assert.Equal(HttpStatusCode.OK, await AskAsync(server, RunningServer.Password));
        for (var i = 0; i < 10; i++)
            Assert.Equal(HttpStatusCode.Unauthorized, await AskAsync(server, $"guess {i}"));

        using var throttled = await SendAsync(server, "guess 10");

        Assert.Equal(HttpStatusCode.TooManyRequests, throttled.StatusCode);
        Assert.Equal("60", throttled.Headers.GetValues("Retry-After").Single());
        for (var i = 0; i < 20; i++)
            Assert.Equal(HttpStatusCode.OK, await AskAsync(server, RunningServer.Password));
    }

    [Fact]
    public async Task Valid_header_is_hashed_once_for_1000_requests()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        server.Client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);

        await Parallel.ForAsync(0, 1000, new ParallelOptions { MaxDegreeOfParallelism = 16, CancellationToken = Token }, async (i, cancel) =>
        {
            using var request = new HttpRequestMessage(i % 2 == 0 ? HttpMethod.Head : new HttpMethod("PROPFIND"), "README");
            using var response = await server.Client.SendAsync(request, cancel);
            Assert.True(response.IsSuccessStatusCode);
        });

        Assert.Equal(1, server.Services.GetRequiredService<BasicVerifier>().Hashes);
    }

    [Fact]
    public async Task New_password_applies_without_a_restart()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["SLUICE_CONFIG__WEBDAV__PASS"] = "" }, MapProbe);
        var store = server.Services.GetRequiredService<SettingsStore>();
        Assert.Empty(await store.SaveAsync(new Dictionary<string, string?> { ["webdav.pass"] = "the first one" }, Token));
        Assert.Equal(HttpStatusCode.OK, await AskAsync(server, "the first one"));

        Assert.Empty(await store.SaveAsync(new Dictionary<string, string?> { ["webdav.pass"] = "the second one" }, Token));

        Assert.Equal(HttpStatusCode.Unauthorized, await AskAsync(server, "the first one"));
        Assert.Equal(HttpStatusCode.OK, await AskAsync(server, "the second one"));
    }

    [Theory]
    [InlineData("127.0.0.0/8", "true", HttpStatusCode.OK)]
    [InlineData("127.0.0.0/8", "false", HttpStatusCode.Unauthorized)]
    [InlineData("192.0.2.0/24", "true", HttpStatusCode.Unauthorized)]
    [InlineData("", "true", HttpStatusCode.Unauthorized)]
    public async Task Only_allowed_networks_need_no_credentials(string networks, string disable, HttpStatusCode expected)
    {
        await using var server = await RunningServer.StartAsync(
            _temporary, new() { ["SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS"] = networks, ["DISABLE_WEBDAV_AUTH"] = disable }, MapProbe);

        using var response = await server.Client.GetAsync("api/probe-of-a-test", Token);

        Assert.Equal(expected, response.StatusCode);
    }

    [Fact]
    public async Task Open_endpoint_never_hashes_the_credentials()
    {
        await using var server = await RunningServer.StartAsync(_temporary);

        using var request = new HttpRequestMessage(HttpMethod.Get, "healthz") { Headers = { Authorization = RunningServer.Basic("admin", "wrong") } };
        using var response = await server.Client.SendAsync(request, Token);

        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
        Assert.Equal(0, server.Services.GetRequiredService<BasicVerifier>().Hashes);
    }

    /// <summary>Whether the response is the browser page, to which folder requests of browsers are redirected.</summary>
    private static bool IsPage(HttpResponseMessage response) =>
        response.RequestMessage!.Method.Method is "GET" or "HEAD"
        && response.RequestMessage.Headers.Accept.ToString() == "text/html"
        && response.Headers.Contains("Content-Security-Policy");

    private static void MapProbe(WebApplication app) => app.MapGet("/api/probe-of-a-test", () => "ok");

    private static IEnumerable<string> Spellings(string path) => new[]
    {
        path,
        path.ToUpperInvariant(),
        "/" + path,
        path.Replace("/", "//", StringComparison.Ordinal),
        string.Concat(Encoding.UTF8.GetBytes(path).Select(b => b == '/' ? "/" : $"%{b:x2}")),
        "healthz/../" + path,
        "healthz%2f..%2f" + path,
    }.Distinct();

    private static async Task<HttpStatusCode> AskAsync(RunningServer server, string password)
    {
        using var response = await SendAsync(server, password);
        return response.StatusCode;
    }

    private static async Task<HttpResponseMessage> SendAsync(RunningServer server, string password)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "api/probe-of-a-test") { Headers = { Authorization = RunningServer.Basic("admin", password) } };
        return await server.Client.SendAsync(request, Token);
    }
}
