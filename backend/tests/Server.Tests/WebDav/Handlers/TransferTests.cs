using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>MKCOL, COPY and MOVE over the wire, on a tree that supports them all.</summary>
public sealed class TransferTests : IAsyncLifetime
{
    private DavTestServer _server = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartWritableAsync();
        Assert.Equal(201, (await _server.SendAsync("MKCOL /d")).Status);
        Assert.Equal(201, (await _server.SendAsync("MKCOL /d/e/")).Status);
        Assert.Equal(201, (await _server.SendBodyAsync("PUT /d/e/f", "deep")).Status);
        Assert.Equal(201, (await _server.SendBodyAsync("PUT /a", "text")).Status);
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Theory]
    [InlineData("/a", 405)]
    [InlineData("/a/", 405)]
    [InlineData("/d", 405)]
    [InlineData("/", 405)]
    [InlineData("/none/x", 409)]
    [InlineData("/a/x", 409)]
    [InlineData("/x", 201)]
    public async Task Mkcol_succeeds_only_at_a_free_name_with_a_parent(string path, int status)
    {
        var answer = await _server.SendAsync("MKCOL " + path);

        Assert.Equal(status, answer.Status);
        Assert.Equal(status == 405, answer["Allow"] is not null);
    }

    [Fact]
    public async Task Mkcol_with_a_body_returns_415()
    {
        Assert.Equal(415, (await _server.SendBodyAsync("MKCOL /x", "<x/>")).Status);
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("MKCOL /x", ["Transfer-Encoding: chunked"], "1\r\nx\r\n0\r\n\r\n");
        Assert.Equal(415, (await connection.ReadAnswerAsync(isHead: false)).Status);
        Assert.Equal(404, (await _server.SendAsync("PROPFIND /x")).Status);
    }

    [Theory]
    [InlineData("/b", 201)]
    [InlineData("http://tree.test/b", 201)]
    [InlineData("HTTP://TREE.test:80/b", 201)]
    [InlineData("/%62", 201)]
    [InlineData("http://other.test/b", 502)]
    [InlineData("https://tree.test/b", 502)]
    [InlineData("http://tree.test:8080/b", 502)]
    [InlineData("http://user@tree.test/b", 502)]
    [InlineData("b", 400)]
    [InlineData("/b#c", 400)]
    [InlineData("/%zz", 400)]
    [InlineData("/x/../b", 400)]
    [InlineData("http://", 400)]
    [InlineData("/none/b", 409)]
    [InlineData("/a", 403)]
    [InlineData("/", 403)]
    public async Task Destination_must_be_a_valid_path_on_this_server(string destination, int status)
    {
        foreach (var verb in new[] { "COPY", "MOVE" })
        {
            await _server.SendAsync("DELETE /b");
            await _server.SendBodyAsync("PUT /a", "text");
            Assert.Equal(status, (await _server.SendAsync(verb + " /a", "Destination: " + destination)).Status);
            if (status == 201)
                Assert.Equal("text", (await _server.SendAsync("GET /b")).Text);
            Assert.Equal(verb == "MOVE" && status == 201 ? 404 : 200, (await _server.SendAsync("GET /a")).Status);
        }
    }

    [Theory]
    [InlineData("COPY /a")]
    [InlineData("MOVE /a")]
    [InlineData("COPY /a", "Destination: /b", "Destination: /c")]
    [InlineData("COPY /a", "Destination: /b", "Overwrite: maybe")]
    [InlineData("COPY /a", "Destination: /b", "Depth: 2")]
    [InlineData("COPY /d", "Destination: /b", "Depth: 1")]
    [InlineData("MOVE /d", "Destination: /b", "Depth: 0")]
    public async Task Missing_or_ambiguous_transfer_headers_return_400(string request, params string[] headers)
    {
        Assert.Equal(400, (await _server.SendAsync(request, headers)).Status);
        Assert.Equal(404, (await _server.SendAsync("PROPFIND /b")).Status);
    }

    [Theory]
    [InlineData("COPY")]
    [InlineData("MOVE")]
    public async Task Target_is_replaced_unless_Overwrite_is_F(string verb)
    {
        Assert.Equal(412, (await _server.SendAsync(verb + " /a", "Destination: /d", "Overwrite: F")).Status);
        Assert.Equal("deep", (await _server.SendAsync("GET /d/e/f")).Text);
        Assert.Equal(204, (await _server.SendAsync(verb + " /a", "Destination: /d")).Status);
        Assert.Equal("text", (await _server.SendAsync("GET /d")).Text);
    }

    [Theory]
    [InlineData("COPY /d", "/d/e/x", 403)]
    [InlineData("MOVE /d", "/d/x", 403)]
    [InlineData("MOVE /d/e", "/d", 403)]
    [InlineData("COPY /d/e", "/d", 403)]
    [InlineData("COPY /none", "/x", 404)]
    [InlineData("MOVE /none", "/x", 404)]
    [InlineData("MOVE /", "/x", 403)]
    [InlineData("MOVE /d/e/f", "/d/e/F", 201)]
    public async Task Copy_or_move_into_itself_or_its_parent_is_refused(string request, string destination, int status) =>
        Assert.Equal(status, (await _server.SendAsync(request, "Destination: " + destination)).Status);

    [Fact]
    public async Task Collection_copy_honors_depth_and_move_takes_everything()
    {
        Assert.Equal(201, (await _server.SendAsync("COPY /d", "Destination: /x")).Status);
        Assert.Equal("deep", (await _server.SendAsync("GET /x/e/f")).Text);
        Assert.Equal(201, (await _server.SendAsync("COPY /d", "Destination: /y", "Depth: 0")).Status);
        Assert.Equal(404, (await _server.SendAsync("PROPFIND /y/e")).Status);
        Assert.Equal(201, (await _server.SendAsync("COPY /d", "Destination: /d/inside", "Depth: 0")).Status);
        Assert.Equal(201, (await _server.SendAsync("MOVE /d", "Destination: /z/")).Status);
        Assert.Equal("deep", (await _server.SendAsync("GET /z/e/f")).Text);
        Assert.Equal(404, (await _server.SendAsync("PROPFIND /d")).Status);
        Assert.Equal(204, (await _server.SendAsync("DELETE /z")).Status);
        Assert.Equal(404, (await _server.SendAsync("PROPFIND /z/e/f")).Status);
    }

    [Fact]
    public async Task Failed_If_Match_keeps_the_source_in_place()
    {
        Assert.Equal(412, (await _server.SendAsync("MOVE /a", "Destination: /b", "If-Match: \"other\"")).Status);
        Assert.Equal(200, (await _server.SendAsync("GET /a")).Status);
    }

    [Theory]
    [InlineData("/a", "OPTIONS, GET, HEAD, PROPFIND, PUT, DELETE, COPY, MOVE, PROPPATCH, LOCK, UNLOCK")]
    [InlineData("/d", "OPTIONS, PROPFIND, DELETE, COPY, MOVE, PROPPATCH, LOCK, UNLOCK")]
    [InlineData("/new", "OPTIONS, PUT, MKCOL, LOCK, UNLOCK")]
    public async Task Options_list_the_verbs_allowed_for_the_path(string path, string allow)
    {
        var answer = await _server.SendAsync("OPTIONS " + path);

        Assert.Equal(allow, answer["Allow"]);
        Assert.Equal("1, 2", answer["DAV"]);
    }
}
