using System.Globalization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http.Timeouts;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>GET and HEAD over the wire: section 7 of the WebDAV contract.</summary>
public sealed class GetTests : IAsyncLifetime
{
    private const string Date = "Sat, 03 Jan 2026 10:00:00 GMT";

    private static readonly byte[] Bytes = [.. Enumerable.Range(0, 1_000_000).Select(i => (byte)(i * 31 >> 3))];

    private DavTestServer _server = null!;
    private MemoryFile _film = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartAsync();
        _film = _server.Store.Root.Add(new MemoryFile("film.mkv", Bytes));
        _server.Store.Root.Add(new MemoryFile("empty.mkv", []));
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Fact]
    public async Task Whole_file_is_sent_with_its_exact_headers()
    {
        var answer = await _server.SendAsync("GET /film.mkv");

        Assert.Equal(200, answer.Status);
        Assert.Equal(Bytes, answer.Body);
        AssertContentHeaders(answer, Bytes.Length);
        Assert.Null(answer["Content-Range"]);
        Assert.Null(answer["Content-Disposition"]);
    }

    [Theory]
    [InlineData("bytes=0-0", 0, 1)]
    [InlineData("bytes=1000-", 1000, 999_000)]
    [InlineData("bytes=0-", 0, 1_000_000)]
    [InlineData("bytes=0-999999", 0, 1_000_000)]
    [InlineData("bytes=999999-2000000", 999_999, 1)]
    [InlineData("bytes=-70000", 930_000, 70_000)]
    [InlineData("bytes=-9999999", 0, 1_000_000)]
    [InlineData("bytes=65535-131072", 65_535, 65_538)]
    public async Task Range_returns_the_requested_bytes(string range, int offset, int length)
    {
        var answer = await _server.SendAsync("GET /film.mkv", $"Range: {range}");

        Assert.Equal(206, answer.Status);
        Assert.Equal(Bytes[offset..(offset + length)], answer.Body);
        Assert.Equal($"bytes {offset}-{offset + length - 1}/{Bytes.Length}", answer["Content-Range"]);
        AssertContentHeaders(answer, length);
    }

    [Theory]
    [InlineData("bytes=1000000-")]
    [InlineData("bytes=-0")]
    public async Task Range_past_the_end_returns_416(string range)
    {
        var answer = await _server.SendAsync("GET /film.mkv", $"Range: {range}");

        Assert.Equal(416, answer.Status);
        Assert.Equal("bytes */1000000", answer["Content-Range"]);
        Assert.Empty(answer.Body);
        Assert.Equal(0, _film.Opened);
    }

    [Theory]
    [InlineData("/film.mkv", "Range: bytes=5-4")]
    [InlineData("/film.mkv", "Range: seconds=1-2")]
    [InlineData("/film.mkv", "Range: bytes=0-1,4-5,8-9,12-13,16-17,20-21")]
    [InlineData("/film.mkv", "Range: bytes=0-1", "Range: bytes=4-5")]
    [InlineData("/film.mkv", "Range: bytes=0-1", "If-Range: \"other\"")]
    [InlineData("/film.mkv", "Range: bytes=0-1", "If-Range: Sat, 03 Jan 2026 09:59:59 GMT")]
    [InlineData("/empty.mkv", "Range: bytes=0-1")]
    [InlineData("/empty.mkv", "Range: bytes=-1")]
    public async Task Ignored_range_returns_the_whole_file(string path, params string[] headers)
    {
        var answer = await _server.SendAsync("GET " + path, headers);

        Assert.Equal(200, answer.Status);
        Assert.Equal(path == "/film.mkv" ? Bytes : [], answer.Body);
        Assert.Null(answer["Content-Range"]);
    }

    [Fact]
    public async Task Matching_If_Range_honors_the_range()
    {
        foreach (var validator in new[] { _film.ETag.ToString(), Date })
        {
            var answer = await _server.SendAsync("GET /film.mkv", "Range: bytes=0-9", $"If-Range: {validator}");
            Assert.Equal(206, answer.Status);
        }
    }

    [Fact]
    public async Task HEAD_returns_the_GET_headers_without_opening_the_file()
    {
        var head = await _server.SendAsync("HEAD /film.mkv", "Range: bytes=0-9");
        Assert.Equal(0, _film.Opened);
        var get = await _server.SendAsync("GET /film.mkv");

        Assert.Equal(200, head.Status);
        Assert.Equal(
            get.Headers.Where(header => header.Name != "Date").Order(),
            head.Headers.Where(header => header.Name != "Date").Order());
    }

    [Theory]
    [InlineData("If-None-Match: *", 304)]
    [InlineData("If-Modified-Since: " + Date, 304)]
    [InlineData("If-Match: \"other\"", 412)]
    [InlineData("If-Unmodified-Since: Sat, 03 Jan 2026 09:59:59 GMT", 412)]
    public async Task Condition_is_decided_before_anything_is_opened(string condition, int status)
    {
        foreach (var verb in new[] { "GET", "HEAD" })
        {
            var answer = await _server.SendAsync($"{verb} /film.mkv", condition, "Range: bytes=0-9");

            Assert.Equal(status, answer.Status);
            Assert.Empty(answer.Body);
            if (status == 304)
            {
                Assert.Equal(_film.ETag.ToString(), answer["ETag"]);
                Assert.Equal(Date, answer["Last-Modified"]);
            }
        }

        Assert.Equal(0, _film.Opened);
    }

    [Theory]
    [InlineData("page.html", "text/html")]
    [InlineData("PAGE.HTM", "text/html")]
    [InlineData("image.svg", "image/svg+xml")]
    [InlineData("page.xhtml", "application/xhtml+xml")]
    public async Task Active_content_is_sent_as_a_sandboxed_attachment(string name, string type)
    {
        _server.Store.Root.Add(new MemoryFile(name, [1]));

        var answer = await _server.SendAsync("GET /" + name);

        Assert.Equal(type, answer["Content-Type"]);
        Assert.StartsWith("attachment;", answer["Content-Disposition"], StringComparison.Ordinal);
        Assert.Equal("sandbox", answer["Content-Security-Policy"]);
        Assert.Equal("nosniff", answer["X-Content-Type-Options"]);
    }

    [Fact]
    public async Task Attachment_name_cannot_inject_a_header()
    {
        _server.Store.Root.Add(new MemoryFile("a\"\r\nX-Evil: 1\u00e9.html", [1]));

        var answer = await _server.SendAsync("GET /a%22%0D%0AX-Evil:%201%C3%A9.html");

        Assert.Equal(200, answer.Status);
        Assert.Null(answer["X-Evil"]);
        Assert.Contains("filename*=UTF-8''a%22%0D%0AX-Evil%3A%201%C3%A9.html", answer["Content-Disposition"], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Root_serves_its_index()
    {
        _server.Store.Root.Index = new MemoryFile("README", "hello"u8.ToArray()) { CacheControl = "no-store" };

        var answer = await _server.SendAsync("GET /", "Accept: text/html");

        Assert.Equal("hello", answer.Text);
        Assert.Equal("no-store", answer["Cache-Control"]);
    }

    [Fact]
    public async Task Unknown_type_is_octet_stream_and_trailing_slash_returns_404()
    {
        _server.Store.Root.Add(new MemoryFile("plain", [7]));

        Assert.Equal("application/octet-stream", (await _server.SendAsync("GET /plain"))["Content-Type"]);
        Assert.Equal(404, (await _server.SendAsync("GET /plain/")).Status);
    }

    [Theory]
    [InlineData("GET /film.mkv", false)]
    [InlineData("GET /film.mkv", false, "Range: bytes=0-1,5-6")]
    [InlineData("PROPFIND /", true)]
    public async Task Request_deadline_is_off_for_file_bodies_only(string request, bool hasDeadline, params string[] headers)
    {
        var deadline = new Deadline();
        await using var server = await DavTestServer.StartAsync(before: app => app.Use((context, next) =>
        {
            context.Features.Set<IHttpRequestTimeoutFeature>(deadline);
            return next(context);
        }));
        server.Store.Root.Add(new MemoryFile("film.mkv", new byte[100]));

        await server.SendAsync(request, headers);

        Assert.Equal(hasDeadline, deadline.IsOn);
    }

    [Fact]
    public async Task Many_requests_share_a_connection()
    {
        await using var connection = await _server.ConnectAsync();
        for (var i = 0; i < 50; i++)
        {
            await connection.SendAsync("GET /film.mkv", $"Range: bytes={i * 1000}-{(i * 1000) + 99}");
            var answer = await connection.ReadAnswerAsync(isHead: false);
            Assert.Equal(Bytes[(i * 1000)..((i * 1000) + 100)], answer.Body);
        }
    }

    private void AssertContentHeaders(RawAnswer answer, long length)
    {
        Assert.Equal(length.ToString(CultureInfo.InvariantCulture), answer["Content-Length"]);
        Assert.Equal("bytes", answer["Accept-Ranges"]);
        Assert.Equal("video/x-matroska", answer["Content-Type"]);
        Assert.Equal("private, no-transform", answer["Cache-Control"]);
        Assert.Equal("nosniff", answer["X-Content-Type-Options"]);
        Assert.Equal(_film.ETag.ToString(), answer["ETag"]);
        Assert.Equal(Date, answer["Last-Modified"]);
        Assert.Null(answer["Transfer-Encoding"]);
        Assert.Null(answer["Content-Encoding"]);
        Assert.Null(answer["Set-Cookie"]);
    }

    private sealed class Deadline : IHttpRequestTimeoutFeature
    {
        public bool IsOn { get; private set; } = true;

        public CancellationToken RequestTimeoutToken => default;

        public void DisableTimeout() => IsOn = false;
    }
}
