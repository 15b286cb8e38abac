using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Library;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>Signed links over the wire: DAV-80 to DAV-84.</summary>
public sealed class ViewTests(ViewFixture fixture) : IClassFixture<ViewFixture>
{
    private const string Film = "content/tv/R\u00e9l 1/a b.mkv";
    private const string FilmHref = "/view/content/tv/R%C3%A9l%201/a%20b.mkv";

    private readonly TreeServer _server = fixture.Server;

    [Fact]
    public async Task View_link_serves_the_same_bytes_and_headers_as_the_tree()
    {
        var clip = _server.Services.GetRequiredService<BuiltInClip>();
        var path = IdPath.Of(clip.File.Id);
        var link = $"/view/{path}?downloadKey={ViewKey.Sign(ViewFixture.StrmKey, path, null)}&extension=mp4";

        foreach (var range in new[] { "bytes=0-9", "bytes=500000-", "bytes=0-9,100-199" })
        {
            var tree = await _server.SendAsync($"GET /{path}", $"Range: {range}");
            var view = await _server.SendAnonymouslyAsync("GET " + link, $"Range: {range}");

            Assert.Equal(206, view.Status);
            Assert.Equal(tree["Content-Range"], view["Content-Range"]);
            Assert.Equal(tree["ETag"], view["ETag"]);
            Assert.Equal(tree.Length, view.Length);
            if (view["Content-Range"] is not null)
                Assert.Equal(tree.Body, view.Body);
        }

        Assert.Equal(304, (await _server.SendAnonymouslyAsync("GET " + link, "If-None-Match: *")).Status);
        Assert.Equal(416, (await _server.SendAnonymouslyAsync("GET " + link, "Range: bytes=999999999-")).Status);
    }

    [Theory]
    [InlineData("", "video/x-matroska", "inline; filename=\"a b.mkv\"; filename*=UTF-8''a%20b.mkv")]
    [InlineData("&extension=mkv", "video/x-matroska", "inline; filename=\"a b.mkv\"; filename*=UTF-8''a%20b.mkv")]
    [InlineData("&extension=mp4", "video/mp4", "inline; filename=\"a b.mp4\"; filename*=UTF-8''a%20b.mp4")]
    [InlineData("&extension=../x", "video/x-matroska", "inline; filename=\"a b.mkv\"; filename*=UTF-8''a%20b.mkv")]
    [InlineData("&extension=html", "text/html", "attachment; filename=\"a b.html\"; filename*=UTF-8''a%20b.html")]
    [InlineData("&download=true", "video/x-matroska", "attachment; filename=\"a b.mkv\"; filename*=UTF-8''a%20b.mkv")]
    public async Task Link_parameters_set_the_type_and_file_name(string parameters, string type, string disposition)
    {
        var answer = await _server.SendAnonymouslyAsync(
            $"HEAD {FilmHref}?downloadKey={ViewKey.Sign(ViewFixture.ApiKey, Film, null)}{parameters}");

        Assert.Equal(200, answer.Status);
        Assert.Equal("1000", answer["Content-Length"]);
        Assert.Equal(type, answer["Content-Type"]);
        Assert.Equal(disposition, answer["Content-Disposition"]);
        Assert.Equal(type == "text/html" ? "sandbox" : null, answer["Content-Security-Policy"]);
    }

    [Fact]
    public async Task Key_opens_its_path_in_any_URL_encoding()
    {
        var key = ViewKey.Sign(ViewFixture.ApiKey, Film, null);

        Assert.Equal(200, await StatusAsync($"{FilmHref}?downloadKey={key}"));
        Assert.Equal(200, await StatusAsync($"/view//content/tv/R%C3%A9l%201/%61%20b.mkv?downloadKey={key}"));
        Assert.Equal(200, await StatusAsync($"/view/content/tv/Re%CC%81l%201/a%20b.mkv?downloadKey={key}"));
        Assert.Equal(401, await StatusAsync($"/view/content/tv/R%C3%A9l%201/other.mkv?downloadKey={key}"));
        Assert.Equal(401, await StatusAsync($"{FilmHref}?downloadKey={key}&downloadKey={key}"));
        Assert.Equal(401, await StatusAsync($"{FilmHref}?downloadKey={key}&expires=4102444800"));
        Assert.Equal(401, await StatusAsync("/view/content/%2e%2e/secret?downloadKey=" + key));
    }

    [Fact]
    public async Task Link_without_a_key_needs_the_password()
    {
        var refused = await _server.SendAnonymouslyAsync("GET " + FilmHref);

        Assert.Equal(401, refused.Status);
        Assert.Equal("Basic realm=\"Sluice\", charset=\"UTF-8\"", refused["WWW-Authenticate"]);
        Assert.Equal(200, (await _server.SendAsync("HEAD " + FilmHref)).Status);
        Assert.Equal(200, (await _server.SendAsync($"HEAD {FilmHref}?downloadKey=wrong")).Status);
        Assert.Equal(400, (await _server.SendAsync("HEAD /view/content/%2e%2e/secret")).Status);
    }

    [Fact]
    public async Task Expired_link_returns_403()
    {
        var past = DateTimeOffset.UnixEpoch.AddDays(1).ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture);

        Assert.Equal(200, await StatusAsync($"{FilmHref}?downloadKey={ViewKey.Sign(ViewFixture.ApiKey, Film, "4102444800")}&expires=4102444800"));
        Assert.Equal(403, await StatusAsync($"{FilmHref}?downloadKey={ViewKey.Sign(ViewFixture.ApiKey, Film, past)}&expires={past}"));
    }

    [Theory]
    [InlineData("content/tv/none.mkv")]
    [InlineData("content/tv")]
    [InlineData("content/")]
    [InlineData("nzbs/tv/a.nzb")]
    [InlineData("README")]
    [InlineData("completed-symlinks/tv")]
    [InlineData(".ids/0/0/0/0/0/00000000-0000-0000-0000-000000000000")]
    [InlineData("")]
    public async Task View_links_open_library_files_only(string path) =>
        Assert.Equal(404, await StatusAsync($"/view/{path}?downloadKey={ViewKey.Sign(ViewFixture.ApiKey, path.TrimEnd('/'), null)}"));

    [Fact]
    public async Task View_links_are_not_part_of_the_tree()
    {
        foreach (var verb in new[] { "PROPFIND", "OPTIONS", "PUT", "DELETE", "POST" })
            Assert.Equal($"{verb} 404", $"{verb} {(await _server.SendAsync($"{verb} {FilmHref}", "Content-Length: 0")).Status}");
        Assert.Equal(404, (await _server.SendAsync("PROPFIND /view")).Status);
    }

    [Fact]
    public async Task Wrong_keys_are_throttled_with_429()
    {
        await using var server = await TreeServer.StartAsync();
        for (var i = 0; i < 10; i++)
            Assert.Equal(401, (await server.SendAnonymouslyAsync($"GET /view/content/x?downloadKey=wrong{i}")).Status);

        var answer = await server.SendAnonymouslyAsync("GET /view/content/x?downloadKey=wrong");

        Assert.Equal(429, answer.Status);
        Assert.Equal("60", answer["Retry-After"]);
    }

    private async Task<int> StatusAsync(string target) => (await _server.SendAnonymouslyAsync("HEAD " + target)).Status;
}
