using System.Xml.Linq;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>MOVE, LOCK and PROPPATCH in <c>/nzbs</c>: DAV-45 to DAV-47.</summary>
public sealed class QueueVerbTests(QueueFixture fixture) : IClassFixture<QueueFixture>
{
    private const string Nzb = "<?xml version=\"1.0\"?><nzb xmlns=\"http://www.newzbin.com/DTD/2003/nzb\"/>";
    private const string Wish = "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";

    private readonly TreeServer _server = fixture.Server;

    [Theory]
    [InlineData("/nzbs/tv/renamed.nzb", "/nzbs/tv/renamed.nzb")]
    [InlineData("/nzbs/movies/moved.nzb", "/nzbs/movies/moved.nzb")]
    [InlineData("/nzbs/manual.nzb", "/nzbs/uncategorized/manual.nzb")]
    public async Task Moved_item_gets_the_new_name_or_category(string destination, string place)
    {
        var text = Nzb + destination;
        Assert.InRange((await _server.PutAsync("/nzbs/tv/old.nzb", text)).Status, 201, 204);

        Assert.Equal(201, (await _server.SendAsync("MOVE /nzbs/tv/old.nzb", "Destination: " + destination)).Status);
        Assert.Equal(404, (await _server.SendAsync("GET /nzbs/tv/old.nzb")).Status);
        Assert.Equal(text, (await _server.SendAsync("GET " + place)).Text);
    }

    [Fact]
    public async Task Target_is_replaced_unless_Overwrite_is_F()
    {
        await _server.PutAsync("/nzbs/tv/a.nzb", Nzb + "a");
        await _server.PutAsync("/nzbs/tv/b.nzb", Nzb + "b");

        Assert.Equal(412, (await _server.SendAsync("MOVE /nzbs/tv/a.nzb", "Destination: /nzbs/tv/b.nzb", "Overwrite: F")).Status);
        Assert.Equal(Nzb + "b", (await _server.SendAsync("GET /nzbs/tv/b.nzb")).Text);
        Assert.Equal(204, (await _server.SendAsync("MOVE /nzbs/tv/a.nzb", "Destination: /nzbs/tv/b.nzb")).Status);
        Assert.Equal(Nzb + "a", (await _server.SendAsync("GET /nzbs/tv/b.nzb")).Text);
        Assert.Equal(404, (await _server.SendAsync("GET /nzbs/tv/a.nzb")).Status);
    }

    [Theory]
    [InlineData("/nzbs/none/a.nzb", 409)]
    [InlineData("/nzbs/tv/deep/a.nzb", 409)]
    [InlineData("/nzbs/tv/a.mkv", 403)]
    [InlineData("/nzbs/tv/a.nzb.part", 403)]
    [InlineData("/nzbs/tv/._a.nzb", 403)]
    [InlineData("/nzbs/movies", 403)]
    [InlineData("/nzbs", 403)]
    [InlineData("/content/tv/a.nzb", 403)]
    [InlineData("/a.nzb", 403)]
    [InlineData("/settings", 403)]
    public async Task Refused_destination_leaves_the_item_in_place(string destination, int status)
    {
        await _server.PutAsync("/nzbs/tv/stays.nzb", Nzb);

        Assert.Equal(status, (await _server.SendAsync("MOVE /nzbs/tv/stays.nzb", "Destination: " + destination)).Status);
        Assert.Equal(Nzb, (await _server.SendAsync("GET /nzbs/tv/stays.nzb")).Text);
    }

    [Fact]
    public async Task Empty_file_can_be_moved_like_an_item()
    {
        await _server.PutAsync("/nzbs/audio/new.nzb", "");
        await _server.PutAsync("/nzbs/audio/old.nzb", Nzb);

        Assert.Equal(201, (await _server.SendAsync("MOVE /nzbs/audio/new.nzb", "Destination: /nzbs/tv/empty.nzb")).Status);
        Assert.Equal("0", (await _server.SendAsync("HEAD /nzbs/tv/empty.nzb"))["Content-Length"]);
        Assert.Equal(404, (await _server.SendAsync("HEAD /nzbs/audio/new.nzb")).Status);
        Assert.Equal(204, (await _server.SendAsync("MOVE /nzbs/tv/empty.nzb", "Destination: /nzbs/audio/old.nzb")).Status);
        Assert.Equal("0", (await _server.SendAsync("HEAD /nzbs/audio/old.nzb"))["Content-Length"]);
        Assert.Equal(404, (await _server.SendAsync("MOVE /nzbs/audio/gone.nzb", "Destination: /nzbs/audio/x.nzb")).Status);
    }

    [Fact]
    public async Task Lock_of_an_item_applies_under_both_paths()
    {
        var locked = await _server.SendBodyAsync("LOCK /nzbs/locked.nzb", Wish, "Timeout: Infinite");
        Assert.Equal(201, locked.Status);
        var token = locked["Lock-Token"]!;

        foreach (var path in new[] { "/nzbs/locked.nzb", "/nzbs/uncategorized/locked.nzb" })
        {
            Assert.Equal(423, (await _server.PutAsync(path, Nzb)).Status);
            Assert.Equal(423, (await _server.SendAsync("DELETE " + path)).Status);
            Assert.Equal(423, (await _server.SendAsync("MOVE " + path, "Destination: /nzbs/tv/x.nzb")).Status);
            Assert.Equal(423, (await _server.SendBodyAsync("LOCK " + path, Wish)).Status);
        }

        Assert.Equal(204, (await _server.PutAsync("/nzbs/uncategorized/locked.nzb", Nzb, $"If: ({token})")).Status);
        Assert.Equal(204, (await _server.SendAsync("UNLOCK /nzbs/uncategorized/locked.nzb", "Lock-Token: " + token)).Status);
        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/locked.nzb")).Status);
    }

    [Fact]
    public async Task Stored_properties_follow_a_move_and_are_removed_on_delete()
    {
        await _server.PutAsync("/nzbs/software/p.nzb", Nzb + "p");
        const string Update = "<propertyupdate xmlns='DAV:'><set><prop><p xmlns='urn:x'>\u00e9<q/></p></prop></set></propertyupdate>";
        var answer = await _server.SendBodyAsync("PROPPATCH /nzbs/software/p.nzb", Update);
        Assert.Equal(207, answer.Status);
        Assert.Contains("<D:status>HTTP/1.1 200 OK</D:status>", answer.Text, StringComparison.Ordinal);

        Assert.Equal("\u00e9", (await FindAsync("/nzbs/software/p.nzb"))?.Value);
        Assert.Contains("<R:p xmlns:R=\"urn:x\">", (await _server.SendAsync("PROPFIND /nzbs/software/", "Depth: 1")).Text, StringComparison.Ordinal);
        Assert.Equal(201, (await _server.SendAsync("MOVE /nzbs/software/p.nzb", "Destination: /nzbs/software/q.nzb")).Status);
        Assert.Equal("\u00e9", (await FindAsync("/nzbs/software/q.nzb"))?.Value);

        Assert.Equal(204, (await _server.SendAsync("DELETE /nzbs/software/q.nzb")).Status);
        Assert.Equal(201, (await _server.PutAsync("/nzbs/software/q.nzb", Nzb + "p")).Status);
        Assert.Null(await FindAsync("/nzbs/software/q.nzb"));
    }

    [Theory]
    [InlineData("/nzbs/tv/a%3Ab.nzb", "a_b", "")]
    [InlineData("/nzbs/tv/New%7B%7Bsecret%7D%7D.nzb", "New", "secret")]
    [InlineData("/nzbs/movies/Packed.nzb.gz", "Packed", "")]
    [InlineData("/nzbs/tv/New.NZB", "New", "")]
    public async Task Move_sets_the_listed_name_and_the_release_name(string destination, string release, string password)
    {
        await using var server = await TreeServer.StartAsync();
        var content = NzbText.Of("a.mkv");
        await server.SendBytesAsync("PUT /nzbs/tv/old.nzb", content);

        Assert.Equal(201, (await server.SendAsync("MOVE /nzbs/tv/old.nzb", "Destination: " + destination)).Status);

        Assert.Equal(404, (await server.SendAsync("HEAD /nzbs/tv/old.nzb")).Status);
        Assert.Equal(content, (await server.SendAsync("GET " + destination)).Body);
        var item = Assert.Single(await server.ItemsAsync());
        Assert.Equal((release, password), (item.Name, server.PasswordOf(item)));
    }

    [Fact]
    public async Task Moving_a_zip_moves_all_its_items_to_the_category()
    {
        await using var server = await TreeServer.StartAsync();
        await server.SendBytesAsync("PUT /nzbs/movies/a.nzb", NzbText.Of("there.mkv"));
        var zip = NzbText.Zip(("a.nzb", NzbText.Of("a.mkv")), ("b.nzb", NzbText.Of("b.mkv")));
        await server.SendBytesAsync("PUT /nzbs/tv/z.zip", zip);

        Assert.Equal(201, (await server.SendAsync("MOVE /nzbs/tv/z.zip", "Destination: /nzbs/movies/y.zip")).Status);

        Assert.Equal(zip, (await server.SendAsync("GET /nzbs/movies/y.zip")).Body);
        Assert.Equal(["movies/a", "movies/a", "movies/b"], (await server.ItemsAsync()).Select(item => $"{item.Folder}/{item.Name}").Order());
    }

    [Fact]
    public async Task Lock_condition_and_property_apply_to_the_listed_name()
    {
        await using var server = await TreeServer.StartAsync();
        const string Path = "/nzbs/tv/x%7B%7Bpw%7D%7D.nzb.gz";
        var locked = await server.SendBodyAsync("LOCK " + Path, Wish);
        Assert.Equal(201, locked.Status);
        var token = locked["Lock-Token"]!;
        var content = NzbText.Gzip(NzbText.Of("a.mkv"));

        Assert.Equal(201, (await server.SendBytesAsync("PUT /nzbs/tv/x.nzb", NzbText.Of("b.mkv"))).Status);
        Assert.Equal(423, (await server.SendBytesAsync("PUT " + Path, content)).Status);
        Assert.Equal(204, (await server.SendBytesAsync("PUT " + Path, content, $"If: ({token})")).Status);
        var tag = (await server.SendAsync("HEAD " + Path))["ETag"]!;
        Assert.Equal(412, (await server.SendBytesAsync("PUT " + Path, content, $"If: ({token} [\"other\"])")).Status);
        Assert.Equal(204, (await server.SendBytesAsync("PUT " + Path, content, $"If: ({token} [{tag}])")).Status);
        const string Update = "<propertyupdate xmlns='DAV:'><set><prop><p xmlns='urn:x'>v</p></prop></set></propertyupdate>";
        Assert.Contains("200 OK", (await server.SendBodyAsync("PROPPATCH " + Path, Update, $"If: ({token})")).Text, StringComparison.Ordinal);
        Assert.Contains("urn:x", (await server.SendAsync("PROPFIND " + Path, "Depth: 0")).Text, StringComparison.Ordinal);

        // RFC 4918, section 9.7.1: PUT replaces the bytes and keeps the properties of the name.
        Assert.Equal(204, (await server.SendBytesAsync("PUT " + Path, NzbText.Gzip(NzbText.Of("c.mkv")), $"If: ({token})")).Status);
        Assert.Contains("urn:x", (await server.SendAsync("PROPFIND " + Path, "Depth: 0")).Text, StringComparison.Ordinal);
        Assert.Equal(423, (await server.SendAsync("DELETE " + Path)).Status);
        Assert.Equal(204, (await server.SendAsync("DELETE " + Path, $"If: ({token})")).Status);
    }

    private async Task<XElement?> FindAsync(string path)
    {
        var answer = await _server.SendBodyAsync("PROPFIND " + path, "<propfind xmlns='DAV:'><prop><p xmlns='urn:x'/></prop></propfind>", "Depth: 0");
        var property = XDocument.Parse(answer.Text).Descendants(XName.Get("p", "urn:x")).Single();
        return property.Parent!.Parent!.Element(XName.Get("status", "DAV:"))!.Value.EndsWith("200 OK", StringComparison.Ordinal) ? property : null;
    }
}
