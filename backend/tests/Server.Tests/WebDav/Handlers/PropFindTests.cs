using System.Globalization;
using System.Xml.Linq;
using Microsoft.AspNetCore.Builder;
using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>PROPFIND over the wire: section 6 of the WebDAV contract.</summary>
public sealed class PropFindTests : IAsyncLifetime
{
    /// <summary>The properties that rclone requests.</summary>
    private const string RcloneBody =
        "<?xml version=\"1.0\"?><d:propfind xmlns:d=\"DAV:\" xmlns:oc=\"http://owncloud.org/ns\" xmlns:nc=\"http://nextcloud.org/ns\"><d:prop>"
        + "<d:displayname/><d:getlastmodified/><d:getcontentlength/><d:resourcetype/></d:prop></d:propfind>";

    private static readonly XNamespace Dav = "DAV:";

    private DavTestServer _server = null!;
    private MemoryCollection _folder = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartAsync();
        _folder = _server.Store.Root.Add(new MemoryCollection("tv shows"));
        _folder.Add(new MemoryFile("b#1 100%+[x]?.mkv", new byte[5]));
        _folder.Add(new MemoryFile("a\u00e9\U0001F3AC.srt", new byte[3]));
        _folder.Add(new MemoryCollection("Season 1")).Add(new MemoryFile("deep.mkv", new byte[9]));
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Fact]
    public async Task Shared_quota_is_queried_once_per_listing()
    {
        var quota = new AskedQuota();
        var folders = _server.Store.Root.Add(new MemoryCollection("many") { Quota = quota });
        for (var i = 0; i < 1000; i++)
            folders.Add(new MemoryCollection($"folder {i}") { Quota = quota });

        var answer = await _server.SendBodyAsync(
            "PROPFIND /many/", "<propfind xmlns='DAV:'><prop><quota-used-bytes/></prop></propfind>", "Depth: 1");

        Assert.Equal(1001, XDocument.Parse(answer.Text).Descendants(Dav + "quota-used-bytes").Count());
        Assert.Equal(1, quota.Times);
    }

    [Fact]
    public async Task Depth_0_returns_only_the_resource()
    {
        var answer = await _server.SendAsync("PROPFIND /tv%20shows/", "Depth: 0");

        Assert.Equal(207, answer.Status);
        Assert.Equal("application/xml; charset=utf-8", answer["Content-Type"]);
        Assert.Equal(["/tv%20shows/"], Hrefs(answer));
        Assert.Null(answer["Content-Location"]);
    }

    [Theory]
    [InlineData("Depth: 1")]
    [InlineData("X-Nothing: 1")]
    public async Task Depth_1_or_no_depth_lists_direct_children_in_order(string depth)
    {
        var answer = await _server.SendAsync("PROPFIND /tv%20shows/", depth);

        Assert.Equal(
            ["/tv%20shows/", "/tv%20shows/Season%201/", "/tv%20shows/a%C3%A9%F0%9F%8E%AC.srt", "/tv%20shows/b%231%20100%25+%5Bx%5D%3F.mkv"],
            Hrefs(answer));
    }

    [Fact]
    public async Task Listed_href_leads_to_the_file()
    {
        var listing = await _server.SendAsync("PROPFIND /tv%20shows/", "Depth: 1");

        foreach (var href in Hrefs(listing).Where(href => !href.EndsWith('/')))
            Assert.Equal(200, (await _server.SendAsync("GET " + href)).Status);
    }

    [Fact]
    public async Task Collection_without_trailing_slash_gets_Content_Location()
    {
        var answer = await _server.SendAsync("PROPFIND /tv%20shows", "Depth: 1");

        Assert.Equal("/tv%20shows/", answer["Content-Location"]);
        Assert.Equal("/tv%20shows/", Hrefs(answer)[0]);
        Assert.Equal("/tv%20shows/Season%201/", Hrefs(answer)[1]);
    }

    [Fact]
    public async Task File_at_depth_1_has_one_response()
    {
        var answer = await _server.SendAsync("PROPFIND /tv%20shows/Season%201/deep.mkv", "Depth: 1");

        Assert.Equal(["/tv%20shows/Season%201/deep.mkv"], Hrefs(answer));
    }

    [Fact]
    public async Task Depth_infinity_returns_403_propfind_finite_depth()
    {
        var answer = await _server.SendAsync("PROPFIND /", "Depth: infinity");

        Assert.Equal(403, answer.Status);
        Assert.Equal(Dav + "propfind-finite-depth", Assert.Single(XDocument.Parse(answer.Text).Root!.Elements()).Name);
        Assert.Equal(Dav + "error", XDocument.Parse(answer.Text).Root!.Name);
    }

    [Theory]
    [InlineData("2")]
    [InlineData("-1")]
    [InlineData("0, 1")]
    [InlineData("one")]
    public async Task Invalid_depth_returns_400(string depth) =>
        Assert.Equal(400, (await _server.SendAsync("PROPFIND /", $"Depth: {depth}")).Status);

    [Fact]
    public async Task Every_property_rclone_requests_is_found()
    {
        var answer = await _server.SendBodyAsync("PROPFIND /tv%20shows/", RcloneBody, "Depth: 1");

        var document = XDocument.Parse(answer.Text);
        Assert.Equal(4, document.Descendants(Dav + "propstat").Count());
        Assert.All(document.Descendants(Dav + "status"), status => Assert.Equal("HTTP/1.1 200 OK", status.Value));
        Assert.All(document.Descendants(Dav + "prop"), prop => Assert.Equal(4, prop.Elements().Count()));
    }

    [Fact]
    public async Task Chunked_propfind_body_is_read()
    {
        await using var connection = await _server.ConnectAsync();
        var body = "<propfind xmlns='DAV:'><prop><displayname/></prop></propfind>";
        await connection.SendAsync(
            "PROPFIND /tv%20shows/", ["Depth: 0", "Transfer-Encoding: chunked"],
            $"5\r\n{body[..5]}\r\n{body.Length - 5:x}\r\n{body[5..]}\r\n0\r\n\r\n");

        var answer = await connection.ReadAnswerAsync(isHead: false);

        var property = Assert.Single(XDocument.Parse(answer.Text).Descendants(Dav + "prop").Elements());
        Assert.Equal("tv shows", property.Value);
    }

    [Theory]
    [InlineData("<a", 400)]
    [InlineData("<a/>", 400)]
    [InlineData("<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><propfind xmlns='DAV:'><prop>&b;</prop></propfind>", 400)]
    [InlineData("<propfind xmlns='DAV:' xmlns:x=''><allprop/></propfind>", 400)]
    public async Task Invalid_propfind_body_is_refused(string body, int status) =>
        Assert.Equal(status, (await _server.SendBodyAsync("PROPFIND /", body, "Depth: 0")).Status);

    [Fact]
    public async Task Oversized_body_returns_413_before_it_is_sent()
    {
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("PROPFIND /", "Depth: 0", "Content-Length: 65537", "Expect: 100-continue");

        Assert.Equal(413, (await connection.ReadHeadAsync()).Status);
    }

    [Fact]
    public async Task Large_listing_is_chunked_with_at_most_400_bytes_per_entry()
    {
        const int Entries = 10_000;
        _folder.Listing = () => Enumerable.Range(0, Entries).Select(i =>
            new MemoryFile(string.Create(CultureInfo.InvariantCulture, $"Some.Show.S01E{i:00000}.1080p.WEB.mkv"), []) { Length = 734_003_200 + i });

        var answer = await _server.SendBodyAsync("PROPFIND /tv%20shows/", RcloneBody, "Depth: 1");

        Assert.Equal("chunked", answer["Transfer-Encoding"]);
        Assert.Equal(Entries + 1, XDocument.Parse(answer.Text).Root!.Elements().Count());
        Assert.InRange(answer.Body.Length / (double)(Entries + 1), 1, 400);
    }

    [Fact]
    public async Task Listing_is_sent_while_it_is_read()
    {
        using var gate = new SemaphoreSlim(0);
        IEnumerable<IStoreItem> Children()
        {
            for (var i = 0; i < 2_000; i++)
            {
                if (i == 1_000)
                    gate.Wait(TestContext.Current.CancellationToken);
                yield return new MemoryFile($"{i:0000}", []);
            }
        }

        _folder.Listing = Children;
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("PROPFIND /tv%20shows/", "Depth: 1");

        // The headers arrive although half of the rows are blocked until the next line.
        var answer = await connection.ReadHeadAsync();
        gate.Release();
        await connection.ReadBodyAsync(answer);

        Assert.True(answer.IsComplete);
        Assert.Equal(2_001, Hrefs(answer).Count);
    }

    [Theory]
    [InlineData(500)]
    [InlineData(1)]
    public async Task Failure_mid_listing_resets_the_connection(int rows)
    {
        _folder.Listing = () => Enumerable.Range(0, rows + 1).Select(i =>
            i < rows ? new MemoryFile($"{i:0000}", []) : throw new StoreUnavailableException("The disk is gone."));

        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("PROPFIND /tv%20shows/", "Depth: 1");
        var answer = await connection.ReadAnswerOrResetAsync();

        Assert.True(answer.WasReset, $"complete: {answer.IsComplete}, clean end: {answer.EndedCleanly}");
    }

    [Fact]
    public async Task Failure_on_the_first_row_returns_503()
    {
        _folder.Listing = () => Enumerable.Range(0, 1).Select<int, IStoreItem>(_ => throw new StoreUnavailableException("The disk is gone."));

        var answer = await _server.SendAsync("PROPFIND /tv%20shows/", "Depth: 1");

        Assert.Equal(503, answer.Status);
        Assert.Equal("30", answer["Retry-After"]);
    }

    [Fact]
    public async Task Hrefs_include_the_url_base()
    {
        await using var server = await DavTestServer.StartAsync(before: app =>
        {
            app.UsePathBase("/x");
            app.UseRouting();
        });
        server.Store.Root.Add(new MemoryFile("a b.mkv", [1]));

        Assert.Equal(["/x/", "/x/a%20b.mkv"], Hrefs(await server.SendAsync("PROPFIND /x/", "Depth: 1")));
        Assert.Equal(200, (await server.SendAsync("GET /x/a%20b.mkv")).Status);
    }

    private static List<string> Hrefs(RawAnswer answer) =>
        [.. XDocument.Parse(answer.Text).Root!.Elements(Dav + "response").Select(response => response.Element(Dav + "href")!.Value)];
}
