using System.IO.Compression;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Pages;

/// <summary>The web UI as files: responses for browsers, and for all other clients (DAV-2 to DAV-5, S17, S18).</summary>
public sealed class PageTests : IDisposable
{
    private const string Html = "text/html,application/xhtml+xml,*/*;q=0.8";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("")]
    [InlineData("setup")]
    [InlineData("login")]
    [InlineData("streams/abc")]
    [InlineData("files/content/movies/A%20film/")]
    [InlineData("queue")]
    [InlineData("history/1")]
    [InlineData("health")]
    [InlineData("logs")]
    [InlineData("settings/providers")]
    public async Task Browser_gets_the_page_on_its_routes_without_a_password(string path)
    {
        await using var server = await BuiltPages.StartAsync(_temporary);

        using var page = await SendAsync(server, HttpMethod.Get, path, Html);
        using var head = await SendAsync(server, HttpMethod.Head, path, Html);

        Assert.Equal((HttpStatusCode.OK, "text/html; charset=utf-8"), (page.StatusCode, page.Content.Headers.ContentType!.ToString()));
        var text = await page.Content.ReadAsStringAsync(Token);
        Assert.Contains("<h1>Sluice</h1>", text, StringComparison.Ordinal);
        Assert.Equal(("no-cache", "nosniff", "no-referrer"), (Header(page, "Cache-Control"), Header(page, "X-Content-Type-Options"), Header(page, "Referrer-Policy")));
        Assert.False(page.Headers.Contains("Set-Cookie"));
        Assert.Equal((HttpStatusCode.OK, Encoding.UTF8.GetByteCount(text)), (head.StatusCode, head.Content.Headers.ContentLength));
    }

    [Fact]
    public async Task CSP_allows_inline_script_by_hash_and_forbids_framing()
    {
        await using var server = await BuiltPages.StartAsync(_temporary);

        using var page = await SendAsync(server, HttpMethod.Get, "", Html);

        var policy = Header(page, "Content-Security-Policy").Split("; ");
        var hash = Convert.ToBase64String(SHA256.HashData(Encoding.UTF8.GetBytes(BuiltPages.Script)));
        Assert.Contains($"script-src 'self' 'sha256-{hash}'", policy);
        Assert.Contains("default-src 'self'", policy);
        Assert.Contains("base-uri 'self'", policy);
        Assert.Contains("frame-ancestors 'none'", policy);
        Assert.Contains($"<script>{BuiltPages.Script}</script>", await page.Content.ReadAsStringAsync(Token), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("", "<base href=\"/\" />")]
    [InlineData("/x/media", "<base href=\"/x/media/\" />")]
    public async Task Page_addresses_include_the_url_base(string urlBase, string expected)
    {
        await using var server = await BuiltPages.StartAsync(_temporary, new() { ["URL_BASE"] = urlBase });

        using var page = await SendAsync(server, HttpMethod.Get, urlBase + "/queue/", Html);
        using var asset = await SendAsync(server, HttpMethod.Get, $"{urlBase}/{BuiltPages.CodePath}", "*/*");
        using var folder = await SendAsync(server, HttpMethod.Get, urlBase + "/content", Html);

        Assert.Contains(expected, await page.Content.ReadAsStringAsync(Token), StringComparison.Ordinal);
        Assert.Equal(BuiltPages.Code, await asset.Content.ReadAsStringAsync(Token));
        Assert.Equal($"{urlBase}/files", Header(folder, "Location"));
    }

    [Fact]
    public async Task Unchanged_page_returns_304_per_encoding()
    {
        await using var server = await BuiltPages.StartAsync(_temporary);
        using var first = await SendAsync(server, HttpMethod.Get, "", Html);
        using var packed = await SendAsync(server, HttpMethod.Get, "", Html, ("Accept-Encoding", "gzip, br"));

        using var same = await SendAsync(server, HttpMethod.Get, "login", Html, ("If-None-Match", Header(first, "ETag")));
        using var other = await SendAsync(server, HttpMethod.Get, "login", Html, ("If-None-Match", Header(packed, "ETag")));

        Assert.Equal((HttpStatusCode.NotModified, Header(first, "ETag")), (same.StatusCode, Header(same, "ETag")));
        Assert.Equal(HttpStatusCode.OK, other.StatusCode);
        Assert.Equal("Accept, Accept-Encoding", Header(packed, "Vary"));
        await using var plain = new GZipStream(await packed.Content.ReadAsStreamAsync(Token), CompressionMode.Decompress);
        using var reader = new StreamReader(plain);
        Assert.Equal(await first.Content.ReadAsStringAsync(Token), await reader.ReadToEndAsync(Token));
    }

    [Theory]
    [InlineData("gzip, deflate, br, zstd", "br")]
    [InlineData("gzip;q=1.0, br;q=0", "gzip")]
    [InlineData("identity", null)]
    [InlineData(null, null)]
    public async Task Asset_is_sent_in_the_best_encoding_and_cached_forever(string? accepted, string? encoding)
    {
        await using var server = await BuiltPages.StartAsync(_temporary);
        (string, string?)[] headers = [("Accept-Encoding", accepted)];

        using var answer = await SendAsync(server, HttpMethod.Get, BuiltPages.CodePath, "*/*", headers);
        using var head = await SendAsync(server, HttpMethod.Head, BuiltPages.CodePath, "*/*", headers);
        using var again = await SendAsync(server, HttpMethod.Get, BuiltPages.CodePath, "*/*", [.. headers, ("If-None-Match", Header(answer, "ETag"))]);

        Assert.Equal((HttpStatusCode.OK, "text/javascript; charset=utf-8"), (answer.StatusCode, answer.Content.Headers.ContentType!.ToString()));
        Assert.Equal(encoding ?? "", string.Join(',', answer.Content.Headers.ContentEncoding));
        Assert.Equal(("public, max-age=31536000, immutable", "Accept-Encoding"), (Header(answer, "Cache-Control"), Header(answer, "Vary")));
        var body = await answer.Content.ReadAsByteArrayAsync(Token);
        Assert.Equal(BuiltPages.Code, Unpack(body, encoding));
        Assert.Equal((HttpStatusCode.OK, body.Length, 0), (head.StatusCode, (int)head.Content.Headers.ContentLength!, (await head.Content.ReadAsByteArrayAsync(Token)).Length));
        Assert.Equal(HttpStatusCode.NotModified, again.StatusCode);
    }

    [Theory]
    [InlineData("robots.txt", "text/plain; charset=utf-8")]
    [InlineData("assets/icon-Bq2aX9_-.svg", "image/svg+xml")]
    public async Task File_is_sent_with_its_content_type(string path, string type)
    {
        await using var server = await BuiltPages.StartAsync(_temporary);

        using var answer = await SendAsync(server, HttpMethod.Get, path, Html);

        Assert.Equal((HttpStatusCode.OK, type, "nosniff"), (answer.StatusCode, answer.Content.Headers.ContentType!.ToString(), Header(answer, "X-Content-Type-Options")));
    }

    [Theory]
    [InlineData("assets/index-00000000.js")]
    [InlineData("assets/index-DiwrgTda.js.gz")]
    [InlineData("assets/../index.html")]
    [InlineData("assets/%2e%2e/index.html")]
    [InlineData("assets/..%2findex.html")]
    [InlineData("assets/")]
    [InlineData("favicon.ico")]
    public async Task Unknown_asset_never_returns_the_page(string path)
    {
        await using var server = await BuiltPages.StartAsync(_temporary);

        using var answer = await SendAsync(server, HttpMethod.Get, path, "*/*");

        Assert.True(answer.StatusCode is HttpStatusCode.NotFound or HttpStatusCode.Unauthorized, $"{answer.StatusCode}");
        Assert.Empty(await answer.Content.ReadAsByteArrayAsync(Token));
    }

    [Theory]
    [InlineData("content/", "/files")]
    [InlineData("content", "/files")]
    [InlineData("content/uncategorized/", "/files/uncategorized")]
    [InlineData(".ids", "/files")]
    [InlineData("nzbs/tv/", "/queue")]
    [InlineData("completed-symlinks/movies/A%20film%C3%BC/", "/files/movies/A%20film%C3%BC")]
    public async Task Browser_on_a_folder_is_redirected_to_the_files_page(string path, string page)
    {
        await using var server = await BuiltPages.StartAsync(_temporary);

        using var sent = await SendAsync(server, HttpMethod.Get, path, Html);
        using var player = await SendAsync(server, HttpMethod.Get, path, "*/*");
        using var head = await SendAsync(server, HttpMethod.Head, path, Html);

        Assert.Equal((HttpStatusCode.Found, page), (sent.StatusCode, Header(sent, "Location")));
        Assert.Equal((HttpStatusCode.Unauthorized, HttpStatusCode.Unauthorized), (player.StatusCode, head.StatusCode));
    }

    [Theory]
    [InlineData("nowhere")]
    [InlineData("no-such-folder/")]
    public async Task Browser_on_an_unknown_path_gets_the_page(string path)
    {
        await using var server = await BuiltPages.StartAsync(_temporary);

        using var sent = await SendAsync(server, HttpMethod.Get, path, Html);
        using var player = await SendAsync(server, HttpMethod.Get, path, "*/*");

        Assert.Equal((HttpStatusCode.OK, "text/html"), (sent.StatusCode, sent.Content.Headers.ContentType?.MediaType));
        Assert.Equal(HttpStatusCode.Unauthorized, player.StatusCode);
    }

    [Theory]
    [InlineData("config/categories/")]
    [InlineData("config/")]
    [InlineData("sabnzbd/")]
    [InlineData("sabnzbd/config/categories/")]
    public async Task Browser_on_a_SABnzbd_page_is_redirected_to_the_settings(string path)
    {
        await using var server = await BuiltPages.StartAsync(_temporary, new() { ["URL_BASE"] = "/x" });

        using var sent = await SendAsync(server, HttpMethod.Get, "x/" + path, Html);
        using var other = await SendAsync(server, HttpMethod.Get, "x/" + path, "*/*");
        using var api = await SendAsync(server, HttpMethod.Get, "x/sabnzbd/api?mode=version", Html);

        Assert.Equal((HttpStatusCode.Found, "/x/settings/download-client"), (sent.StatusCode, Header(sent, "Location")));
        Assert.Equal(HttpStatusCode.Unauthorized, other.StatusCode);
        Assert.Equal("""{"version":"5.0.4"}""", await api.Content.ReadAsStringAsync(Token));
    }

    [Theory]
    [InlineData("GET", "README", 200)]
    [InlineData("GET", "content/demo", 405)]
    [InlineData("GET", "metrics/x", 404)]
    [InlineData("PROPFIND", "", 207)]
    [InlineData("PROPFIND", "content/", 207)]
    [InlineData("OPTIONS", "", 200)]
    [InlineData("PROPFIND", "queue", 404)]
    [InlineData("PUT", "files/a", 404)]
    public async Task Paths_outside_the_UI_ignore_Accept_and_reach_the_tree(string method, string path, int status)
    {
        await using var server = await BuiltPages.StartAsync(_temporary);
        (string, string?)[] headers = [("Authorization", RunningServer.Basic("admin", RunningServer.Password).ToString()), ("Depth", "0")];

        foreach (var accept in (string[])[Html, "*/*"])
        {
            using var anonymous = await SendAsync(server, new HttpMethod(method), path, accept);
            using var known = await SendAsync(server, new HttpMethod(method), path, accept, headers);
            Assert.Equal((401, status), ((int)anonymous.StatusCode, (int)known.StatusCode));
        }
    }

    [Theory]
    [InlineData("*/*")]
    [InlineData(null)]
    public async Task Non_browsers_still_get_README_and_health(string? accept)
    {
        await using var server = await BuiltPages.StartAsync(_temporary);
        (string, string?)[] headers = [("Authorization", RunningServer.Basic("admin", RunningServer.Password).ToString())];

        using var root = await SendAsync(server, HttpMethod.Get, "", accept, headers);
        using var head = await SendAsync(server, HttpMethod.Head, "", accept, headers);
        using var anonymous = await SendAsync(server, HttpMethod.Get, "", accept);
        using var health = await SendAsync(server, HttpMethod.Get, "health", accept);
        using var queue = await SendAsync(server, HttpMethod.Get, "queue", accept, headers);

        Assert.StartsWith("This is Sluice.", await root.Content.ReadAsStringAsync(Token), StringComparison.Ordinal);
        Assert.Equal((HttpStatusCode.OK, HttpStatusCode.Unauthorized), (head.StatusCode, anonymous.StatusCode));
        Assert.Equal("application/json", health.Content.Headers.ContentType!.MediaType);
        Assert.Equal(HttpStatusCode.NotFound, queue.StatusCode);
    }

    [Fact]
    public async Task Safe_mode_serves_the_page_and_503_with_a_reason()
    {
        await File.WriteAllTextAsync(_temporary.Folder.Database, new string('x', 8192), Token);
        await using var server = await BuiltPages.StartAsync(_temporary);

        using var page = await SendAsync(server, HttpMethod.Get, "", Html);
        using var asset = await SendAsync(server, HttpMethod.Get, BuiltPages.CodePath, "*/*");
        using var folder = await SendAsync(server, HttpMethod.Get, "content/", Html);
        using var root = await SendAsync(server, HttpMethod.Get, "", "*/*");
        using var call = await SendAsync(server, HttpMethod.Get, "api/setup", "application/json");

        Assert.Equal((HttpStatusCode.OK, HttpStatusCode.OK, HttpStatusCode.Found), (page.StatusCode, asset.StatusCode, folder.StatusCode));
        Assert.Equal(HttpStatusCode.ServiceUnavailable, root.StatusCode);
        var sentence = (await root.Content.ReadAsStringAsync(Token)).Trim();
        var problem = System.Text.Json.Nodes.JsonNode.Parse(await call.Content.ReadAsStringAsync(Token))!;
        Assert.Equal((HttpStatusCode.ServiceUnavailable, "safe-mode", sentence), (call.StatusCode, problem["type"]!.GetValue<string>(), problem["title"]!.GetValue<string>()));
    }

    [Fact]
    public async Task Server_without_a_built_page_explains_how_to_build_it()
    {
        await using var server = await BuiltPages.StartWithoutAsync(_temporary);

        using var page = await SendAsync(server, HttpMethod.Get, "", Html);
        using var icon = await SendAsync(server, HttpMethod.Get, "favicon.ico", "*/*");
        using var asset = await SendAsync(server, HttpMethod.Get, BuiltPages.CodePath, "*/*");

        Assert.Equal((HttpStatusCode.OK, "text/plain; charset=utf-8"), (page.StatusCode, page.Content.Headers.ContentType!.ToString()));
        Assert.Contains("npm run build", await page.Content.ReadAsStringAsync(Token), StringComparison.Ordinal);
        Assert.Equal((HttpStatusCode.NotFound, HttpStatusCode.NotFound), (icon.StatusCode, asset.StatusCode));
    }

    private static string Unpack(byte[] body, string? encoding)
    {
        using var packed = new MemoryStream(body);
        using Stream plain = encoding switch
        {
            "br" => new BrotliStream(packed, CompressionMode.Decompress),
            "gzip" => new GZipStream(packed, CompressionMode.Decompress),
            _ => packed,
        };
        using var reader = new StreamReader(plain);
        return reader.ReadToEnd();
    }

    private static string Header(HttpResponseMessage answer, string name) => string.Join(", ", answer.Headers.GetValues(name));

    private static async Task<HttpResponseMessage> SendAsync(
        RunningServer server, HttpMethod method, string path, string? accept, params (string Name, string? Value)[] headers)
    {
        using var handler = new SocketsHttpHandler { AllowAutoRedirect = false };
        using var client = new HttpClient(handler);
        using var request = new HttpRequestMessage(method, new Uri(server.Address, path));
        foreach (var (name, value) in headers.Prepend(("Accept", accept)))
        {
            if (value is not null)
                request.Headers.TryAddWithoutValidation(name, value);
        }

        return await client.SendAsync(request, Token);
    }
}
