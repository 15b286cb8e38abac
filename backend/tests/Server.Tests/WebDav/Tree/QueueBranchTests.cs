using System.IO.Compression;
using System.Text;
using System.Xml.Linq;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary><c>/nzbs</c> over the wire: DAV-40 to DAV-43.</summary>
public sealed class QueueBranchTests(QueueFixture fixture) : IClassFixture<QueueFixture>
{
    private const string Nzb = "<?xml version=\"1.0\"?><nzb xmlns=\"http://www.newzbin.com/DTD/2003/nzb\"/>";

    private static readonly XNamespace Dav = "DAV:";

    private readonly TreeServer _server = fixture.Server;

    [Fact]
    public async Task Item_can_be_put_read_replaced_and_deleted()
    {
        Assert.Equal(201, (await _server.PutAsync("/nzbs/tv/Show%20%231.nzb", Nzb)).Status);
        var first = await _server.SendAsync("GET /nzbs/tv/Show%20%231.nzb");
        Assert.Equal(Nzb, first.Text);
        Assert.Equal("application/x-nzb", first["Content-Type"]);
        Assert.Equal(Nzb[10..20], (await _server.SendAsync("GET /nzbs/tv/Show%20%231.nzb", "Range: bytes=10-19")).Text);

        Assert.Equal(204, (await _server.PutAsync("/nzbs/tv/Show%20%231.nzb", Nzb)).Status);
        Assert.Equal(first["ETag"], (await _server.SendAsync("HEAD /nzbs/tv/Show%20%231.nzb"))["ETag"]);
        Assert.Equal(204, (await _server.PutAsync("/nzbs/tv/Show%20%231.nzb", Nzb + "\n")).Status);
        var second = await _server.SendAsync("GET /nzbs/tv/Show%20%231.nzb");
        Assert.Equal(Nzb + "\n", second.Text);
        Assert.NotEqual(first["ETag"], second["ETag"]);
        Assert.Equal(["/nzbs/tv/", "/nzbs/tv/Show%20%231.nzb"], await ListAsync("/nzbs/tv/"));

        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/tv/Show%20%231.nzb")).Status);
        Assert.Equal(404, (await _server.SendAsync("DELETE /nzbs/tv/Show%20%231.nzb")).Status);
        Assert.Equal(404, (await _server.SendAsync("GET /nzbs/tv/Show%20%231.nzb")).Status);
        Assert.Equal(["/nzbs/tv/"], await ListAsync("/nzbs/tv/"));
    }

    [Fact]
    public async Task Compressed_item_reads_back_compressed()
    {
        using var packed = new MemoryStream();
        await using (var gzip = new GZipStream(packed, CompressionLevel.Fastest, leaveOpen: true))
            await gzip.WriteAsync(Encoding.UTF8.GetBytes(Nzb), TestContext.Current.CancellationToken);

        Assert.Equal(201, (await _server.SendBytesAsync("PUT /nzbs/movies/Film.nzb.gz", packed.ToArray())).Status);
        Assert.Equal(packed.ToArray(), (await _server.SendAsync("GET /nzbs/movies/Film.nzb.gz")).Body);
        Assert.Equal(404, (await _server.SendAsync("GET /nzbs/movies/Film.nzb")).Status);
    }

    [Fact]
    public async Task Item_put_without_a_category_becomes_uncategorized()
    {
        Assert.Equal(201, (await _server.PutAsync("/nzbs/a.nzb", Nzb)).Status);
        Assert.Equal(Nzb, (await _server.SendAsync("GET /nzbs/uncategorized/a.nzb")).Text);
        Assert.Equal(Nzb, (await _server.SendAsync("GET /nzbs/a.nzb")).Text);
        Assert.Contains("/nzbs/uncategorized/", await ListAsync("/nzbs/"));
        Assert.Equal(204, (await _server.PutAsync("/nzbs/uncategorized/a.nzb", Nzb)).Status);
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/a.nzb")).Status);
        Assert.Equal(404, (await _server.SendAsync("GET /nzbs/uncategorized/a.nzb")).Status);
    }

    [Fact]
    public async Task Configured_categories_are_listed_even_if_empty()
    {
        var folders = await ListAsync("/nzbs/");

        Assert.Equal(folders.Order(StringComparer.Ordinal), folders);
        Assert.Superset(new HashSet<string> { "/nzbs/", "/nzbs/audio/", "/nzbs/movies/", "/nzbs/software/", "/nzbs/tv/" }, folders.ToHashSet());
    }

    [Fact]
    public async Task Items_are_listed_in_name_order()
    {
        foreach (var name in new[] { "a", "a b", "a-1", "a.x", "B" })
            Assert.Equal(201, (await _server.PutAsync($"/nzbs/audio/{Uri.EscapeDataString(name)}.nzb", Nzb + name)).Status);
        Assert.Equal(201, (await _server.PutAsync("/nzbs/audio/a+.nzb", "")).Status);

        Assert.Equal(
            ["/nzbs/audio/", "/nzbs/audio/B.nzb", "/nzbs/audio/a%20b.nzb", "/nzbs/audio/a+.nzb", "/nzbs/audio/a-1.nzb", "/nzbs/audio/a.nzb", "/nzbs/audio/a.x.nzb"],
            await ListAsync("/nzbs/audio/"));
    }

    [Theory]
    [InlineData("/nzbs/none/a.nzb", 409)]
    [InlineData("/nzbs/demo/a.nzb", 409)]
    [InlineData("/nzbs/TV/a.nzb", 409)]
    [InlineData("/nzbs/tv/deep/a.nzb", 409)]
    [InlineData("/nzbs/tv/a.mkv", 403)]
    [InlineData("/nzbs/tv/.nzb", 403)]
    [InlineData("/nzbs/none/._a.nzb", 409)]
    [InlineData("/content/tv/._a.nzb", 403)]
    [InlineData("/nzbs/tv/a.nzb/", 403)]
    [InlineData("/nzbs/a.mkv", 405)]
    public async Task Upload_with_a_bad_name_or_folder_is_refused(string path, int status) =>
        Assert.Equal(status, (await _server.PutAsync(path, Nzb)).Status);

    [Theory]
    [InlineData("Content-Range: bytes 0-9/100", 400)]
    [InlineData("If-None-Match: *", 412)]
    [InlineData("If-Match: \"other\"", 412)]
    public async Task Failed_condition_leaves_an_item_unchanged(string header, int status)
    {
        Assert.InRange((await _server.PutAsync("/nzbs/movies/kept.nzb", Nzb)).Status, 201, 204);

        Assert.Equal(status, (await _server.PutAsync("/nzbs/movies/kept.nzb", "other", header)).Status);
        Assert.Equal(Nzb, (await _server.SendAsync("GET /nzbs/movies/kept.nzb")).Text);
    }

    [Theory]
    [InlineData(1_048_576, 201)]
    [InlineData(1_048_577, 413)]
    public async Task Upload_above_the_size_limit_returns_413(int size, int status)
    {
        var body = Nzb + new string(' ', size - Nzb.Length);

        Assert.Equal(status, (await _server.PutAsync("/nzbs/movies/large1.nzb", body)).Status);
        Assert.Equal(status, (await _server.SendChunkedAsync("PUT /nzbs/movies/large2.nzb", body)).Status);
    }

    [Fact]
    public async Task Desktop_metadata_files_can_be_put_but_are_never_listed()
    {
        var before = await ListAsync("/nzbs/movies/");
        foreach (var path in new[] { "/nzbs/movies/._a.nzb", "/nzbs/movies/.DS_Store", "/nzbs/.DS_Store" })
        {
            Assert.Equal(404, (await _server.SendAsync("GET " + path)).Status);
            Assert.Equal(201, (await _server.PutAsync(path, "mine")).Status);
            Assert.Equal(204, (await _server.PutAsync(path, "still mine")).Status);
            Assert.Equal("still mine", (await _server.SendAsync("GET " + path)).Text);
            Assert.Equal(207, (await _server.SendAsync("PROPFIND " + path, "Depth: 0")).Status);
            Assert.Equal(before, await ListAsync("/nzbs/movies/"));
            Assert.Equal(204, (await _server.SendAsync("DELETE " + path)).Status);
            Assert.Equal(404, (await _server.SendAsync("DELETE " + path)).Status);
        }

        Assert.Equal(413, (await _server.PutAsync("/nzbs/movies/._a.nzb", new string('x', 65_537))).Status);
        Assert.Equal(404, (await _server.SendAsync("GET /content/movies/.DS_Store")).Status);
    }

    [Fact]
    public async Task Full_queue_returns_507()
    {
        await using var server = await TreeServer.StartAsync(("SLUICE_CONFIG__QUEUE__MAX_ITEMS", "1"));

        Assert.Equal(201, (await server.PutAsync("/nzbs/tv/a.nzb", Nzb)).Status);
        Assert.Equal(507, (await server.PutAsync("/nzbs/tv/b.nzb", Nzb + " ")).Status);
    }

    [Fact]
    public async Task Empty_upload_is_listed_until_its_content_arrives()
    {
        Assert.Equal(201, (await _server.PutAsync("/nzbs/software/a.nzb", "")).Status);
        Assert.Equal(201, (await _server.SendChunkedAsync("PUT /nzbs/software/b.nzb", "")).Status);
        Assert.Equal("0", (await _server.SendAsync("HEAD /nzbs/software/a.nzb"))["Content-Length"]);
        Assert.Equal(200, (await _server.SendAsync("GET /nzbs/software/a.nzb")).Status);
        Assert.Equal(["/nzbs/software/", "/nzbs/software/a.nzb", "/nzbs/software/b.nzb"], await ListAsync("/nzbs/software/"));

        Assert.Equal(204, (await _server.PutAsync("/nzbs/software/a.nzb", Nzb)).Status);
        Assert.Equal(Nzb, (await _server.SendAsync("GET /nzbs/software/a.nzb")).Text);
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/software/b.nzb")).Status);
        Assert.Equal(["/nzbs/software/", "/nzbs/software/a.nzb"], await ListAsync("/nzbs/software/"));
    }

    private async Task<List<string>> ListAsync(string path)
    {
        var answer = await _server.SendAsync("PROPFIND " + path, "Depth: 1");
        return [.. XDocument.Parse(answer.Text).Root!.Elements(Dav + "response").Select(response => response.Element(Dav + "href")!.Value)];
    }
}
