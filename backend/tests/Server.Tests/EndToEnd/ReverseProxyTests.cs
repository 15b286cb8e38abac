using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Settings;
using Sluice.Server.Tests.AdminApi;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Pages;
using Sluice.Server.Tests.Queue;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>The web UI behind a real nginx: with its defaults, below a sub-path, and with TLS (DAV-1, ADM-2).</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class ReverseProxyTests : IDisposable
{
    private const string Secret = "correct-horse-battery";
    private const string AsTheManualSays = "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("", false)]
    [InlineData("/x/media", false)]
    [InlineData("", true)]
    [InlineData("/x/media", true)]
    public async Task Web_UI_and_uploads_work_behind_nginx(string urlBase, bool useTls)
    {
        ExternalProgram.Require("nginx");
        await using var server = await StartAsync(new() { ["URL_BASE"] = urlBase });
        await using var proxy = await NginxProxy.StartAsync(server.Address, useTls, AsTheManualSays, Token);
        using var browser = new Browser(proxy.Address, urlBase);

        Assert.Contains($"<base href=\"{urlBase}/\" />", await browser.PageAsync("queue"), StringComparison.Ordinal);
        Assert.Equal(BuiltPages.Code, await browser.GetAsync(BuiltPages.CodePath));
        Assert.Equal($"{urlBase}/files", await browser.RedirectAsync("content/"));
        var (status, _, cookie) = await browser.LogInAsync(Secret);
        Assert.Equal(HttpStatusCode.OK, status);
        Assert.Contains($"path={(urlBase.Length > 0 ? urlBase : "/")}", cookie, StringComparison.Ordinal);
        Assert.Equal(useTls, cookie.Contains("secure", StringComparison.OrdinalIgnoreCase));
        // nginx buffers answers by default, but events must arrive one by one.
        using var events = await browser.WatchAsync("topics=config");
        Assert.Equal("snapshot", (await events.ReadAsync()).Kind);
        Assert.Equal(HttpStatusCode.OK, (await browser.SaveAsync()).Status);
        Assert.Equal("delta", (await events.ReadAsync()).Kind);
        // nginx accepts bodies up to 1 MB by default; it buffers this one in a file before it forwards it.
        Assert.Equal(HttpStatusCode.Created, await browser.PutAsync("nzbs/tv/Behind a proxy.nzb", LongNzb()));
        Assert.Equal(HttpStatusCode.MultiStatus, await browser.FindAsync("nzbs/tv/"));
    }

    [Fact]
    public async Task Host_mismatch_behind_a_proxy_is_fixed_by_base_url()
    {
        ExternalProgram.Require("nginx");
        await using var server = await StartAsync([]);
        await using var proxy = await NginxProxy.StartAsync(server.Address, useTls: false, "", Token);
        using var browser = new Browser(proxy.Address, "");
        Assert.Contains("<h1>Sluice</h1>", await browser.PageAsync(""), StringComparison.Ordinal);

        var (status, problem, _) = await browser.LogInAsync(Secret);

        Assert.Equal((HttpStatusCode.Forbidden, "origin-mismatch"), (status, problem["type"]!.GetValue<string>()));
        var title = problem["title"]!.GetValue<string>();
        Assert.Contains(proxy.Address.GetLeftPart(UriPartial.Authority), title, StringComparison.Ordinal);
        Assert.Contains(server.Address.Authority, title, StringComparison.Ordinal);
        Assert.Contains("general.base-url", title, StringComparison.Ordinal);

        var settings = server.Services.GetRequiredService<SettingsStore>();
        Assert.Empty(await settings.SaveAsync(new Dictionary<string, string?> { ["general.base-url"] = proxy.Address.GetLeftPart(UriPartial.Authority) }, Token));
        Assert.Equal(HttpStatusCode.OK, (await browser.LogInAsync(Secret)).Status);
        Assert.Equal(HttpStatusCode.OK, (await browser.SaveAsync()).Status);
    }

    [Fact]
    public async Task Setup_behind_a_proxy_requires_the_code()
    {
        ExternalProgram.Require("nginx");
        await using var server = await BuiltPages.StartAsync(_temporary, new() { ["SLUICE_SETUP_CODE"] = "K7QF-2M9X" });
        await using var proxy = await NginxProxy.StartAsync(server.Address, useTls: true, AsTheManualSays, Token);
        using var browser = new Browser(proxy.Address, "");

        Assert.Equal(HttpStatusCode.BadRequest, await browser.SetUpAsync("", Secret));
        Assert.Equal(HttpStatusCode.BadRequest, await browser.SetUpAsync("AAAA-AAAA", Secret));
        Assert.Equal(HttpStatusCode.OK, await browser.SetUpAsync("K7QF-2M9X", Secret));
        Assert.Equal(HttpStatusCode.OK, (await browser.LogInAsync(Secret)).Status);
    }

    private static byte[] LongNzb() => NzbText.Of([.. Enumerable.Range(0, 400).Select(i => $"{i}.mkv")]);

    private Task<RunningServer> StartAsync(Dictionary<string, string> variables)
    {
        variables["SLUICE_ADMIN_PASSWORD"] = QuickHash.Of(Secret);
        return BuiltPages.StartAsync(_temporary, variables);
    }

    /// <summary>Sends the headers of a browser: the session cookie and the origin of the page.</summary>
    private sealed class Browser : IDisposable
    {
        private readonly HttpClient _http;
        private readonly Uri _base;
        private readonly string _origin;
        private string? _cookie;

        public Browser(Uri address, string urlBase)
        {
            var handler = new SocketsHttpHandler { AllowAutoRedirect = false, UseCookies = false };
            handler.SslOptions.RemoteCertificateValidationCallback = (_, certificate, _, _) => certificate?.Subject == NginxProxy.Subject;
            _base = new Uri(address, urlBase.TrimStart('/') + (urlBase.Length > 0 ? "/" : ""));
            _http = new HttpClient(handler) { BaseAddress = _base };
            _origin = address.GetLeftPart(UriPartial.Authority);
        }

        public async Task<string> PageAsync(string path)
        {
            using var answer = await SendAsync(HttpMethod.Get, path, null, ("Accept", "text/html"));
            Assert.Equal((HttpStatusCode.OK, "text/html"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
            return await answer.Content.ReadAsStringAsync(Token);
        }

        public async Task<string> GetAsync(string path)
        {
            using var answer = await SendAsync(HttpMethod.Get, path, null);
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            return await answer.Content.ReadAsStringAsync(Token);
        }

        public async Task<string> RedirectAsync(string path)
        {
            using var answer = await SendAsync(HttpMethod.Get, path, null, ("Accept", "text/html"));
            Assert.Equal(HttpStatusCode.Found, answer.StatusCode);
            var location = answer.Headers.Location!;
            return location.IsAbsoluteUri ? location.AbsolutePath : location.OriginalString;
        }

        public async Task<(HttpStatusCode Status, JsonNode Body, string Cookie)> LogInAsync(string password)
        {
            using var answer = await SendAsync(
                HttpMethod.Post, "api/session", JsonContent.Create(new JsonObject { ["user"] = "admin", ["password"] = password }), ("Origin", _origin), ("X-Csrf", "1"));
            var cookie = answer.Headers.TryGetValues("Set-Cookie", out var set) ? set.First() : "";
            _cookie = cookie.Split(';')[0];
            return (answer.StatusCode, JsonNode.Parse(await answer.Content.ReadAsStringAsync(Token))!, cookie);
        }

        public async Task<HttpStatusCode> SetUpAsync(string code, string password)
        {
            var body = new JsonObject { ["code"] = code, ["user"] = "admin", ["password"] = password };
            using var answer = await SendAsync(HttpMethod.Post, "api/setup", JsonContent.Create(body), ("Origin", _origin), ("X-Csrf", "1"));
            return answer.StatusCode;
        }

        public async Task<(HttpStatusCode Status, string Body)> SaveAsync()
        {
            var body = new JsonObject { ["values"] = new JsonObject { ["queue.worker-count"] = "3" } };
            using var answer = await SendAsync(HttpMethod.Put, "api/settings", JsonContent.Create(body), ("Origin", _origin), ("X-Csrf", "1"), ("Cookie", _cookie!));
            return (answer.StatusCode, await answer.Content.ReadAsStringAsync(Token));
        }

        public Task<EventStreamClient> WatchAsync(string query) => EventStreamClient.WatchAsync(_http, query, ("Cookie", _cookie!), ("Sec-Fetch-Site", "same-origin"));

        public async Task<HttpStatusCode> PutAsync(string path, byte[] body)
        {
            using var answer = await SendAsync(HttpMethod.Put, path, new ByteArrayContent(body), Basic);
            return answer.StatusCode;
        }

        public async Task<HttpStatusCode> FindAsync(string path)
        {
            using var answer = await SendAsync(new HttpMethod("PROPFIND"), path, null, Basic, ("Depth", "1"));
            return answer.StatusCode;
        }

        public void Dispose() => _http.Dispose();

        private static (string, string) Basic => ("Authorization", RunningServer.Basic("admin", RunningServer.Password).ToString());

        private async Task<HttpResponseMessage> SendAsync(HttpMethod method, string path, HttpContent? content, params (string Name, string Value)[] headers)
        {
            using var request = new HttpRequestMessage(method, new Uri(_base, path)) { Content = content };
            foreach (var (name, value) in headers)
                request.Headers.TryAddWithoutValidation(name, value);
            return await _http.SendAsync(request, Token);
        }
    }
}
