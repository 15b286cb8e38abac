using System.Xml.Linq;
using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>One test for each defect of NWebDav.Server in section 10 of the WebDAV contract: verbs that write.</summary>
public sealed class KnownWriteDefectTests : IAsyncLifetime
{
    private const string Wish =
        "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";

    private static readonly XNamespace Dav = "DAV:";

    private DavTestServer _server = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartWritableAsync();
        await _server.SendAsync("MKCOL /d");
        await _server.SendBodyAsync("PUT /d/f", "deep");
        await _server.SendBodyAsync("PUT /a", "text");
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Fact]
    public async Task Proppatch_stores_the_property()
    {
        await PatchAsync("/a", "<p xmlns='urn:x'>1</p>");

        var answer = await _server.SendBodyAsync(
            "PROPFIND /a", "<propfind xmlns='DAV:'><prop><p xmlns='urn:x'/></prop></propfind>", "Depth: 0");
        Assert.Equal("1", XDocument.Parse(answer.Text).Descendants(XName.Get("p", "urn:x")).Single().Value);
    }

    [Fact]
    public async Task Proppatch_returns_full_status_lines() => Assert.Equal(
        "HTTP/1.1 200 OK",
        XDocument.Parse((await PatchAsync("/a", "<p xmlns='urn:x'>1</p>")).Text).Descendants(Dav + "status").Single().Value);

    [Fact]
    public async Task Lock_without_a_timeout_header_is_granted() => Assert.Equal(200, (await LockAsync("/a")).Status);

    [Fact]
    public async Task Infinite_lock_is_still_active_after_59_minutes()
    {
        await LockAsync("/a", "Timeout: Infinite");
        _server.Time.Advance(TimeSpan.FromMinutes(59));

        Assert.Equal(423, (await _server.SendBodyAsync("PUT /a", "x")).Status);
    }

    [Fact]
    public async Task Expired_lock_blocks_no_request()
    {
        await LockAsync("/a", "Timeout: Second-10");
        _server.Time.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal(204, (await _server.SendBodyAsync("PUT /a", "x")).Status);
        Assert.Equal(200, (await LockAsync("/a")).Status);
    }

    [Theory]
    [InlineData("infinity", 423)]
    [InlineData("0", 204)]
    public async Task Lock_depth_decides_whether_children_are_locked(string depth, int status)
    {
        await LockAsync("/d", $"Depth: {depth}");

        Assert.Equal(status, (await _server.SendBodyAsync("PUT /d/f", "x")).Status);
    }

    [Fact]
    public async Task Lock_of_an_unmapped_name_creates_a_file()
    {
        Assert.Equal(201, (await LockAsync("/new")).Status);
        Assert.Equal("0", (await _server.SendAsync("HEAD /new"))["Content-Length"]);
    }

    [Theory]
    [InlineData("PUT /a", "x")]
    [InlineData("DELETE /a", "")]
    [InlineData("MOVE /a", "")]
    [InlineData("PROPPATCH /a", "<propertyupdate xmlns='DAV:'><set><prop><p xmlns='urn:x'/></prop></set></propertyupdate>")]
    [InlineData("LOCK /a", Wish)]
    [InlineData("COPY /d/f", "")]
    public async Task Every_write_verb_honors_locks(string request, string body)
    {
        await LockAsync("/a");

        var destination = request.StartsWith("COPY", StringComparison.Ordinal) ? "/a" : "/b";
        Assert.Equal(423, (await _server.SendBodyAsync(request, body, $"Destination: {destination}")).Status);
    }

    [Theory]
    [InlineData("({token})", 204)]
    [InlineData("</a> ({token})", 204)]
    [InlineData("({token} [{etag}])", 204)]
    [InlineData("(Not <DAV:no-lock> {token})", 204)]
    [InlineData("(<urn:uuid:none>) ({token})", 204)]
    [InlineData("({token} [\"other\"])", 412)]
    [InlineData("(Not {token})", 412)]
    [InlineData("</d/f> ({token})", 412)]
    public async Task If_header_is_honored_in_every_form(string header, int status)
    {
        var token = (await LockAsync("/a"))["Lock-Token"]!;
        var tag = (await _server.SendAsync("HEAD /a"))["ETag"]!;
        var value = header.Replace("{token}", token, StringComparison.Ordinal).Replace("{etag}", tag, StringComparison.Ordinal);

        Assert.Equal(status, (await _server.SendBodyAsync("PUT /a", "x", $"If: {value}")).Status);
    }

    [Fact]
    public async Task Mkcol_with_a_body_returns_415() => Assert.Equal(415, (await _server.SendBodyAsync("MKCOL /x", "<x/>")).Status);

    [Fact]
    public async Task Mkcol_at_an_existing_path_returns_405() => Assert.Equal(405, (await _server.SendAsync("MKCOL /d")).Status);

    [Theory]
    [InlineData("COPY /a", "/new", 201)]
    [InlineData("COPY /a", "/d/f", 204)]
    [InlineData("COPY /d", "/new", 201)]
    [InlineData("MOVE /a", "/new", 201)]
    [InlineData("MOVE /a", "/d/f", 204)]
    [InlineData("MOVE /d", "/new", 201)]
    public async Task Copy_and_move_return_201_for_new_and_204_for_replaced(string request, string destination, int status) =>
        Assert.Equal(status, (await _server.SendAsync(request, $"Destination: {destination}")).Status);

    [Fact]
    public async Task Move_can_change_only_the_case_of_a_name()
    {
        Assert.Equal(201, (await _server.SendAsync("MOVE /a", "Destination: /A")).Status);
        Assert.Equal("text", (await _server.SendAsync("GET /A")).Text);
        Assert.Equal(404, (await _server.SendAsync("GET /a")).Status);
    }

    [Theory]
    [InlineData("COPY")]
    [InlineData("MOVE")]
    public async Task Copy_or_move_into_itself_returns_403(string verb)
    {
        Assert.Equal(403, (await _server.SendAsync($"{verb} /d", "Destination: /d/e")).Status);
        Assert.Equal(404, (await _server.SendAsync("PROPFIND /d/e")).Status);
        Assert.Equal("deep", (await _server.SendAsync("GET /d/f")).Text);
    }

    [Fact]
    public async Task Deleting_the_root_returns_403()
    {
        Assert.Equal(403, (await _server.SendAsync("DELETE /")).Status);
        Assert.Equal("text", (await _server.SendAsync("GET /a")).Text);
    }

    [Fact]
    public async Task Store_failure_is_not_reported_as_success()
    {
        await using var server = await DavTestServer.StartAsync();
        var folder = server.Store.Root.Add(new MemoryCollection("d"));
        folder.Add(new MemoryFile("f", [1]));
        folder.NextAnswer = StoreAnswer.NoSpace;

        Assert.Equal(507, (await server.SendAsync("DELETE /d/f")).Status);
        Assert.Equal(507, (await server.SendBodyAsync("PUT /d/g", "x")).Status);
    }

    private Task<RawAnswer> LockAsync(string path, params string[] headers) => _server.SendBodyAsync("LOCK " + path, Wish, headers);

    private Task<RawAnswer> PatchAsync(string path, string property) =>
        _server.SendBodyAsync($"PROPPATCH {path}", $"<propertyupdate xmlns='DAV:'><set><prop>{property}</prop></set></propertyupdate>");
}
