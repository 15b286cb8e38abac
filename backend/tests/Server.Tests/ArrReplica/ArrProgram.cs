using System.Net;
using System.Security.Cryptography;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.ArrReplica;

/// <summary>
/// Sonarr or Radarr behind a mount, call by call as recorded from the real programs: adds with a category, polls the newest 60 items, moves or copies
/// the links of a release into its own library, and removes finished releases: first the folder, link by link, then the history item.
/// </summary>
internal sealed class ArrProgram(ProductHost host, string category)
{
    private const string Mount = "/mnt/sluice";
    private const string Link = ".rclonelink";
    private static readonly XNamespace Dav = "DAV:";

    /// <summary>Links in the library of the program: new file name and target.</summary>
    public Dictionary<string, string> Library { get; } = [];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Adds an NZB and waits until it is in the history.</summary>
    public async Task<ArrHistoryItem> GrabAsync(byte[] nzb, string name)
    {
        var id = Assert.Single(await host.AddAsync(nzb, name + ".nzb", Token, $"&cat={Uri.EscapeDataString(category)}"));
        await host.WaitForHistoryAsync(id, Token);
        return (await FindAsync(id))!;
    }

    /// <summary>Finds an item as the program does: by its id among the newest items of its category.</summary>
    public async Task<ArrHistoryItem?> FindAsync(string id) => (await ListAsync()).SingleOrDefault(item => item.Id == id);

    public async Task<IReadOnlyList<ArrHistoryItem>> ListAsync()
    {
        var answer = await host.CallAsync($"mode=history&start=0&limit=60&category={Uri.EscapeDataString(category)}", Token);
        return ArrParser.ReadHistory(answer);
    }

    /// <summary>
    /// Imports the videos of an item: reads each link and the beginning of its film, links the target under the name of the item, and deletes the
    /// link unless it copies.
    /// </summary>
    public async Task ImportAsync(ArrHistoryItem item, bool copies = false)
    {
        var films = (await LinksAsync(item)).Where(link => link.EndsWith(".mkv" + Link, StringComparison.Ordinal)).ToList();
        Assert.NotEmpty(films);
        foreach (var link in films)
        {
            var target = await ReadLinkAsync(link);
            await ReadAsync(target, head: true);
            Library[$"{item.Title}.mkv"] = target;
            if (!copies)
                Assert.Equal(HttpStatusCode.NoContent, await DeleteAsync(link));
        }
    }

    /// <summary>Inspects a release without importing it, as the program does before it rejects a sample.</summary>
    public async Task LookAsync(ArrHistoryItem item)
    {
        foreach (var link in await LinksAsync(item))
            await ReadAsync(await ReadLinkAsync(link), head: true);
    }

    /// <summary>Removes an item with its files: the links, the folder, then the history item.</summary>
    public async Task RemoveAsync(ArrHistoryItem item)
    {
        if (item.OutputPath.Length > 0)
        {
            foreach (var link in await LinksAsync(item))
                Assert.Equal(HttpStatusCode.NoContent, await DeleteAsync(link));
            Assert.Equal(HttpStatusCode.NoContent, await DeleteAsync(PathOf(item)));
        }

        await DeleteItemAsync(item);
    }

    /// <summary>Deletes only the history item, as the program does if it cannot reach the folder.</summary>
    public async Task DeleteItemAsync(ArrHistoryItem item)
    {
        var archive = item.Status == "Completed" ? 1 : 0;
        ArrParser.Read((await host.CallAsync($"mode=history&name=delete&value={item.Id}&del_files=1&archive={archive}", Token)).ToString());
    }

    /// <summary>Fails unless a film of the library has the bytes of a post.</summary>
    public async Task PlaysAsync(string name, MockRelease release)
    {
        var truth = new byte[release.Files[0].Size];
        release.Fill(0, 0, truth);
        Assert.Equal(Convert.ToHexStringLower(SHA256.HashData(truth)), Convert.ToHexStringLower(SHA256.HashData(await ReadAsync(Library[name], head: false))));
    }

    /// <summary>
    /// Fails unless a file has the bytes of a post, read as AIOStreams does: in <c>/content</c>, from the last folder of the item's storage.
    /// </summary>
    public async Task PlaysFromContentAsync(ArrHistoryItem item, string file, MockRelease release)
    {
        var truth = new byte[release.Files[0].Size];
        release.Fill(0, 0, truth);
        var bytes = await ReadAsync($"{Mount}/content/{category}/{Uri.EscapeDataString(item.OutputPath.Split('/')[^1])}/{file}", head: false);
        Assert.Equal(Convert.ToHexStringLower(SHA256.HashData(truth)), Convert.ToHexStringLower(SHA256.HashData(bytes)));
    }

    /// <summary>Returns the paths in the tree of all links in the folder of an item.</summary>
    public async Task<IReadOnlyList<string>> LinksAsync(ArrHistoryItem item)
    {
        using var answer = await host.SendAsync(new HttpMethod("PROPFIND"), Escape(PathOf(item)) + "/", null, Token, ("Depth", "1"));
        Assert.Equal(HttpStatusCode.MultiStatus, answer.StatusCode);
        var listing = XDocument.Parse(await answer.Content.ReadAsStringAsync(Token));
        return
        [
            .. listing.Root!.Elements(Dav + "response").Select(response => Uri.UnescapeDataString(response.Element(Dav + "href")!.Value))
                .Where(path => path.EndsWith(Link, StringComparison.Ordinal)),
        ];
    }

    /// <summary>Returns the names below a root such as <c>/content</c>, in the category of the program or in one of its folders.</summary>
    public async Task<IReadOnlyList<string>> FoldersAsync(string root, string folder = "")
    {
        using var answer = await host.SendAsync(
            new HttpMethod("PROPFIND"), Escape($"/{root}/{category}/{folder}").TrimEnd('/') + "/", null, Token, ("Depth", "1"));
        var listing = XDocument.Parse(await answer.Content.ReadAsStringAsync(Token));
        return [.. listing.Root!.Elements(Dav + "response").Skip(1).Select(response => Uri.UnescapeDataString(response.Element(Dav + "href")!.Value.TrimEnd('/').Split('/')[^1]))];
    }

    private static string PathOf(ArrHistoryItem item)
    {
        Assert.StartsWith(Mount + "/", item.OutputPath, StringComparison.Ordinal);
        return item.OutputPath[Mount.Length..];
    }

    private async Task<string> ReadLinkAsync(string link)
    {
        using var answer = await host.SendAsync(HttpMethod.Get, Escape(link), null, Token);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsStringAsync(Token);
    }

    private async Task<byte[]> ReadAsync(string target, bool head)
    {
        (string, string)[] headers = head ? [("Range", "bytes=0-99")] : [];
        using var answer = await host.SendAsync(HttpMethod.Get, target[Mount.Length..], null, Token, headers);
        Assert.Equal(head ? HttpStatusCode.PartialContent : HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsByteArrayAsync(Token);
    }

    private async Task<HttpStatusCode> DeleteAsync(string path)
    {
        using var answer = await host.SendAsync(HttpMethod.Delete, Escape(path), null, Token);
        return answer.StatusCode;
    }

    private static string Escape(string path) => Regex.Replace(path, "[^/]+", part => Uri.EscapeDataString(part.Value));
}
