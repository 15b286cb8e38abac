using System.Xml.Linq;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Arr;
using Sluice.Server.History;
using Sluice.Server.Library;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary><c>/completed-symlinks</c> over the wire: DAV-10, DAV-42.</summary>
public sealed class LinkBranchTests(LinkFixture fixture) : IClassFixture<LinkFixture>
{
    private static readonly XNamespace Dav = "DAV:";

    private readonly TreeServer _server = fixture.Server;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Only_completed_releases_in_history_are_listed()
    {
        Assert.Equal(
            ["/completed-symlinks/", "/completed-symlinks/.probe/", "/completed-symlinks/audio/", "/completed-symlinks/movies/", "/completed-symlinks/music/", "/completed-symlinks/prowlarr/", "/completed-symlinks/readarr/", "/completed-symlinks/software/", "/completed-symlinks/tv/"],
            await ListAsync("/completed-symlinks/"));
        Assert.Contains("/completed-symlinks/tv/Rel/", await ListAsync("/completed-symlinks/tv/"));
        Assert.Equal(["/completed-symlinks/movies/"], await ListAsync("/completed-symlinks/movies/"));
        Assert.Equal(404, (await _server.SendAsync("HEAD /completed-symlinks/movies/Unlisted/a.mkv.rclonelink")).Status);
        Assert.Equal(200, (await _server.SendAsync("HEAD /content/movies/Unlisted/a.mkv")).Status);
    }

    [Fact]
    public async Task Links_are_listed_in_name_order()
    {
        Assert.Equal(
            [
                "/completed-symlinks/tv/Rel/", "/completed-symlinks/tv/Rel/a+b.mkv.rclonelink", "/completed-symlinks/tv/Rel/a.mkv.rclonelink",
                "/completed-symlinks/tv/Rel/b%20c.rclonelink", "/completed-symlinks/tv/Rel/b-.rclonelink", "/completed-symlinks/tv/Rel/b.rclonelink",
                "/completed-symlinks/tv/Rel/season%201/",
            ],
            await ListAsync("/completed-symlinks/tv/Rel/"));
    }

    [Fact]
    public async Task Link_contains_the_id_path_of_its_file()
    {
        var link = await _server.SendAsync("GET /completed-symlinks/tv/Rel/season%201/c.mkv.rclonelink");
        var entry = await _server.Services.GetRequiredService<LibraryTree>().FindAsync(["tv", "Rel", "season 1", "c.mkv"], Token);
        var id = Assert.IsType<FileEntry>(entry).File.Id;
        var name = id.ToString("D");

        Assert.Equal($"/mnt/media/.ids/{name[0]}/{name[1]}/{name[2]}/{name[3]}/{name[4]}/{name}", link.Text);
        Assert.Equal("application/octet-stream", link["Content-Type"]);
        Assert.Equal("Sat, 03 Jan 2026 10:00:00 GMT", link["Last-Modified"]);
        Assert.Equal(200, (await _server.SendAsync("HEAD " + link.Text["/mnt/media".Length..])).Status);
        Assert.Equal(link.Text[5..10], (await _server.SendAsync("GET /completed-symlinks/tv/Rel/season%201/c.mkv.rclonelink", "Range: bytes=5-9")).Text);
    }

    [Fact]
    public async Task Probe_link_leads_to_the_README_and_cannot_be_deleted()
    {
        const string Link = $"/{PathDoctor.ProbePath}{PathDoctor.LinkText}";
        Assert.Equal(["/completed-symlinks/.probe/", Link], await ListAsync("/completed-symlinks/.probe/"));

        var target = (await _server.SendAsync("GET " + Link)).Text;
        Assert.Equal($"/mnt/media/{PathDoctor.ProbeTarget}", target);
        Assert.StartsWith("This is Sluice.", (await _server.SendAsync("GET " + target["/mnt/media".Length..])).Text, StringComparison.Ordinal);
        foreach (var path in new[] { Link, "/completed-symlinks/.probe", "/completed-symlinks/.probe/new" })
            Assert.Equal(path.EndsWith("new", StringComparison.Ordinal) ? 404 : 403, (await _server.SendAsync("DELETE " + path)).Status);
        Assert.Equal(403, (await _server.SendAsync("PUT /completed-symlinks/.probe/new", "Content-Length: 0")).Status);
        Assert.Equal(200, (await _server.SendAsync("HEAD " + Link)).Status);
    }

    [Theory]
    [InlineData("/completed-symlinks/.probe/probe.mkv")]
    [InlineData("/completed-symlinks/.probe/none/probe.mkv.rclonelink")]
    [InlineData("/completed-symlinks/tv/Rel/a.mkv")]
    [InlineData("/completed-symlinks/tv/Rel/.rclonelink")]
    [InlineData("/completed-symlinks/tv/Rel/season%201.rclonelink")]
    [InlineData("/completed-symlinks/tv/Rel.rclonelink")]
    [InlineData("/completed-symlinks/tv.rclonelink")]
    [InlineData("/completed-symlinks/none")]
    [InlineData("/completed-symlinks/demo")]
    public async Task Unknown_link_names_return_404(string path)
    {
        foreach (var verb in new[] { "HEAD", "PROPFIND", "DELETE" })
            Assert.Equal($"{verb} 404", $"{verb} {(await _server.SendAsync($"{verb} {path}", "Depth: 0")).Status}");
    }

    [Theory]
    [InlineData("/completed-symlinks", "207 405 403 403")]
    [InlineData("/completed-symlinks/tv", "207 405 403 403")]
    [InlineData("/completed-symlinks/tv/Rel", "207 405 403 -")]
    [InlineData("/completed-symlinks/tv/Rel/season%201", "207 405 403 -")]
    [InlineData("/completed-symlinks/tv/Rel/a.mkv.rclonelink", "207 200 403 -")]
    [InlineData("/completed-symlinks/tv/Rel/none.mkv.rclonelink", "404 404 403 404")]
    [InlineData("/.ids", "207 405 403 403")]
    [InlineData("/.ids/a", "207 405 403 403")]
    [InlineData("/.ids/a/b/c/d/e/none", "404 404 403 404")]
    public async Task Each_path_and_verb_returns_the_documented_status(string path, string expected)
    {
        string[] verbs = ["PROPFIND", "HEAD", "PUT", "DELETE"];
        foreach ((var verb, var status) in verbs.Zip(expected.Split(' ')).Where(pair => pair.Second != "-"))
            Assert.Equal($"{verb} {status}", $"{verb} {(await _server.SendAsync($"{verb} {path}", "Depth: 0", "Content-Length: 0")).Status}");
    }

    [Fact]
    public async Task Deleted_link_is_hidden_and_its_file_stays()
    {
        await _server.PublishCompletedAsync("audio", "Moved", "a.mkv", "b.mkv", "dir/c.mkv");
        const string folder = "/completed-symlinks/audio/Moved/";

        for (var i = 0; i < 3; i++)
            Assert.Equal(204, (await _server.SendAsync($"DELETE {folder}a.mkv.rclonelink")).Status);
        foreach (var verb in new[] { "GET", "HEAD", "PROPFIND" })
            Assert.Equal(404, (await _server.SendAsync($"{verb} {folder}a.mkv.rclonelink")).Status);
        Assert.Equal([folder, folder + "b.mkv.rclonelink", folder + "dir/"], await ListAsync(folder));
        Assert.Equal(204, (await _server.SendAsync($"DELETE {folder}dir")).Status);
        Assert.Equal(404, (await _server.SendAsync($"PROPFIND {folder}dir/")).Status);
        Assert.Equal(404, (await _server.SendAsync($"HEAD {folder}dir/c.mkv.rclonelink")).Status);
        Assert.Equal([folder, folder + "b.mkv.rclonelink"], await ListAsync(folder));
        Assert.Equal(200, (await _server.SendAsync("HEAD /content/audio/Moved/a.mkv")).Status);
    }

    [Fact]
    public async Task Release_deleted_from_history_keeps_its_files()
    {
        await _server.PublishCompletedAsync("software", "Imported", "a.mkv");
        var history = _server.Services.GetRequiredService<HistoryStore>();
        var target = (await _server.SendAsync("GET /completed-symlinks/software/Imported/a.mkv.rclonelink")).Text["/mnt/media".Length..];
        var changes = await history.CountChangesAsync(Token);

        Assert.Equal(204, (await _server.SendAsync("DELETE /completed-symlinks/software/Imported")).Status);

        Assert.Equal(404, (await _server.SendAsync("DELETE /completed-symlinks/software/Imported")).Status);
        Assert.Equal(["/completed-symlinks/software/"], await ListAsync("/completed-symlinks/software/"));
        Assert.Equal(0, (await history.FindPageAsync(new HistoryFilter { Search = "Imported" }, 0, 1, Token)).Matches);
        Assert.Equal(changes + 1, await history.CountChangesAsync(Token));
        Assert.Equal(200, (await _server.SendAsync("HEAD /content/software/Imported/a.mkv")).Status);
        Assert.Equal(200, (await _server.SendAsync("HEAD " + target)).Status);
    }

    private async Task<List<string>> ListAsync(string path)
    {
        var answer = await _server.SendAsync("PROPFIND " + path, "Depth: 1");
        return [.. XDocument.Parse(answer.Text).Root!.Elements(Dav + "response").Select(response => response.Element(Dav + "href")!.Value)];
    }
}
