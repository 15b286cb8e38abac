using System.Text;
using System.Xml.Linq;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class ArticleFidelityTests
{
    [Theory]
    [InlineData(100_000L, 30_000)]
    [InlineData(2_000_001L, 716_800)]
    [InlineData(128L, 128)]
    [InlineData(1L, 716_800)]
    public async Task Articles_of_a_release_decode_to_its_content(long size, int articleSize)
    {
        var release = MockRelease.Plain(seed: 7, size, articleSize: articleSize);
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);

        var file = new List<byte>();
        var ids = release.MessageIds();
        for (var part = 1; part <= ids.Count; part++)
        {
            var article = RawArticle.Parse(await client.ReadBodyAsync(ids[part - 1]));
            Assert.Equal(part, article.Number("=ybegin", "part"));
            Assert.Equal(ids.Count, article.Number("=ybegin", "total"));
            Assert.Equal(128, article.Number("=ybegin", "line"));
            Assert.Equal(size, article.Number("=ybegin", "size"));
            Assert.Equal("film.mkv", article.Field("=ybegin", "name"));
            Assert.Equal(file.Count + 1, article.Number("=ypart", "begin"));
            Assert.Equal(file.Count + article.Decoded.Length, article.Number("=ypart", "end"));
            Assert.Equal(article.Decoded.Length, article.Number("=yend", "size"));
            Assert.Equal(part, article.Number("=yend", "part"));
            Assert.Equal(YencReference.Crc(article.Decoded), article.Crc("pcrc32"));
            Assert.Equal(part == ids.Count, article.Field("=yend", "crc32") is not null);
            Assert.All(article.Lines.SkipLast(1), line => Assert.True(line.Length == 128 || (line.Length == 129 && line[^2] == '=')));
            file.AddRange(article.Decoded);
            if (part == ids.Count)
                Assert.Equal(YencReference.Crc(file.ToArray()), article.Crc("crc32"));
        }

        var truth = new byte[size];
        SyntheticContent.Fill(7, 0, 0, truth);
        Assert.Equal(truth, file);
        Assert.Equal(ids.Count, mock.Stats.Articles);
    }

    [Fact]
    public async Task Dots_at_the_start_of_lines_are_doubled_on_the_wire()
    {
        var id = MockRelease.Plain(1, 700_000).MessageId(0, 1);
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        await client.AskAsync($"BODY <{id}>");
        var wire = await client.ReadBlockAsync();
        var lines = Encoding.Latin1.GetString(wire).Split("\r\n");

        Assert.Contains(lines[..^2], line => line.StartsWith("..", StringComparison.Ordinal));
        Assert.DoesNotContain(lines[..^2], line => line.StartsWith('.') && !line.StartsWith("..", StringComparison.Ordinal));
        Assert.Equal(".", lines[^2]);
        Assert.Equal(256, RawArticle.Parse(RawArticle.Unstuff(wire)).Decoded.Distinct().Count());
    }

    [Fact]
    public async Task Nzb_lists_posted_sizes_and_ids_served_by_a_fresh_mock()
    {
        var release = MockRelease.Plain(seed: 3, size: 250_000, files: 3, articleSize: 40_000);
        XNamespace ns = "http://www.newzbin.com/DTD/2003/nzb";
        var nzb = XDocument.Parse(Encoding.UTF8.GetString(release.ToNzb()));
        var files = nzb.Root!.Elements(ns + "file").ToList();
        Assert.Equal(3, files.Count);
        Assert.Equal("[2/3] - \"film-02.mkv\" yEnc (1/3) 83333", (string?)files[1].Attribute("subject"));
        Assert.NotEmpty(files[1].Element(ns + "groups")!.Elements());
        Assert.NotEmpty((string)files[1].Attribute("date")!);

        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        foreach (var file in files)
        {
            Assert.Equal(Enumerable.Range(1, 3), file.Descendants(ns + "segment").Select(segment => (int)segment.Attribute("number")!));
            foreach (var segment in file.Descendants(ns + "segment"))
                Assert.Equal((int)segment.Attribute("bytes")!, (await client.ReadBodyAsync(segment.Value)).Length);
        }
    }

    [Fact]
    public void Same_arguments_give_the_same_nzb() =>
        Assert.Equal(MockRelease.Plain(5, 100_000, 2, 30_000).ToNzb(), MockRelease.Plain(5, 100_000, 2, 30_000).ToNzb());

    [Fact]
    public async Task Uneven_parts_and_Unicode_names_are_served_as_posted()
    {
        var file = new MockFile { Name = "Фильм & 映画 (1).mkv", Size = 1000, PartLengths = [100, 500, 0, 400] };
        var release = new MockRelease("uneven", 9, [file]);
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        var truth = new byte[1000];
        release.Fill(0, 0, truth);

        var decoded = new List<byte>();
        foreach (var id in release.MessageIds())
        {
            var article = RawArticle.Parse(await client.ReadBodyAsync(id));
            Assert.Equal(file.Name, Encoding.UTF8.GetString(Encoding.Latin1.GetBytes(article.Field("=ybegin", "name")!)));
            decoded.AddRange(article.Decoded);
        }

        Assert.Equal(truth, decoded);
    }

    [Fact]
    public async Task Media_articles_are_served_only_by_a_mock_with_the_file()
    {
        var bytes = new byte[123_456];
        new Random(4).NextBytes(bytes);
        var media = MediaContent.FromBytes("clip.mp4", bytes);
        var release = MockRelease.Media(1, [media], articleSize: 50_000);
        await using var mock = await MockServer.StartAsync(new MockOptions { Media = [media] });
        await using var other = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        await using var stranger = await RawClient.OpenAsync(other.Port);

        var decoded = new List<byte>();
        foreach (var id in release.MessageIds())
        {
            decoded.AddRange(RawArticle.Parse(await client.ReadBodyAsync(id)).Decoded);
            Assert.StartsWith("430 ", await stranger.AskAsync($"STAT <{id}>"), StringComparison.Ordinal);
        }

        Assert.Equal(bytes, decoded);
    }
}
