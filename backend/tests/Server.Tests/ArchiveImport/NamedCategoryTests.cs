using System.Text;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>The category inside an NZB applies if the client gives none: IMP-13.</summary>
public sealed class NamedCategoryTests(ImportBench bench) : IClassFixture<ImportBench>
{
    [Theory]
    [InlineData("""<meta type="category">movies</meta>""", "", "movies")]
    [InlineData("""<meta type="Category">Movies &gt; HD</meta>""", "", "movies")]
    [InlineData("""<meta type="tag">hd</meta><meta type="tag">tv</meta>""", "", "tv")]
    [InlineData("""<meta type="category">Movies &gt; HD</meta>""", "&cat=tv", "tv")]
    [InlineData("""<meta type="category">Movies</meta>""", "&cat=other", "movies")]
    [InlineData("""<meta type="category">8000</meta>""", "", "*")]
    public async Task Category_in_the_NZB_applies_unless_the_client_sends_one(string meta, string query, string expected)
    {
        var token = TestContext.Current.CancellationToken;
        var title = $"Named.{Math.Abs(HashCode.Combine(meta.Length, query.Length, meta[^9]))}";
        var release = new ReleaseBuilder(title, (ulong)meta.Length + (ulong)query.Length, 20_000).AddFile($"{title}.mkv", 60_000).Build();
        bench.Mock.Post(release);
        var text = Encoding.UTF8.GetString(release.ToNzb());
        var at = text.IndexOf("<file", StringComparison.Ordinal);
        var nzb = Encoding.UTF8.GetBytes($"{text[..at]}<head>{meta}</head>{text[at..]}");

        var id = (await bench.Host.AddAsync(nzb, title + ".nzb", token, query))[0];
        var slot = await bench.Host.WaitForHistoryAsync(id, token);

        Assert.Equal(("Completed", expected), (slot.GetProperty("status").GetString(), slot.GetProperty("category").GetString()));
    }
}
