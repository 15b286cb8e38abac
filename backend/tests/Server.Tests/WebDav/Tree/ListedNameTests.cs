using System.Text;
using System.Xml.Linq;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>An uploaded file is listed in <c>/nzbs</c> under its exact name, and replaces only a file of that name.</summary>
public sealed class ListedNameTests(QueueFixture fixture) : IClassFixture<QueueFixture>
{
    private const string Wish = "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";

    private static readonly XNamespace Dav = "DAV:";

    private readonly TreeServer _server = fixture.Server;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Every kind of accepted name; the content of each matches its extension.</summary>
    public static TheoryData<string> Names { get; } =
    [
        "plain.nzb", "packed.nzb.gz", "packed.nzb.bz2", "packed.zip", "packed.gz.nzb", "UPPER.NZB", "UPPER.ZIP", "x{{pw1}}.nzb", "x{{pw2}}.nzb.gz",
        "x password=pw.nzb", new string('n', 251) + ".nzb", "a:b.nzb", "a?b.nzb", "a_b.nzb", ".leading.nzb", "..dots.nzb", " blank.nzb", "trailing .nzb",
        "trailing. .nzb", "CON.nzb", "aux.nzb.gz", "com1.zip", "tab\tbed.nzb", "esc\u001baped.nzb", "e\u0301.nzb", "\u202Ebidi.nzb", "\U0001F600.nzb",
        "%41.nzb", "a#b.nzb", "a;b=c.nzb", "x.nzb.nzb", "x (2).nzb", "{{only}}.nzb",
    ];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task Put_file_reads_back_with_the_same_bytes_and_length(string name)
    {
        var content = Content(name);
        var path = "/nzbs/tv/" + Uri.EscapeDataString(name);

        Assert.Equal(201, (await _server.SendBytesAsync("PUT " + path, content)).Status);
        await AssertShowsAsync(path, content);
        var before = await _server.SendAsync("HEAD " + path);
        Assert.Equal(204, (await _server.SendBytesAsync("PUT " + path, content)).Status);
        Assert.Equal((before["ETag"], before["Last-Modified"]), (await _server.SendAsync("HEAD " + path)) is var after ? (after["ETag"], after["Last-Modified"]) : default);

        var other = Content(name);
        Assert.Equal(204, (await _server.SendBytesAsync("PUT " + path, other)).Status);
        await AssertShowsAsync(path, other);
        Assert.Equal(204, (await _server.SendAsync("DELETE " + path)).Status);
        Assert.Equal(404, (await _server.SendAsync("HEAD " + path)).Status);
    }

    [Theory]
    [InlineData("a\u0001b.nzb", "a\tb.nzb")]
    [InlineData("x{{pw1}}.nzb", "x.nzb")]
    [InlineData("x{{pw1}}.nzb", "x{{pw2}}.nzb")]
    [InlineData("x.nzb.gz", "x.nzb")]
    [InlineData("x.zip", "x.nzb")]
    [InlineData("x.NZB", "x.nzb")]
    [InlineData("X.nzb", "x.nzb")]
    [InlineData("a:b.nzb", "a?b.nzb")]
    [InlineData("a:b.nzb", "a_b.nzb")]
    [InlineData("con.nzb", "_con.nzb")]
    public async Task Names_cleaned_to_the_same_release_stay_two_files(string first, string second)
    {
        await using var server = await TreeServer.StartAsync();
        await AssertKeptApartAsync(server, first, second);
    }

    [Fact]
    public async Task Names_sharing_their_first_240_bytes_stay_two_files()
    {
        await using var server = await TreeServer.StartAsync();
        await AssertKeptApartAsync(server, new string('n', 240) + "1.nzb", new string('n', 240) + "2.nzb");
    }

    [Fact]
    public async Task Name_over_255_bytes_is_refused_by_each_verb()
    {
        var longest = string.Concat(Enumerable.Repeat("\u00e9", 125)) + "x.nzb";
        var path = "/nzbs/software/" + Uri.EscapeDataString("x" + longest);
        Assert.Equal(255, Encoding.UTF8.GetByteCount(longest));

        Assert.Equal(201, (await _server.SendBytesAsync("PUT /nzbs/software/" + Uri.EscapeDataString(longest), NzbText.Of("a.mkv"))).Status);
        Assert.Equal(403, (await _server.SendBytesAsync("PUT " + path, NzbText.Of("a.mkv"))).Status);
        Assert.Equal(403, (await _server.PutAsync(path, "")).Status);
        Assert.Equal(403, (await _server.SendBodyAsync("LOCK " + path, Wish)).Status);
        Assert.Equal(403, (await _server.SendAsync("MOVE /nzbs/software/" + Uri.EscapeDataString(longest), "Destination: " + path)).Status);
        Assert.Equal(404, (await _server.SendAsync("HEAD " + path)).Status);
    }

    [Fact]
    public async Task Zip_is_listed_as_one_file_but_its_members_are_separate_items()
    {
        await using var server = await TreeServer.StartAsync();
        var zip = NzbText.Zip([.. Enumerable.Range(0, 5).Select(i => ($"d{i}/same.nzb", NzbText.Of($"{i}.mkv")))]);

        Assert.Equal(201, (await server.SendBytesAsync("PUT /nzbs/tv/five.zip", zip)).Status);

        Assert.Equal(["same", "same", "same", "same", "same"], await ReleasesAsync(server));
        Assert.Equal(["/nzbs/tv/", "/nzbs/tv/five.zip"], await ListAsync(server, "/nzbs/tv/"));
        Assert.Equal(zip, (await server.SendAsync("GET /nzbs/tv/five.zip")).Body);
        Assert.Equal(zip[10..20], (await server.SendAsync("GET /nzbs/tv/five.zip", "Range: bytes=10-19")).Body);
        Assert.Equal(204, (await server.SendBytesAsync("PUT /nzbs/tv/five.zip", zip)).Status);
        Assert.Equal(5, (await ReleasesAsync(server)).Count);

        Assert.Equal(204, (await server.SendAsync("DELETE /nzbs/tv/five.zip")).Status);
        Assert.Empty(await ReleasesAsync(server));
        Assert.Empty(server.BlobNames());
    }

    [Fact]
    public async Task Zip_of_1000_NZBs_gives_1000_items_and_one_file()
    {
        await using var server = await TreeServer.StartAsync();
        var zip = NzbText.Zip([.. Enumerable.Range(0, 1000).Select(i => ($"d{i}/same.nzb", NzbText.Of($"{i}.mkv")))]);

        Assert.Equal(201, (await server.SendBytesAsync("PUT /nzbs/tv/many.zip", zip)).Status);

        Assert.Equal(1000, (await ReleasesAsync(server)).Count);
        Assert.Equal(["/nzbs/tv/", "/nzbs/tv/many.zip"], await ListAsync(server, "/nzbs/tv/"));
        Assert.Equal(zip, (await server.SendAsync("GET /nzbs/tv/many.zip")).Body);
    }

    [Fact]
    public async Task Zip_is_listed_until_its_last_item_is_removed()
    {
        await using var server = await TreeServer.StartAsync();
        var zip = NzbText.Zip(("a.nzb", NzbText.Of("a.mkv")), ("b.nzb", NzbText.Of("b.mkv")));
        await server.SendBytesAsync("PUT /nzbs/tv/two.zip", zip);
        var items = await server.ItemsAsync();
        var removal = server.Services.GetRequiredService<QueueRemoval>();

        await removal.RemoveAsync([items[0].Id], Token);
        Assert.Equal(zip, (await server.SendAsync("GET /nzbs/tv/two.zip")).Body);
        await removal.RemoveAsync([items[1].Id], Token);

        Assert.Equal(404, (await server.SendAsync("GET /nzbs/tv/two.zip")).Status);
        Assert.Equal(["/nzbs/tv/"], await ListAsync(server, "/nzbs/tv/"));
        Assert.Empty(server.BlobNames());
    }

    [Fact]
    public async Task Replacing_a_zip_replaces_only_its_own_items()
    {
        await using var server = await TreeServer.StartAsync();
        await server.SendBytesAsync("PUT /nzbs/tv/other.nzb", NzbText.Of("o.mkv"));
        await server.SendBytesAsync("PUT /nzbs/tv/z.zip", NzbText.Zip(("a.nzb", NzbText.Of("a.mkv")), ("b.nzb", NzbText.Of("b.mkv"))));

        Assert.Equal(204, (await server.SendBytesAsync("PUT /nzbs/tv/z.zip", NzbText.Zip(("b.nzb", NzbText.Of("c.mkv"))))).Status);

        Assert.Equal(["b", "other"], await ReleasesAsync(server));
    }

    [Fact]
    public async Task Damaged_upload_replaces_nothing()
    {
        await using var server = await TreeServer.StartAsync();
        var sound = NzbText.Zip(("a.nzb", NzbText.Of("a.mkv")));
        await server.SendBytesAsync("PUT /nzbs/tv/a.zip", sound);

        Assert.Equal(204, (await server.SendBytesAsync("PUT /nzbs/tv/a.zip", sound[..(sound.Length / 2)])).Status);

        Assert.Equal(["a"], await ReleasesAsync(server));
        Assert.Equal(sound, (await server.SendAsync("GET /nzbs/tv/a.zip")).Body);
    }

    [Fact]
    public async Task Put_replaces_an_item_added_by_the_API()
    {
        await using var server = await TreeServer.StartAsync();
        var first = NzbText.Of("a.mkv");
        await server.AddFileAsync(NzbText.Gzip(first), "Some Release.nzb.gz", "cat=tv");

        Assert.Equal(first, (await server.SendAsync("GET /nzbs/tv/Some%20Release.nzb")).Body);
        Assert.Equal(204, (await server.SendBytesAsync("PUT /nzbs/tv/Some%20Release.nzb", NzbText.Of("b.mkv"))).Status);

        Assert.Equal(["Some Release"], await ReleasesAsync(server));
    }

    [Fact]
    public async Task Item_added_by_the_API_never_takes_the_name_of_a_file()
    {
        await using var server = await TreeServer.StartAsync();
        var put = NzbText.Of("put.mkv");
        var added = NzbText.Of("api.mkv");
        // The member of the zip has this name, but no file of its own in the folder.
        await server.SendBytesAsync("PUT /nzbs/tv/z.zip", NzbText.Zip(("x.nzb", NzbText.Of("member.mkv")), ("y.nzb", NzbText.Of("y.mkv"))));
        await server.SendBytesAsync("PUT /nzbs/tv/x.nzb", put);
        await server.SendAsync("DELETE /nzbs/tv/z.zip");

        await server.AddFileAsync(added, "x.nzb", "cat=tv");

        Assert.Equal(put, (await server.SendAsync("GET /nzbs/tv/x.nzb")).Body);
        Assert.Equal(added, (await server.SendAsync("GET /nzbs/tv/x%20(2).nzb")).Body);
        Assert.Equal(["x", "x"], await ReleasesAsync(server));
    }

    [Fact]
    public async Task Concurrent_puts_of_one_name_leave_one_item()
    {
        await using var server = await TreeServer.StartAsync();
        byte[][] bodies = [.. Enumerable.Range(0, 8).Select(i => NzbText.Of($"{i}.mkv"))];

        var answers = await Task.WhenAll(bodies.Select(body => server.SendBytesAsync("PUT /nzbs/tv/race.nzb", body)));

        Assert.All(answers, answer => Assert.InRange(answer.Status, 201, 204));
        Assert.Equal(["race"], await ReleasesAsync(server));
        Assert.Contains((await server.SendAsync("GET /nzbs/tv/race.nzb")).Body, bodies);
        Assert.Single(server.BlobNames());
    }

    [Fact]
    public async Task Only_one_of_many_concurrent_If_None_Match_puts_succeeds()
    {
        await using var server = await TreeServer.StartAsync();

        var answers = await Task.WhenAll(Enumerable.Range(0, 8).Select(i =>
            server.SendBytesAsync("PUT /nzbs/tv/once.nzb", NzbText.Of($"{i}.mkv"), "If-None-Match: *")));

        Assert.Equal([201, 412, 412, 412, 412, 412, 412, 412], answers.Select(answer => answer.Status).Order());
        Assert.Equal(["once"], await ReleasesAsync(server));
    }

    [Fact]
    public async Task Renamed_staged_upload_reads_back_under_its_new_name()
    {
        var content = NzbText.Bzip2(NzbText.Of("a.mkv"));
        Assert.Equal(201, (await _server.SendBytesAsync("PUT /nzbs/audio/Film.nzb.bz2.part", content)).Status);
        Assert.Equal(201, (await _server.SendAsync("MOVE /nzbs/audio/Film.nzb.bz2.part", "Destination: /nzbs/audio/Film.nzb.bz2")).Status);

        await AssertShowsAsync("/nzbs/audio/Film.nzb.bz2", content);
    }

    [Fact]
    public async Task Zip_password_applies_to_members_without_their_own()
    {
        await using var server = await TreeServer.StartAsync();
        await server.SendBytesAsync(
            "PUT /nzbs/tv/z%7B%7Bouter%7D%7D.zip", NzbText.Zip(("a.nzb", NzbText.Of("a.mkv")), ("b{{inner}}.nzb", NzbText.Of("b.mkv"))));

        Assert.Equal([("a", "outer"), ("b", "inner")], (await server.ItemsAsync()).Select(item => (item.Name, server.PasswordOf(item))));
    }

    private static async Task AssertKeptApartAsync(TreeServer server, string first, string second)
    {
        (var one, var two) = (Content(first), Content(second));
        Assert.Equal(201, (await server.SendBytesAsync("PUT /nzbs/tv/" + Uri.EscapeDataString(first), one)).Status);
        Assert.Equal(201, (await server.SendBytesAsync("PUT /nzbs/tv/" + Uri.EscapeDataString(second), two)).Status);

        Assert.Equal(2, (await server.ItemsAsync()).Count);
        Assert.Equal(one, (await server.SendAsync("GET /nzbs/tv/" + Uri.EscapeDataString(first))).Body);
        Assert.Equal(two, (await server.SendAsync("GET /nzbs/tv/" + Uri.EscapeDataString(second))).Body);
    }

    private async Task AssertShowsAsync(string path, byte[] content)
    {
        var get = await _server.SendAsync("GET " + path);
        Assert.Equal(200, get.Status);
        Assert.Equal(content, get.Body);
        var head = await _server.SendAsync("HEAD " + path);
        Assert.Equal((get["ETag"], content.Length.ToString(System.Globalization.CultureInfo.InvariantCulture)), (head["ETag"], head["Content-Length"]));
        Assert.Equal(content[3..9], (await _server.SendAsync("GET " + path, "Range: bytes=3-8")).Body);
        foreach (var listing in new[] { path, path[..(path.LastIndexOf('/') + 1)] })
        {
            var answer = await _server.SendAsync("PROPFIND " + listing, listing == path ? "Depth: 0" : "Depth: 1");
            var own = XDocument.Parse(answer.Text).Root!.Elements(Dav + "response").Single(response =>
                Normalize(response.Element(Dav + "href")!.Value) == Normalize(path));
            Assert.Equal(head["Content-Length"], own.Descendants(Dav + "getcontentlength").Single().Value);
            Assert.Equal(head["ETag"], own.Descendants(Dav + "getetag").Single().Value);
        }
    }

    private static string Normalize(string href) => Uri.UnescapeDataString(href).Normalize(NormalizationForm.FormC);

    private static byte[] Content(string name)
    {
        var nzb = NzbText.Of("a.mkv");
        return Path.GetExtension(name).ToUpperInvariant() switch
        {
            ".GZ" => NzbText.Gzip(nzb),
            ".BZ2" => NzbText.Bzip2(nzb),
            ".ZIP" => NzbText.Zip(("inside.nzb", nzb)),
            _ => nzb,
        };
    }

    private static async Task<List<string>> ReleasesAsync(TreeServer server) =>
        [.. (await server.ItemsAsync()).Select(item => item.Name).Order(StringComparer.Ordinal)];

    private static async Task<List<string>> ListAsync(TreeServer server, string path)
    {
        var answer = await server.SendAsync("PROPFIND " + path, "Depth: 1");
        return [.. XDocument.Parse(answer.Text).Root!.Elements(Dav + "response").Select(response => response.Element(Dav + "href")!.Value)];
    }
}
