using System.Xml.Linq;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Library;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary><c>/.ids</c> over the wire: DAV-11.</summary>
public sealed class IdBranchTests(TreeFixture fixture) : IClassFixture<TreeFixture>
{
    private static readonly XNamespace Dav = "DAV:";

    private readonly TreeServer _server = fixture.Server;

    [Fact]
    public async Task File_by_id_has_the_headers_of_its_path_in_content()
    {
        var path = "/" + await IdPathAsync("tv", "R\u00e9l", "season 1", "b.mkv");

        var byName = await _server.SendAsync("HEAD /content/tv/R%C3%A9l/season%201/b.mkv");
        var byId = await _server.SendAsync("HEAD " + path);

        Assert.Equal(200, byId.Status);
        Assert.Null(byName["Content-Disposition"]);
        Assert.Equal("inline; filename=b.mkv; filename*=UTF-8''b.mkv", byId["Content-Disposition"]);
        Assert.Equal(Comparable(byName), Comparable(byId));
    }

    [Fact]
    public async Task Clip_has_the_same_bytes_under_its_id()
    {
        var name = Hrefs(await _server.SendAsync("PROPFIND /content/demo/", "Depth: 1"))[1];
        var path = "/" + IdPath.Of(_server.Services.GetRequiredService<BuiltInClip>().File.Id);

        var byName = await _server.SendAsync("GET " + name, "Range: bytes=1000-200000");
        var byId = await _server.SendAsync("GET " + path, "Range: bytes=1000-200000");

        Assert.Equal(206, byId.Status);
        Assert.Equal("video/mp4", byId["Content-Type"]);
        Assert.Equal(byName.Body, byId.Body);
        Assert.Equal(byName["ETag"], byId["ETag"]);
    }

    [Fact]
    public async Task Each_id_level_lists_hex_digits_and_the_last_lists_files()
    {
        var path = await IdPathAsync("tv", "Rel", "b.mkv");
        var folder = "/" + path[..path.LastIndexOf('/')] + "/";

        foreach (var level in new[] { "/.ids/", "/.ids/0/", "/.ids/f/e/d/c/" })
        {
            Assert.Equal(
                ["", .. "0123456789abcdef".Select(digit => digit + "/")],
                Hrefs(await _server.SendAsync("PROPFIND " + level, "Depth: 1")).Select(href => href[level.Length..]));
        }

        var files = await _server.SendAsync("PROPFIND " + folder, "Depth: 1");
        Assert.Contains("/" + path, Hrefs(files));
        var file = XDocument.Parse(files.Text).Descendants(Dav + "response")
            .Single(response => response.Element(Dav + "href")!.Value == "/" + path);
        Assert.Equal(path[(path.LastIndexOf('/') + 1)..], file.Descendants(Dav + "displayname").Single().Value);
        Assert.Equal("1000", file.Descendants(Dav + "getcontentlength").Single().Value);
        Assert.Equal("video/x-matroska", file.Descendants(Dav + "getcontenttype").Single().Value);
    }

    [Fact]
    public async Task Only_the_canonical_id_path_is_found()
    {
        var path = await IdPathAsync("tv", "Rel", "b.mkv");
        var name = path[(path.LastIndexOf('/') + 1)..];
        var other = name[4] == '0' ? '1' : '0';

        Assert.Equal(200, (await _server.SendAsync("HEAD /" + path)).Status);
        foreach (var wrong in new[]
        {
            "/.ids/" + name, path.Replace('-', '_'), path.Replace("-", "", StringComparison.Ordinal), path + ".mkv", path + "/",
            $"/.ids/{name[0]}/{name[1]}/{name[2]}/{name[3]}/{other}/{name}", "/.ids/g", "/.ids/00", "/.ids/A", "/.ids/a/b/c/d/e/0",
            IdPath.Of(Guid.Empty),
        })
        {
            Assert.Equal($"404 {wrong}", $"{(await _server.SendAsync("HEAD /" + wrong.TrimStart('/'))).Status} {wrong}");
        }
    }

    private async Task<string> IdPathAsync(params string[] names)
    {
        var tree = _server.Services.GetRequiredService<LibraryTree>();
        var entry = await tree.FindAsync(names, TestContext.Current.CancellationToken);
        return IdPath.Of(Assert.IsType<FileEntry>(entry).File.Id);
    }

    private static IEnumerable<(string, string)> Comparable(RawAnswer answer) =>
        answer.Headers.Where(header => header.Name is not ("Date" or "Content-Disposition")).Order();

    private static List<string> Hrefs(RawAnswer answer) =>
        [.. XDocument.Parse(answer.Text).Root!.Elements(Dav + "response").Select(response => response.Element(Dav + "href")!.Value)];
}
