using System.IO.Compression;
using System.Text;
using System.Xml.Linq;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>Uploads under temporary names over the wire: DAV-40b.</summary>
public sealed class StagedFileTests(QueueFixture fixture) : IClassFixture<QueueFixture>
{
    private const string Nzb = "<?xml version=\"1.0\"?><nzb xmlns=\"http://www.newzbin.com/DTD/2003/nzb\"/>";
    private const string Wish = "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";

    private readonly TreeServer _server = fixture.Server;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("a.nzb.part")]
    [InlineData("a.partial")]
    [InlineData("a.nzb.filepart")]
    [InlineData("a.tmp")]
    [InlineData("Unconfirmed 1.crdownload")]
    [InlineData("a.nzb~")]
    [InlineData("a.nzb.PART")]
    public async Task Staged_upload_becomes_an_item_when_renamed_to_nzb(string name)
    {
        var path = "/nzbs/tv/" + Uri.EscapeDataString(name);
        var text = Nzb + name;
        Assert.Equal(201, (await _server.PutAsync(path, "half")).Status);
        Assert.Equal(204, (await _server.PutAsync(path, text)).Status);
        Assert.Equal(text, (await _server.SendAsync("GET " + path)).Text);
        var part = await _server.SendAsync("GET " + path, "Range: bytes=5-9");
        Assert.Equal((206, text[5..10]), (part.Status, part.Text));
        Assert.Contains(path, await ListAsync("/nzbs/tv/"));
        Assert.Equal(0, await CountItemsAsync());

        Assert.Equal(201, (await _server.SendAsync("MOVE " + path, "Destination: /nzbs/movies/whole.nzb")).Status);

        Assert.Equal(text, (await _server.SendAsync("GET /nzbs/movies/whole.nzb")).Text);
        Assert.Equal(404, (await _server.SendAsync("GET " + path)).Status);
        Assert.Equal(404, (await _server.SendAsync("MOVE " + path, "Destination: /nzbs/movies/x.nzb")).Status);
        Assert.DoesNotContain(path, await ListAsync("/nzbs/tv/"));
        Assert.Equal(1, await CountItemsAsync());
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/movies/whole.nzb")).Status);
    }

    [Fact]
    public async Task Compressed_upload_stays_compressed_through_the_rename()
    {
        using var packed = new MemoryStream();
        await using (var gzip = new GZipStream(packed, CompressionLevel.Fastest, leaveOpen: true))
            await gzip.WriteAsync(Encoding.UTF8.GetBytes(Nzb), Token);

        Assert.Equal(201, (await _server.SendBytesAsync("PUT /nzbs/Film.part", packed.ToArray())).Status);
        Assert.Equal($"{packed.Length}", (await _server.SendAsync("HEAD /nzbs/uncategorized/Film.part"))["Content-Length"]);
        Assert.Equal(201, (await _server.SendAsync("MOVE /nzbs/Film.part", "Destination: /nzbs/Film.nzb.gz")).Status);

        Assert.Equal(packed.ToArray(), (await _server.SendAsync("GET /nzbs/Film.nzb.gz")).Body);
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/Film.nzb.gz")).Status);
    }

    [Fact]
    public async Task Target_is_replaced_unless_Overwrite_is_F()
    {
        await _server.PutAsync("/nzbs/audio/old.nzb", Nzb + "old");
        await _server.PutAsync("/nzbs/audio/new.part", Nzb + "new");

        Assert.Equal(412, (await _server.SendAsync("MOVE /nzbs/audio/new.part", "Destination: /nzbs/audio/old.nzb", "Overwrite: F")).Status);
        Assert.Equal(Nzb + "new", (await _server.SendAsync("GET /nzbs/audio/new.part")).Text);
        Assert.Equal(204, (await _server.SendAsync("MOVE /nzbs/audio/new.part", "Destination: /nzbs/audio/old.nzb")).Status);
        Assert.Equal(Nzb + "new", (await _server.SendAsync("GET /nzbs/audio/old.nzb")).Text);
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/audio/old.nzb")).Status);
    }

    [Theory]
    [InlineData("/nzbs/tv/stays.part2", 403)]
    [InlineData("/nzbs/tv/stays.tmp", 403)]
    [InlineData("/nzbs/tv/._stays.nzb", 403)]
    [InlineData("/nzbs/none/stays.nzb", 409)]
    [InlineData("/content/tv/stays.nzb", 403)]
    public async Task Refused_destination_leaves_the_upload_in_place(string destination, int status)
    {
        Assert.InRange((await _server.PutAsync("/nzbs/tv/stays.part", Nzb)).Status, 201, 204);

        Assert.Equal(status, (await _server.SendAsync("MOVE /nzbs/tv/stays.part", "Destination: " + destination)).Status);
        Assert.Equal(Nzb, (await _server.SendAsync("GET /nzbs/tv/stays.part")).Text);
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/tv/stays.part")).Status);
        Assert.Equal(404, (await _server.SendAsync("DELETE /nzbs/tv/stays.part")).Status);
    }

    [Fact]
    public async Task Staged_upload_is_refused_at_invalid_paths()
    {
        Assert.Equal(409, (await _server.PutAsync("/nzbs/none/a.part", Nzb)).Status);
        Assert.Equal(403, (await _server.PutAsync("/content/tv/a.part", Nzb)).Status);
        Assert.Equal(403, (await _server.PutAsync("/nzbs/tv/.part", Nzb)).Status);
        Assert.Equal(403, (await _server.PutAsync($"/nzbs/tv/{new string('a', 251)}.part", Nzb)).Status);
        Assert.Equal(412, (await _server.PutAsync("/nzbs/tv/b.part", Nzb, "If-Match: *")).Status);
        Assert.Equal(201, (await _server.PutAsync("/nzbs/tv/b.part", Nzb, "If-None-Match: *")).Status);
        Assert.Equal(412, (await _server.PutAsync("/nzbs/tv/b.part", "other", "If-None-Match: *")).Status);
        Assert.Equal(403, (await _server.SendAsync("COPY /nzbs/tv/b.part", "Destination: /nzbs/tv/b.nzb")).Status);
        Assert.Equal(Nzb, (await _server.SendAsync("GET /nzbs/tv/b.part")).Text);
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/tv/b.part")).Status);
    }

    [Fact]
    public async Task Write_or_move_of_a_locked_upload_needs_the_token()
    {
        var locked = await _server.SendBodyAsync("LOCK /nzbs/software/l.part", Wish);
        Assert.Equal(201, locked.Status);
        var held = $"If: ({locked["Lock-Token"]})";

        Assert.Equal(423, (await _server.PutAsync("/nzbs/software/l.part", Nzb)).Status);
        Assert.Equal(204, (await _server.PutAsync("/nzbs/software/l.part", Nzb, held)).Status);
        Assert.Equal(423, (await _server.SendAsync("MOVE /nzbs/software/l.part", "Destination: /nzbs/software/l.nzb")).Status);
        Assert.Equal(201, (await _server.SendAsync("MOVE /nzbs/software/l.part", "Destination: /nzbs/software/l.nzb", held)).Status);
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/software/l.nzb")).Status);
    }

    [Fact]
    public async Task Empty_upload_renamed_to_nzb_adds_no_item_yet()
    {
        Assert.Equal(201, (await _server.PutAsync("/nzbs/software/e.part", "")).Status);
        Assert.Equal(201, (await _server.SendAsync("MOVE /nzbs/software/e.part", "Destination: /nzbs/software/e.nzb")).Status);

        Assert.Equal(404, (await _server.SendAsync("HEAD /nzbs/software/e.part")).Status);
        Assert.Equal("0", (await _server.SendAsync("HEAD /nzbs/software/e.nzb"))["Content-Length"]);
        Assert.Equal(0, await CountItemsAsync());
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/software/e.nzb")).Status);
    }

    [Theory]
    [InlineData(1_048_576, 201)]
    [InlineData(1_048_577, 413)]
    public async Task Upload_above_the_size_limit_returns_413(int size, int status)
    {
        Assert.Equal(status, (await _server.PutAsync("/nzbs/movies/l1.part", new string('x', size))).Status);
        Assert.Equal(status == 413 ? 404 : 204, (await _server.SendAsync("DELETE /nzbs/movies/l1.part")).Status);
        Assert.Equal(status, (await _server.SendChunkedAsync("PUT /nzbs/movies/l2.part", new string('x', size))).Status);
        Assert.Equal(status == 413 ? 404 : 204, (await _server.SendAsync("DELETE /nzbs/movies/l2.part")).Status);
    }

    [Fact]
    public async Task Upload_refused_by_a_full_queue_stays_staged()
    {
        await using var server = await TreeServer.StartAsync(("SLUICE_CONFIG__QUEUE__MAX_ITEMS", "1"), ("MAX_REQUEST_BODY_SIZE", "1048576"));
        Assert.Equal(201, (await server.PutAsync("/nzbs/tv/a.nzb", Nzb)).Status);
        Assert.Equal(201, (await server.PutAsync("/nzbs/tv/b.part", Nzb + " ")).Status);

        Assert.Equal(507, (await server.SendAsync("MOVE /nzbs/tv/b.part", "Destination: /nzbs/tv/b.nzb")).Status);
        Assert.Equal(Nzb + " ", (await server.SendAsync("GET /nzbs/tv/b.part")).Text);
        Assert.Equal(204, (await server.SendAsync("DELETE /nzbs/tv/a.nzb")).Status);
        Assert.Equal(201, (await server.SendAsync("MOVE /nzbs/tv/b.part", "Destination: /nzbs/tv/b.nzb")).Status);

        string longest = new('x', 1_048_576);
        for (var i = 0; i < StagedUploads.MaxSizeFactor; i++)
            Assert.Equal(201, (await server.PutAsync($"/nzbs/tv/{i}.part", longest)).Status);
        Assert.Equal(507, (await server.PutAsync("/nzbs/tv/more.part", "x")).Status);
        Assert.Equal(longest, (await server.SendAsync("GET /nzbs/tv/0.part")).Text);
    }

    private async Task<int> CountItemsAsync() =>
        (await _server.Services.GetRequiredService<QueueStore>().GetTotalsAsync(new QueueFilter(), Token)).Items;

    private async Task<List<string>> ListAsync(string path)
    {
        var answer = await _server.SendAsync("PROPFIND " + path, "Depth: 1");
        return [.. XDocument.Parse(answer.Text).Descendants(XName.Get("href", "DAV:")).Select(href => href.Value)];
    }
}
