using System.Xml.Linq;
using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>The defects that section 10 of the WebDAV contract lists of handlers before these, one test for each: verbs that change.</summary>
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
    public async Task Proppatch_stores_what_it_says()
    {
        await PatchAsync("/a", "<p xmlns='urn:x'>1</p>");

        var answer = await _server.SendBodyAsync(
            "PROPFIND /a", "<propfind xmlns='DAV:'><prop><p xmlns='urn:x'/></prop></propfind>", "Depth: 0");
        Assert.Equal("1", XDocument.Parse(answer.Text).Descendants(XName.Get("p", "urn:x")).Single().Value);
    }

    [Fact]
    public async Task Proppatch_answers_with_whole_status_lines() => Assert.Equal(
        "HTTP/1.1 200 OK",
        XDocument.Parse((await PatchAsync("/a", "<p xmlns='urn:x'>1</p>")).Text).Descendants(Dav + "status").Single().Value);

    [Fact]
    public async Task Lock_needs_no_timeout() => Assert.Equal(200, (await LockAsync("/a")).Status);

    [Fact]
    public async Task Infinite_lock_lives()
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
    public async Task Lock_has_a_depth(string depth, int status)
    {
        await LockAsync("/d", $"Depth: {depth}");

        Assert.Equal(status, (await _server.SendBodyAsync("PUT /d/f", "x")).Status);
    }

    [Fact]
    public async Task Lock_of_a_free_name_makes_a_file()
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
    public async Task Every_verb_that_writes_looks_at_locks(string request, string body)
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
    public async Task If_is_read_in_all_of_its_forms(string header, int status)
    {
        var token = (await LockAsync("/a"))["Lock-Token"]!;
        var tag = (await _server.SendAsync("HEAD /a"))["ETag"]!;
        var value = header.Replace("{token}", token, StringComparison.Ordinal).Replace("{etag}", tag, StringComparison.Ordinal);

        Assert.Equal(status, (await _server.SendBodyAsync("PUT /a", "x", $"If: {value}")).Status);
    }

    [Fact]
    public async Task Mkcol_with_a_body_is_415() => Assert.Equal(415, (await _server.SendBodyAsync("MKCOL /x", "<x/>")).Status);

    [Fact]
    public async Task Mkcol_of_what_exists_is_405() => Assert.Equal(405, (await _server.SendAsync("MKCOL /d")).Status);

    [Theory]
    [InlineData("COPY /a", "/new", 201)]
    [InlineData("COPY /a", "/d/f", 204)]
    [InlineData("COPY /d", "/new", 201)]
    [InlineData("MOVE /a", "/new", 201)]
    [InlineData("MOVE /a", "/d/f", 204)]
    [InlineData("MOVE /d", "/new", 201)]
    public async Task Copy_and_move_say_whether_the_name_is_new(string request, string destination, int status) =>
        Assert.Equal(status, (await _server.SendAsync(request, $"Destination: {destination}")).Status);

    [Fact]
    public async Task Name_may_change_in_its_case_alone()
    {
        Assert.Equal(201, (await _server.SendAsync("MOVE /a", "Destination: /A")).Status);
        Assert.Equal("text", (await _server.SendAsync("GET /A")).Text);
        Assert.Equal(404, (await _server.SendAsync("GET /a")).Status);
    }

    [Theory]
    [InlineData("COPY")]
    [InlineData("MOVE")]
    public async Task Collection_does_not_go_into_itself(string verb)
    {
        Assert.Equal(403, (await _server.SendAsync($"{verb} /d", "Destination: /d/e")).Status);
        Assert.Equal(404, (await _server.SendAsync("PROPFIND /d/e")).Status);
        Assert.Equal("deep", (await _server.SendAsync("GET /d/f")).Text);
    }

    [Fact]
    public async Task Root_is_not_deleted()
    {
        Assert.Equal(403, (await _server.SendAsync("DELETE /")).Status);
        Assert.Equal("text", (await _server.SendAsync("GET /a")).Text);
    }

    [Fact]
    public async Task Failure_below_is_no_success()
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
