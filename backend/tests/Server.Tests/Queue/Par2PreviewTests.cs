using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Xml.Linq;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>PAR2 files in the tree: DAV-12 and IMP-70.</summary>
public sealed class Par2PreviewTests : IDisposable
{
    private const string Setting = "webdav.preview-par2-files";

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task PAR2_Files_are_listed_only_while_the_setting_is_on()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        host.Client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
            "Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        var release = new MockRelease(
            "rel", 11, [.. new[] { "film.mkv", "film.par2", "film.vol00+01.PAR2" }.Select(name => new MockFile { Name = name, Size = 50_000, ArticleSize = 20_000 })]);
        await SetAsync(host, "true");

        await host.WaitForHistoryAsync((await host.AddAsync(release.ToNzb(), "Rel.nzb", Token, "&cat=tv"))[0], Token);

        var index = Assert.IsType<FileEntry>(await host.Get<LibraryTree>().FindAsync(["tv", "Rel", "film.par2"], Token)).File;
        var id = index.Id.ToString("D");
        var byId = $".ids/{id[0]}/{id[1]}/{id[2]}/{id[3]}/{id[4]}";
        var bytes = new byte[50_000];
        release.Fill(1, 0, bytes);
        Assert.Equal(bytes, await host.Client.GetByteArrayAsync(new Uri("content/tv/Rel/film.par2", UriKind.Relative), Token));
        Assert.Equal(["film.mkv", "film.par2", "film.vol00+01.PAR2"], await ListAsync(host, "content/tv/Rel/"));
        Assert.Equal(
            ["film.mkv.rclonelink", "film.par2.rclonelink", "film.vol00+01.PAR2.rclonelink"], await ListAsync(host, "completed-symlinks/tv/Rel/"));
        Assert.Contains(id, await ListAsync(host, byId + "/"));

        await SetAsync(host, "false");

        foreach (var path in new[] { "content/tv/Rel/film.par2", "content/tv/Rel/film.vol00+01.PAR2", "completed-symlinks/tv/Rel/film.par2.rclonelink", $"{byId}/{id}" })
            Assert.Equal($"NotFound {path}", $"{await GetAsync(host, path)} {path}");
        Assert.Equal(HttpStatusCode.OK, await GetAsync(host, "completed-symlinks/tv/Rel/film.mkv.rclonelink"));
        Assert.Equal(["film.mkv"], await ListAsync(host, "content/tv/Rel/"));
        Assert.Equal(["film.mkv.rclonelink"], await ListAsync(host, "completed-symlinks/tv/Rel/"));
        Assert.DoesNotContain(id, await ListAsync(host, byId + "/"));

        await SetAsync(host, null);
        await SetAsync(host, "true");
        Assert.Equal(HttpStatusCode.OK, await GetAsync(host, $"{byId}/{id}"));
    }

    [Fact]
    public async Task Release_with_only_PAR2_files_fails()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock, null, ("SLUICE_CONFIG__WEBDAV__PREVIEW_PAR2_FILES", "true"));

        var slot = await host.WaitForHistoryAsync((await host.AddAsync(NzbText.Of("a.par2", "a.vol0+1.par2"), "Rel.nzb", Token))[0], Token);

        Assert.Equal("The release holds no video or audio file.", slot.GetProperty("fail_message").GetString());
        Assert.Empty(mock.Stats.Bodies);
    }

    private static async Task SetAsync(ProductHost host, string? value) =>
        Assert.Empty(await host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { [Setting] = value }, Token));

    private static async Task<HttpStatusCode> GetAsync(ProductHost host, string path)
    {
        using var answer = await host.Client.GetAsync(new Uri(path, UriKind.Relative), Token);
        return answer.StatusCode;
    }

    /// <summary>Returns the names in a folder.</summary>
    private static async Task<List<string>> ListAsync(ProductHost host, string path)
    {
        using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), new Uri(path, UriKind.Relative));
        request.Headers.Add("Depth", "1");
        using var answer = await host.Client.SendAsync(request, Token);
        var names = XDocument.Parse(await answer.Content.ReadAsStringAsync(Token)).Descendants(XName.Get("displayname", "DAV:"));
        return [.. names.Skip(1).Select(name => name.Value)];
    }
}
