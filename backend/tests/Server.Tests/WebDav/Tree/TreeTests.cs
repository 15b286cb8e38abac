using System.Xml.Linq;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>The tree of the product over the wire, with its own database, library and queue.</summary>
public sealed class TreeTests(TreeFixture fixture) : IClassFixture<TreeFixture>
{
    private static readonly XNamespace Dav = "DAV:";

    private readonly TreeServer _server = fixture.Server;

    [Fact]
    public async Task Root_lists_its_files_and_branches()
    {
        var answer = await _server.SendAsync("PROPFIND /", "Depth: 1");

        Assert.Equal(["/", "/.health", "/.ids/", "/README", "/completed-symlinks/", "/content/", "/nzbs/"], Hrefs(answer));
        Assert.Equal("Sluice", XDocument.Parse(answer.Text).Descendants(Dav + "displayname").First().Value);
    }

    [Fact]
    public async Task Root_serves_the_README_to_every_client()
    {
        var readme = await _server.SendAsync("GET /README");
        Assert.Contains("/content/<category>/<release>/", readme.Text, StringComparison.Ordinal);
        Assert.Equal("text/plain; charset=utf-8", readme["Content-Type"]);

        foreach (var accept in new[] { "*/*", "application/xhtml+xml" })
        {
            var root = await _server.SendAsync("GET /", $"Accept: {accept}");
            Assert.Equal(readme.Text, root.Text);
            Assert.Equal("text/plain; charset=utf-8", root["Content-Type"]);
        }
    }

    [Fact]
    public async Task Canary_is_three_bytes_and_not_cached()
    {
        var answer = await _server.SendAsync("GET /.health");

        Assert.Equal("ok\n", answer.Text);
        Assert.Equal("no-store", answer["Cache-Control"]);
    }

    [Fact]
    public async Task Every_request_without_credentials_returns_401()
    {
        foreach (var verb in new[] { "GET", "HEAD", "PROPFIND", "OPTIONS", "PUT", "DELETE", "MOVE", "LOCK", "BREW" })
        {
            foreach (var path in new[] { "/", "/README", "/content/demo", "/nzbs/tv/a.nzb", "/none", "/settings", "/%2e%2e/content" })
            {
                var answer = await _server.SendAnonymouslyAsync($"{verb} {path}");
                Assert.Equal(401, answer.Status);
                Assert.Equal("Basic realm=\"Sluice\", charset=\"UTF-8\"", answer["WWW-Authenticate"]);
            }
        }
    }

    [Fact]
    public async Task Library_paths_match_in_either_Unicode_form()
    {
        Assert.Equal(
            ["/content/", "/content/audio/", "/content/demo/", "/content/movies/", "/content/music/", "/content/prowlarr/", "/content/readarr/", "/content/software/", "/content/tv/"],
            Hrefs(await _server.SendAsync("PROPFIND /content/", "Depth: 1")));
        Assert.Equal(["/content/tv/", "/content/tv/Rel/", "/content/tv/R%C3%A9l/"], Hrefs(await _server.SendAsync("PROPFIND /content/tv/", "Depth: 1")));
        Assert.Equal(
            ["/content/tv/R%C3%A9l/", "/content/tv/R%C3%A9l/c.mkv", "/content/tv/R%C3%A9l/season%201/"],
            Hrefs(await _server.SendAsync("PROPFIND /content/tv/R%C3%A9l/", "Depth: 1")));
        var head = await _server.SendAsync("HEAD /content/tv/Re%CC%81l/season%201/b.mkv");
        Assert.Equal("1000", head["Content-Length"]);
        Assert.Equal("\"tag-14\"", head["ETag"]);
        Assert.Equal("Sat, 03 Jan 2026 10:00:00 GMT", head["Last-Modified"]);
        Assert.Equal(404, (await _server.SendAsync("HEAD /content/tv/r%C3%A9l/season%201/b.mkv")).Status);
        Assert.Equal(404, (await _server.SendAsync("HEAD /content/TV/R%C3%A9l/season%201/b.mkv")).Status);
    }

    [Fact]
    public async Task Quota_reports_the_library_size()
    {
        var body = "<propfind xmlns='DAV:'><prop><quota-used-bytes/><quota-available-bytes/></prop></propfind>";
        var quota = await _server.SendBodyAsync("PROPFIND /", body, "Depth: 0");
        var prop = XDocument.Parse(quota.Text).Descendants(Dav + "prop").Single();
        Assert.Equal("7000", prop.Element(Dav + "quota-used-bytes")!.Value);
        Assert.Equal("1125899906842624", prop.Element(Dav + "quota-available-bytes")!.Value);
    }

    [Fact]
    public async Task File_without_message_ids_returns_410_without_its_name()
    {
        var answer = await _server.SendAsync("GET /content/movies/Lost/secret-name.mkv");

        Assert.Equal(410, answer.Status);
        Assert.Equal("no-store", answer["Cache-Control"]);
        Assert.DoesNotContain("secret", answer.Text, StringComparison.Ordinal);
        Assert.Equal(200, (await _server.SendAsync("HEAD /content/movies/Lost/secret-name.mkv")).Status);
    }

    [Fact]
    public async Task Clip_is_read_whole_and_in_parts()
    {
        var href = Hrefs(await _server.SendAsync("PROPFIND /content/demo/", "Depth: 1"))[1];
        var whole = await _server.SendAsync("GET " + href);
        Assert.Equal(200, whole.Status);
        Assert.Equal("video/mp4", whole["Content-Type"]);
        Assert.True(whole.IsComplete);

        foreach ((var offset, var length) in new[] { (0, 1), (1, 65_536), (whole.Length / 2, 100_000), (whole.Length - 10, 10) })
        {
            var part = await _server.SendAsync("GET " + href, $"Range: bytes={offset}-{offset + length - 1}");
            Assert.Equal(206, part.Status);
            Assert.Equal(whole.Body[offset..(offset + length)], part.Body);
        }
    }

    private static List<string> Hrefs(RawAnswer answer) =>
        [.. XDocument.Parse(answer.Text).Root!.Elements(Dav + "response").Select(response => response.Element(Dav + "href")!.Value)];
}
