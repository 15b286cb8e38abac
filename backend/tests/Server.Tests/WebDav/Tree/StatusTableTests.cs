using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Library;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>Every cell of section 3 of the WebDAV contract on the product's tree, and its <c>Allow</c> (DAV-91, DAV-92, S21).</summary>
public sealed class StatusTableTests(StatusFixture fixture) : IClassFixture<StatusFixture>
{
    private const string Update = "<propertyupdate xmlns='DAV:'><set><prop><p xmlns='urn:x'>1</p></prop></set></propertyupdate>";
    private const string Wish = "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";

    private static readonly string[] Verbs =
        ["GET", "HEAD", "PROPFIND", "PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "UNLOCK"];

    private readonly TreeServer _server = fixture.Server;

    /// <summary>The cells by row and column.</summary>
    public static TheoryData<string, string> Cells =>
        [.. StatusTable.Section3.Concat(StatusTable.BesideIt).Select(cell => (cell.Path, cell.Verb))];

    [Theory]
    [MemberData(nameof(Cells))]
    public async Task Each_cell_returns_the_status_in_the_contract(string path, string verb)
    {
        StatusCell cell = StatusTable.Section3.Concat(StatusTable.BesideIt).Single(cell => (cell.Path, cell.Verb) == (path, verb));
        var token = "";
        foreach (var request in cell.Requests)
        {
            var target = fixture.Resolve(request.Path);
            var allow = (await _server.SendAsync("OPTIONS " + target))["Allow"];
            var answer = await SendAsync(request, target, token);

            Assert.Equal($"{request.Verb} {target} {request.Status}", $"{request.Verb} {target} {StatusOf(answer, request)}");
            Assert.Equal(answer.Status == 405 || request.Verb == "OPTIONS" ? allow : null, answer["Allow"]);
            // Skip free names in the queue, because their form decides whether they are accepted.
            if (path == "unknown")
                continue;
            if (request.Status is "403" or "405" or "207/403")
                Assert.DoesNotContain(request.Verb, allow!.Split(", "));
            else if (answer.Status < 400)
                Assert.Contains(request.Verb, allow!.Split(", "));
            token = answer["Lock-Token"] ?? token;
        }
    }

    [Fact]
    public void Table_has_each_cell_of_section_3_once()
    {
        string[] rows = ["root", "queue", "item", "content", "links", "ids"];

        Assert.Equal(
            rows.SelectMany(row => Verbs, (row, verb) => $"{row} {verb}"),
            StatusTable.Section3.Select(cell => $"{cell.Path} {cell.Verb}"));
    }

    [Theory]
    [InlineData("/", "1")]
    [InlineData("/content/tv/Rel/a.mkv", "1")]
    [InlineData("/nzbs", "1, 2")]
    [InlineData("/nzbs/tv", "1, 2")]
    [InlineData("/nzbs/tv/x.nzb", "1, 2")]
    public async Task Only_the_queue_advertises_locks(string path, string classes) =>
        Assert.Equal(classes, (await _server.SendAsync("OPTIONS " + path))["DAV"]);

    [Theory]
    [InlineData("/", 0)]
    [InlineData("/nzbs", 0)]
    [InlineData("/nzbs/tv", 2)]
    [InlineData("/content/tv/Rel/a.mkv", 0)]
    public async Task Only_paths_inside_the_queue_have_lock_properties(string path, int count)
    {
        var text = (await _server.SendAsync("PROPFIND " + path, "Depth: 0")).Text;

        Assert.Equal(count, text.Split("<D:supportedlock>").Length - 1 + text.Split("<D:lockdiscovery/>").Length - 1);
    }

    [Theory]
    [InlineData("/content/tv/Rel/a.mkv")]
    [InlineData("/README")]
    [InlineData("/nzbs/tv")]
    public async Task Destination_is_validated_before_the_refusal(string path)
    {
        foreach (var verb in new[] { "COPY", "MOVE" })
        {
            Assert.Equal(400, (await _server.SendAsync($"{verb} {path}")).Status);
            Assert.Equal(502, (await _server.SendAsync($"{verb} {path}", "Destination: http://other.test/x")).Status);
        }
    }

    private async Task<RawAnswer> SendAsync(StatusRequest request, string target, string token)
    {
        var line = $"{request.Verb} {target}";
        string[] headers = [.. request.Headers.Select(header => header.Replace("{token}", token, StringComparison.Ordinal))];
        return request.Verb switch
        {
            "PUT" => await _server.PutAsync(target, "<nzb/>", headers),
            "PROPPATCH" => await _server.SendBodyAsync(line, Update, headers),
            "LOCK" => await _server.SendBodyAsync(line, Wish, headers),
            _ => await _server.SendAsync(line, headers),
        };
    }

    private static string StatusOf(RawAnswer answer, StatusRequest request)
    {
        if (!request.Status.Contains('/', StringComparison.Ordinal))
            return $"{answer.Status}";
        var status = answer.Text.IndexOf("<D:status>HTTP/1.1 ", StringComparison.Ordinal);
        return status < 0 ? $"{answer.Status}" : $"{answer.Status}/{answer.Text.Substring(status + 19, 3)}";
    }
}

/// <summary>A server whose tree has every kind of path: playable files, lost files, and files without a provider.</summary>
public sealed class StatusFixture : IAsyncLifetime
{
    private readonly Dictionary<string, string> _paths = [];

    internal TreeServer Server { get; private set; } = null!;

    public async ValueTask InitializeAsync()
    {
        Server = await TreeServer.StartAsync(("MOUNT_DIR", "/mnt/media"));
        await Server.PublishCompletedAsync("tv", "Rel", "a.mkv", "season 1/b.mkv");
        await Server.PublishCompletedAsync("tv", "Moved", "a.mkv");
        await Server.PublishWithNzbAsync("tv", "Offline", "a.mkv");
        await AddAsync("clip", BuiltInClip.Category, Server.Services.GetRequiredService<BuiltInClip>().File.Name);
        await AddAsync("lost", "tv", "Rel", "a.mkv");
        await AddAsync("offline", "tv", "Offline", "a.mkv");
    }

    public async ValueTask DisposeAsync() => await Server.DisposeAsync();

    /// <summary>Returns the server's path for a path of the table.</summary>
    internal string Resolve(string path)
    {
        foreach ((var name, var meaning) in _paths)
            path = path.Replace($"{{{name}}}", meaning, StringComparison.Ordinal);
        return path;
    }

    private async Task AddAsync(string name, params string[] names)
    {
        var entry = await Server.Services.GetRequiredService<LibraryTree>().FindAsync(names, TestContext.Current.CancellationToken);
        _paths[name] = "/content/" + string.Join('/', names);
        _paths[name + "-id"] = "/" + IdPath.Of(((FileEntry)entry!).File.Id);
    }
}
