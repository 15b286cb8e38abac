using System.Text;
using System.Xml.Linq;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>NZBs with unordered, repeated, empty or missing segments are accepted, and their remaining segments are readable (F21).</summary>
public sealed class OddSegmentsTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task F21_Repairable_segment_lists_give_the_correct_file()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var release = new MockRelease("rel", 5, [new MockFile { Name = "film.mkv", Size = 100_000, ArticleSize = 20_000 }]);

        var plain = await ImportAsync("Plain", _ => { });
        Assert.Equal(plain, await ImportAsync("Reversed", segments => segments.ReplaceNodes(segments.Elements().Reverse().ToList())));
        Assert.Equal(plain, await ImportAsync("Doubled", segments => segments.Add(segments.Elements().ToList())));
        Assert.Equal(plain, await ImportAsync("Empty", segments => segments.Add(new XElement(segments.Name.Namespace + "segment", new XAttribute("number", 9), ""))));
        Assert.Equal(plain, await ImportAsync("Sizes", segments => segments.Elements().First().SetAttributeValue("bytes", "9223372036854775808")));
        Assert.Equal(("Completed", 100_000), (await ImportAsync("Hole", segments => segments.Elements().ElementAt(2).Remove())) is var (status, length, _) ? (status, length) : default);
        Assert.Equal("Failed", (await ImportAsync("None", segments => segments.RemoveNodes())).Status);
        Assert.Equal("Failed", (await ImportAsync("Headless", segments => segments.Elements().First().Remove())).Status);

        async Task<(string? Status, long Length, string ETag)> ImportAsync(string name, Action<XElement> change)
        {
            var nzb = XDocument.Parse(Encoding.UTF8.GetString(release.ToNzb()));
            change(nzb.Descendants().First(element => element.Name.LocalName == "segments"));
            var id = (await host.AddAsync(Encoding.UTF8.GetBytes(nzb.ToString()), name + ".nzb", Token))[0];
            var slot = await host.WaitForHistoryAsync(id, Token);
            var film = await host.Get<LibraryTree>().FindAsync(["uncategorized", name, "film.mkv"], Token) as FileEntry;
            return (slot.GetProperty("status").GetString(), film?.File.Length ?? 0, film?.File.ETag.ToString() ?? "");
        }
    }
}
