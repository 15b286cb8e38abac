using System.Globalization;
using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>PUT and DELETE over the wire.</summary>
public sealed class PutAndDeleteTests : IAsyncLifetime
{
    private DavTestServer _server = null!;
    private MemoryCollection _folder = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartAsync(options: new DavOptions { MaxUploadBytes = 1000 });
        _folder = _server.Store.Root.Add(new MemoryCollection("folder"));
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Fact]
    public async Task Put_returns_201_when_created_and_204_when_replaced()
    {
        Assert.Equal(201, (await _server.SendBodyAsync("PUT /folder/a.nzb", "one")).Status);
        Assert.Equal(204, (await _server.SendBodyAsync("PUT /folder/a.nzb", "three")).Status);
        Assert.Equal("three", (await _server.SendAsync("GET /folder/a.nzb")).Text);
    }

    [Fact]
    public async Task Chunked_body_is_stored_whole()
    {
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("PUT /folder/a.nzb", ["Transfer-Encoding: chunked"], "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");

        Assert.Equal(201, (await connection.ReadAnswerAsync(isHead: false)).Status);
        Assert.Equal("abcde", (await _server.SendAsync("GET /folder/a.nzb")).Text);
    }

    [Theory]
    [InlineData("/none/a.nzb", 409)]
    [InlineData("/folder/a.nzb/", 403)]
    public async Task Put_without_a_parent_or_with_trailing_slash_is_refused(string path, int status) =>
        Assert.Equal(status, (await _server.SendBodyAsync("PUT " + path, "x")).Status);

    [Fact]
    public async Task Put_with_Content_Range_returns_400_and_stores_nothing()
    {
        var answer = await _server.SendBodyAsync("PUT /folder/a.nzb", "x", "Content-Range: bytes 5-5/10");

        Assert.Equal(400, answer.Status);
        Assert.Null(_folder.Child("a.nzb"));
    }

    [Theory]
    [InlineData(999, 201)]
    [InlineData(1000, 201)]
    [InlineData(1001, 413)]
    public async Task Put_above_the_size_limit_returns_413(int size, int status) =>
        Assert.Equal(status, (await _server.SendBodyAsync("PUT /folder/a.nzb", new string('x', size))).Status);

    [Theory]
    [InlineData(999, 999, 201)]
    [InlineData(1000, 1000, 201)]
    [InlineData(1001, 1001, 413)]
    [InlineData(1000, 1, 201)]
    [InlineData(1001, 1, 413)]
    public async Task Chunked_put_limit_ignores_chunk_framing(int size, int chunk, int status)
    {
        await using var connection = await _server.ConnectAsync();
        var one = $"{chunk.ToString("x", CultureInfo.InvariantCulture)}\r\n{new string('x', chunk)}\r\n";
        var body = string.Concat(Enumerable.Repeat(one, size / chunk)) + "0\r\n\r\n";
        await connection.SendAsync("PUT /folder/a.nzb", ["Transfer-Encoding: chunked"], body);

        Assert.Equal(status, (await connection.ReadAnswerAsync(isHead: false)).Status);
        Assert.Equal(status == 201, _folder.Child("a.nzb") is not null);
    }

    [Theory]
    [InlineData("/folder/a.nzb", "Content-Length: 1001", 413)]
    [InlineData("/none/a.nzb", "Content-Length: 5", 409)]
    [InlineData("/folder/a.nzb", "If-Match: *", 412)]
    public async Task Refused_put_never_sends_100_Continue(string path, string header, int status)
    {
        await using var connection = await _server.ConnectAsync();
        string[] headers = header.StartsWith("Content-Length", StringComparison.Ordinal) ? [header] : [header, "Content-Length: 5"];
        await connection.SendAsync("PUT " + path, [.. headers, "Expect: 100-continue"]);

        Assert.Equal(status, (await connection.ReadHeadAsync()).Status);
    }

    [Fact]
    public async Task Accepted_put_sends_100_Continue()
    {
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("PUT /folder/a.nzb", "Content-Length: 5", "Expect: 100-continue");
        Assert.Equal(100, (await connection.ReadHeadAsync()).Status);
        await connection.SendRawAsync("hello");

        Assert.Equal(201, (await connection.ReadAnswerAsync(isHead: false)).Status);
    }

    [Theory]
    [InlineData("If-None-Match: *", 412, 201)]
    [InlineData("If-Match: *", 204, 412)]
    [InlineData("If-Match: \"other\"", 412, 412)]
    [InlineData("If-None-Match: \"other\"", 204, 201)]
    public async Task Put_honors_its_precondition(string condition, int onExisting, int onNew)
    {
        _folder.Add(new MemoryFile("old.nzb", [1]));

        Assert.Equal(onExisting, (await _server.SendBodyAsync("PUT /folder/old.nzb", "x", condition)).Status);
        Assert.Equal(onNew, (await _server.SendBodyAsync("PUT /folder/new.nzb", "x", condition)).Status);
    }

    [Theory]
    [InlineData(nameof(StoreAnswer.Malformed), 400)]
    [InlineData(nameof(StoreAnswer.Forbidden), 403)]
    [InlineData(nameof(StoreAnswer.Conflict), 409)]
    [InlineData(nameof(StoreAnswer.AlreadyExists), 412)]
    [InlineData(nameof(StoreAnswer.TooLarge), 413)]
    [InlineData(nameof(StoreAnswer.NoSpace), 507)]
    public async Task Store_result_maps_to_the_status(string answer, int status)
    {
        _folder.NextAnswer = Enum.Parse<StoreAnswer>(answer);

        Assert.Equal(status, (await _server.SendBodyAsync("PUT /folder/a.nzb", "x")).Status);
    }

    [Fact]
    public async Task Deleted_file_returns_404()
    {
        _folder.Add(new MemoryFile("a.nzb", [1]));

        Assert.Equal(412, (await _server.SendAsync("DELETE /folder/a.nzb", "If-Match: \"other\"")).Status);
        Assert.Equal(204, (await _server.SendAsync("DELETE /folder/a.nzb")).Status);
        Assert.Equal(404, (await _server.SendAsync("DELETE /folder/a.nzb")).Status);
        Assert.Equal(404, (await _server.SendAsync("GET /folder/a.nzb")).Status);
    }
}
