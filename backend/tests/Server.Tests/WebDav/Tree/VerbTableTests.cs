using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>The verbs that change the tree against section 3 of the WebDAV contract, on every kind of path (S21).</summary>
public sealed class VerbTableTests(TreeFixture fixture) : IClassFixture<TreeFixture>
{
    private const string Update = "<propertyupdate xmlns='DAV:'><set><prop><p xmlns='urn:x'>1</p></prop></set></propertyupdate>";
    private const string Wish = "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";

    private readonly TreeServer _server = fixture.Server;

    [Theory]
    [InlineData("/", "405 403 403 207 405 405")]
    [InlineData("/README", "405 403 403 207 405 405")]
    [InlineData("/.health", "405 403 403 207 405 405")]
    [InlineData("/nzbs", "405 403 403 207 405 405")]
    [InlineData("/nzbs/tv", "405 403 403 207 200 409")]
    [InlineData("/nzbs/tv/", "405 403 403 207 200 409")]
    [InlineData("/nzbs/tv/kept.nzb", "405 403 204 207 200 409")]
    [InlineData("/nzbs/tv/none.nzb", "403 404 404 404 201 409")]
    [InlineData("/nzbs/tv/none.mkv", "403 404 404 404 403 409")]
    [InlineData("/nzbs/none", "403 404 404 404 403 409")]
    [InlineData("/nzbs/none/x.nzb", "409 404 404 404 409 409")]
    [InlineData("/content", "405 403 403 207 405 405")]
    [InlineData("/content/tv", "405 403 403 207 405 405")]
    [InlineData("/content/tv/Rel", "405 403 403 207 405 405")]
    [InlineData("/content/tv/Rel/b.mkv", "405 403 403 207 405 405")]
    [InlineData("/content/tv/Rel/none.mkv", "403 404 404 404 405 405")]
    [InlineData("/content/none/x.mkv", "409 404 404 404 405 405")]
    [InlineData("/.ids", "405 403 403 207 405 405")]
    [InlineData("/.ids/x", "403 404 404 404 405 405")]
    [InlineData("/completed-symlinks", "405 403 403 207 405 405")]
    [InlineData("/completed-symlinks/none/x", "409 404 404 404 405 405")]
    [InlineData("/view", "404 404 404 404 404 404")]
    [InlineData("/none", "403 404 404 404 405 405")]
    [InlineData("/settings", "404 404 404 404 404 404")]
    public async Task Path_answers_as_section_3_says(string path, string expected)
    {
        Assert.InRange((await _server.PutAsync("/nzbs/tv/kept.nzb", "<nzb/>")).Status, 201, 204);
        Assert.InRange((await _server.PutAsync("/nzbs/movies/target.nzb", "<nzb></nzb>")).Status, 201, 204);

        RawAnswer locked = await _server.SendBodyAsync("LOCK " + path, Wish, "Depth: 0");
        if (locked["Lock-Token"] is { } token)
            Assert.Equal(204, (await _server.SendAsync("UNLOCK " + path, "Lock-Token: " + token)).Status);
        if (locked.Status == 201)
            Assert.Equal(204, (await _server.SendAsync("DELETE " + path)).Status);
        RawAnswer[] answers =
        [
            await _server.SendAsync("MKCOL " + path),
            await _server.SendAsync("COPY " + path, "Destination: /nzbs/movies/target.nzb"),
            await _server.SendAsync("MOVE " + path, "Destination: /nzbs/movies/target.nzb"),
            await _server.SendBodyAsync("PROPPATCH " + (path == "/nzbs/tv/kept.nzb" ? "/nzbs/movies/target.nzb" : path), Update),
            locked,
            await _server.SendAsync("UNLOCK " + path, "Lock-Token: <urn:uuid:none>"),
        ];

        Assert.Equal(expected, string.Join(' ', answers.Select(answer => answer.Status)));
        Assert.All(answers, answer => Assert.Equal(answer.Status == 405, answer["Allow"] is not null));
        Assert.DoesNotContain("MKCOL", string.Concat(answers.Select(answer => answer["Allow"])), StringComparison.Ordinal);
        string status = path == "/nzbs/tv/kept.nzb" ? "HTTP/1.1 200 OK" : "HTTP/1.1 403 Forbidden";
        if (answers[3].Status == 207)
            Assert.Contains($"<D:status>{status}</D:status>", answers[3].Text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/content/tv/Rel/b.mkv")]
    [InlineData("/README")]
    [InlineData("/nzbs/tv")]
    public async Task Destination_is_read_before_a_refusal(string path)
    {
        foreach (string verb in new[] { "COPY", "MOVE" })
        {
            Assert.Equal(400, (await _server.SendAsync($"{verb} {path}")).Status);
            Assert.Equal(502, (await _server.SendAsync($"{verb} {path}", "Destination: http://other.test/x")).Status);
        }
    }

    [Theory]
    [InlineData("/", "1")]
    [InlineData("/content/tv/Rel/b.mkv", "1")]
    [InlineData("/nzbs", "1, 2")]
    [InlineData("/nzbs/tv", "1, 2")]
    [InlineData("/nzbs/tv/x.nzb", "1, 2")]
    public async Task Locks_are_offered_below_the_queue_alone(string path, string classes) =>
        Assert.Equal(classes, (await _server.SendAsync("OPTIONS " + path))["DAV"]);

    [Theory]
    [InlineData("/", 0)]
    [InlineData("/nzbs", 0)]
    [InlineData("/nzbs/tv", 2)]
    [InlineData("/content/tv/Rel/b.mkv", 0)]
    public async Task Lock_properties_stand_below_the_queue_alone(string path, int count)
    {
        string text = (await _server.SendAsync("PROPFIND " + path, "Depth: 0")).Text;

        Assert.Equal(count, text.Split("<D:supportedlock>").Length - 1 + text.Split("<D:lockdiscovery/>").Length - 1);
    }
}
