using System.Globalization;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>The tree as rclone sees it: the rules of 1.74 for listings, and of 1.70.3 for links (section 9 of the WebDAV contract).</summary>
public sealed class RcloneRuleTests(LinkFixture fixture) : IClassFixture<LinkFixture>
{
    private const string LinkSuffix = ".rclonelink";

    private readonly TreeServer _server = fixture.Server;

    [Theory]
    [InlineData("", ".health .ids/ README completed-symlinks/ content/ nzbs/")]
    [InlineData("content/", "audio/ demo/ movies/ music/ prowlarr/ readarr/ software/ tv/")]
    [InlineData("content/movies/", "Unlisted/")]
    [InlineData("content/software/", "")]
    [InlineData("nzbs/", "audio/ movies/ music/ prowlarr/ readarr/ software/ tv/")]
    [InlineData(".ids/", "0/ 1/ 2/ 3/ 4/ 5/ 6/ 7/ 8/ 9/ a/ b/ c/ d/ e/ f/")]
    [InlineData("completed-symlinks/.probe/", "probe.mkv.rclonelink")]
    [InlineData("completed-symlinks/tv/", "Rel/")]
    public async Task Listing_is_the_same_with_and_without_a_PROPFIND_body(string folder, string expected)
    {
        foreach (var body in new[] { "", RcloneListing.StandardProperties })
        {
            var entries = await ListAsync(folder, body);
            Assert.Equal(expected, string.Join(' ', entries.Select(entry => entry.Name + (entry.IsFolder ? "/" : ""))));
        }
    }

    [Fact]
    public async Task Unusual_names_keep_their_size_and_time()
    {
        string[] expected = ["%41.mkv", "+ & =.mkv", "[x] #1 100%?.mkv", "a;b,c@d!$'()*.mkv", "dot..", "\u00e9\U0001F3AC <\">.mkv"];
        foreach (var body in new[] { "", RcloneListing.StandardProperties })
        {
            var entries = await ListAsync("content/audio/" + Uri.EscapeDataString(LinkFixture.OddRelease) + "/", body);

            Assert.Equal(expected, entries.Select(entry => entry.Name));
            Assert.All(entries, entry => Assert.Equal((false, 1000L, TreeServer.Published), (entry.IsFolder, entry.Size, entry.Modified)));
        }
    }

    [Fact]
    public async Task Single_file_is_found_by_its_own_PROPFIND()
    {
        foreach (var body in new[] { "", RcloneListing.StandardProperties })
        {
            var answer = await _server.SendBodyAsync("PROPFIND /content/tv/Rel/a.mkv", body, "Depth: 1");
            Assert.Equal(new RcloneEntry("a.mkv", false, 1000, TreeServer.Published), RcloneListing.ReadFile("a.mkv", answer.Text));
            var folder = await _server.SendBodyAsync("PROPFIND /content/tv/Rel", body, "Depth: 1");
            Assert.Null(RcloneListing.ReadFile("Rel", folder.Text));
        }
    }

    /// <summary>With <c>--links</c>, rclone shows a file with the suffix as a symbolic link, and its text as the target.</summary>
    [Fact]
    public async Task Link_targets_exist_in_the_mount()
    {
        const string Folder = "completed-symlinks/tv/Rel/";
        var entries = (await ListAsync(Folder, RcloneListing.StandardProperties)).Where(entry => !entry.IsFolder).ToList();

        Assert.Equal(5, entries.Count);
        foreach (var entry in entries)
        {
            Assert.EndsWith(LinkSuffix, entry.Name, StringComparison.Ordinal);
            var target = await _server.SendAsync($"GET /{Folder}{Uri.EscapeDataString(entry.Name)}");
            // rclone reads the listed number of bytes, and the kernel rejects a target of another length or with a line end.
            Assert.Equal(entry.Size, target.Length);
            Assert.Matches("^/mnt/media/\\.ids(/[0-9a-f]){5}/[0-9a-f-]{36}$", target.Text);

            var path = target.Text["/mnt/media/".Length..];
            var name = path[(path.LastIndexOf('/') + 1)..];
            var found = Assert.Single(await ListAsync(path[..^name.Length], RcloneListing.StandardProperties));
            Assert.Equal((name, false, 1000L), (found.Name, found.IsFolder, found.Size));
        }
    }

    /// <summary>The reader of these tests must ignore the same entries as rclone, or the tests would verify nothing.</summary>
    [Theory]
    [InlineData("/x/a.mkv", "200 OK", "404 Not Found", "a.mkv 0")]
    [InlineData("/x/a.mkv", "404 Not Found", "200 OK", "")]
    [InlineData("http://other/x/a.mkv", "200 OK", null, "")]
    [InlineData("http://host/x/a.mkv", "200 OK", null, "a.mkv 5")]
    [InlineData("/y/a.mkv", "200 OK", null, "")]
    [InlineData("a.mkv", "200 OK", null, "a.mkv 5")]
    public void Test_reader_ignores_the_same_entries_as_rclone(string href, string first, string? second, string expected)
    {
        static string Stat(string? status, string length) => status is null ? ""
            : $"<D:propstat><D:prop><D:getcontentlength>{length}</D:getcontentlength></D:prop><D:status>HTTP/1.1 {status}</D:status></D:propstat>";
        var answer = $"<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>{href}</D:href>{Stat(first, "5")}{Stat(second, "")}</D:response></D:multistatus>";

        var entries = RcloneListing.Read(new Uri("http://host/x/"), answer);

        Assert.Equal(expected, string.Join(' ', entries.Select(entry => string.Create(CultureInfo.InvariantCulture, $"{entry.Name} {entry.Size}"))));
    }

    private async Task<IReadOnlyList<RcloneEntry>> ListAsync(string folder, string body)
    {
        var answer = await _server.SendBodyAsync($"PROPFIND /{folder}", body, "Depth: 1");
        Assert.Equal(207, answer.Status);
        return RcloneListing.Read(new Uri(_server.Address, "/" + folder), answer.Text);
    }
}
