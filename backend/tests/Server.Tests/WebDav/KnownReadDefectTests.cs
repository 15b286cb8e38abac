using System.Globalization;
using System.Xml.Linq;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>One test for each defect of NWebDav.Server in section 10 of the WebDAV contract: verbs that read.</summary>
public sealed class KnownReadDefectTests : IAsyncLifetime
{
    private static readonly XNamespace Dav = "DAV:";

    private readonly byte[] _bytes = [.. Enumerable.Range(0, 1000).Select(i => (byte)i)];
    private DavTestServer _server = null!;
    private MemoryFile _film = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartAsync();
        _film = _server.Store.Root.Add(new MemoryFile("film.mkv", _bytes));
        _server.Store.Root.Add(new MemoryCollection("a b#")).Add(new MemoryFile("c%41?.mkv", [1]));
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Fact]
    public async Task Range_is_honored_for_a_file_with_Last_Modified()
    {
        var answer = await _server.SendAsync("GET /film.mkv", "Range: bytes=10-19");

        Assert.Equal(206, answer.Status);
        Assert.NotNull(answer["Last-Modified"]);
        Assert.Equal(_bytes[10..20], answer.Body);
    }

    [Fact]
    public async Task Suffix_range_is_counted_from_the_end()
    {
        var answer = await _server.SendAsync("GET /film.mkv", "Range: bytes=-10");

        Assert.Equal(206, answer.Status);
        Assert.Equal("bytes 990-999/1000", answer["Content-Range"]);
        Assert.Equal(_bytes[^10..], answer.Body);
    }

    [Theory]
    [InlineData("bytes=1000-", 416)]
    [InlineData("bytes=5000-6000", 416)]
    [InlineData("bytes=x", 200)]
    [InlineData("bytes=9-8", 200)]
    [InlineData("bytes=99999999999999999999-", 200)]
    public async Task Range_past_the_end_or_malformed_does_not_return_500(string range, int status) =>
        Assert.Equal(status, (await _server.SendAsync("GET /film.mkv", $"Range: {range}")).Status);

    [Theory]
    [InlineData("bytes=0-4", "bytes 0-4/1000")]
    [InlineData("bytes=1000-", "bytes */1000")]
    public async Task Content_range_has_no_spaces_inside(string range, string expected) =>
        Assert.Equal(expected, (await _server.SendAsync("GET /film.mkv", $"Range: {range}"))["Content-Range"]);

    [Fact]
    public async Task Head_opens_no_stream()
    {
        var answer = await _server.SendAsync("HEAD /film.mkv");

        Assert.Equal("1000", answer["Content-Length"]);
        Assert.Equal(0, _film.Opened);
    }

    [Fact]
    public async Task Short_stream_resets_the_response()
    {
        var seen = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        var stream = new ScriptedStream(ScriptedStream.Give(new byte[300]), async _ => await seen.Task);
        _server.Store.Root.Add(new MemoryFile("short.mkv", []) { Length = 1000, Opening = (_, _, _) => ValueTask.FromResult<Stream>(stream) });
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("GET /short.mkv");
        var answer = await connection.ReadHeadAsync();
        await connection.ReadPartAsync(answer, 300);

        seen.SetResult([]);
        await connection.ReadBodyAsync(answer);

        Assert.True(answer.WasReset);
    }

    [Fact]
    public async Task Propfind_streams_instead_of_buffering_the_listing()
    {
        using var gate = new SemaphoreSlim(0);
        IEnumerable<IStoreItem> Children()
        {
            for (var i = 0; i < 2000; i++)
            {
                if (i == 1000)
                    gate.Wait(TestContext.Current.CancellationToken);
                yield return new MemoryFile(string.Create(CultureInfo.InvariantCulture, $"{i:0000}.mkv"), []);
            }
        }

        _server.Store.Root.Add(new MemoryCollection("long") { Listing = Children });
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("PROPFIND /long/", "Depth: 1");

        // The client has the first half, except for a few unsent bytes, before the second half can be read.
        var answer = await connection.ReadHeadAsync();
        await connection.ReadFirstChunksAsync(answer, 400_000);
        gate.Release();
        await connection.ReadBodyAsync(answer);

        Assert.Equal(2001, XDocument.Parse(answer.Text).Root!.Elements().Count());
    }

    [Fact]
    public async Task Missing_properties_share_one_final_propstat()
    {
        var answer = await FindAsync("/film.mkv", "<propfind xmlns='DAV:'><prop><a xmlns='urn:x'/><displayname/><b xmlns='urn:x'/></prop></propfind>");

        Assert.Equal(
            ["HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found"],
            answer.Descendants(Dav + "propstat").Select(propstat => propstat.Element(Dav + "status")!.Value));
        Assert.Equal(["a", "b"], answer.Descendants(Dav + "prop").Last().Elements().Select(property => property.Name.LocalName));
    }

    [Fact]
    public async Task Hrefs_are_encoded_and_collections_end_in_a_slash()
    {
        var answer = await FindAsync("/a%20b%23", "", "Depth: 1");

        Assert.Equal(["/a%20b%23/", "/a%20b%23/c%2541%3F.mkv"], answer.Descendants(Dav + "href").Select(href => href.Value));
    }

    [Fact]
    public async Task Propfind_body_without_Content_Length_is_read()
    {
        await using var connection = await _server.ConnectAsync();
        const string Body = "<propfind xmlns='DAV:'><prop><displayname/></prop></propfind>";
        await connection.SendAsync(
            "PROPFIND /film.mkv", ["Depth: 0", "Transfer-Encoding: chunked"], $"{Body.Length:x}\r\n{Body}\r\n0\r\n\r\n");

        var answer = await connection.ReadAnswerAsync(isHead: false);

        Assert.Equal("film.mkv", Assert.Single(XDocument.Parse(answer.Text).Descendants(Dav + "prop").Elements()).Value);
    }

    [Theory]
    [InlineData("<propfind")]
    [InlineData("<propfind xmlns='DAV:'><allprop></propfind>")]
    [InlineData("<propfind xmlns='DAV:'/>")]
    public async Task Malformed_document_returns_400(string body) =>
        Assert.Equal(400, (await _server.SendBodyAsync("PROPFIND /film.mkv", body, "Depth: 0")).Status);

    [Fact]
    public async Task Document_with_DTD_entities_returns_400()
    {
        const string Bomb = "<!DOCTYPE p [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><propfind xmlns='DAV:'><prop>&b;</prop></propfind>";

        Assert.Equal(400, (await _server.SendBodyAsync("PROPFIND /film.mkv", Bomb, "Depth: 0")).Status);
    }

    [Fact]
    public async Task Unsupported_properties_are_not_logged()
    {
        var lines = new LineCounter();
        await using var server = await DavTestServer.StartAsync(
            services => services.AddSingleton<ILoggerProvider>(lines).AddLogging(logging => logging.SetMinimumLevel(LogLevel.Debug)));
        server.Store.Root.Add(new MemoryFile("film.mkv", [1]));
        var asked = string.Concat(Enumerable.Range(0, 100).Select(i => $"<p{i} xmlns='urn:x'/>"));

        var answer = await server.SendBodyAsync("PROPFIND /film.mkv", $"<propfind xmlns='DAV:'><prop>{asked}</prop></propfind>", "Depth: 0");

        Assert.Equal(207, answer.Status);
        Assert.Equal(0, lines.Count);
    }

    [Fact]
    public async Task Propname_lists_names_inside_prop()
    {
        var answer = await FindAsync("/film.mkv", "<propfind xmlns='DAV:'><propname/></propfind>");

        var propstat = Assert.Single(answer.Descendants(Dav + "propstat"));
        Assert.Equal([Dav + "prop", Dav + "status"], propstat.Elements().Select(element => element.Name));
        Assert.Contains(propstat.Element(Dav + "prop")!.Elements(), property => property.Name == Dav + "getetag" && property.IsEmpty);
    }

    [Fact]
    public async Task Options_of_a_read_only_file_report_no_lock_support() =>
        Assert.Equal("1", (await _server.SendAsync("OPTIONS /film.mkv"))["DAV"]);

    private async Task<XDocument> FindAsync(string path, string body, string depth = "Depth: 0") =>
        XDocument.Parse((await _server.SendBodyAsync("PROPFIND " + path, body, depth)).Text);

    /// <summary>Counts the log lines of WebDAV.</summary>
    private sealed class LineCounter : ILoggerProvider, ILogger
    {
        private int _count;

        public int Count => Volatile.Read(ref _count);

        public ILogger CreateLogger(string categoryName) =>
            categoryName.Contains("WebDav", StringComparison.Ordinal) ? this : Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            Interlocked.Increment(ref _count);

        public void Dispose()
        {
        }
    }
}
