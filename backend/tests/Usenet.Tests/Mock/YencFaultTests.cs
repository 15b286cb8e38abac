using System.Text;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class YencFaultTests
{
    private static readonly byte[] Truth = FaultBench.Truth(1);

    public static TheoryData<FaultKind, string, string, string> WrongFields => new()
    {
        { FaultKind.YencPart, "=ybegin", "part", "2" },
        { FaultKind.YencPart, "=yend", "part", "2" },
        { FaultKind.YencBegin, "=ypart", "begin", "129" },
        { FaultKind.YencBegin, "=ypart", "end", "20128" },
        { FaultKind.YencEnd, "=ypart", "end", "20001" },
        { FaultKind.YencTotal, "=ybegin", "total", "11" },
        { FaultKind.YencSize, "=ybegin", "size", "84096" },
        { FaultKind.YencName, "=ybegin", "name", "decoy.exe" },
    };

    [Theory]
    [MemberData(nameof(WrongFields))]
    public async Task Keyword_line_is_wrong_but_the_bytes_are_correct(FaultKind kind, string keyword, string field, string value)
    {
        await using var bench = await FaultBench.StartAsync(kind);
        var article = await bench.ReadFirstAsync();
        Assert.Equal(value, article.Field(keyword, field));
        Assert.Equal(Truth, article.Decoded);
        bench.AssertCounted(kind);
    }

    [Fact]
    public async Task Corrupt_article_has_one_wrong_byte_and_the_original_CRC()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.Corrupt);
        var article = await bench.ReadFirstAsync();
        Assert.Equal(1, article.Decoded.Zip(Truth).Count(pair => pair.First != pair.Second));
        Assert.Equal(YencReference.Crc(Truth), article.Crc("pcrc32"));
        Assert.Equal(Truth.Length, article.Number("=yend", "size"));
        bench.AssertCounted(FaultKind.Corrupt);

        Assert.Equal(article.Decoded, (await bench.ReadFirstAsync()).Decoded);
    }

    [Fact]
    public async Task Part_CRC_is_wrong_but_the_bytes_are_correct()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.YencPartCrc);
        var article = await bench.ReadFirstAsync();
        Assert.Equal(Truth, article.Decoded);
        Assert.NotEqual(YencReference.Crc(Truth), article.Crc("pcrc32"));
        bench.AssertCounted(FaultKind.YencPartCrc);
    }

    [Theory]
    [InlineData(FaultKind.YencNoCrc, 2, "=yend size=20000 part=1")]
    [InlineData(FaultKind.YencBadCrc, 2, "=yend size=20000 part=1 pcrc32=zzzzzzzz")]
    [InlineData(FaultKind.YencNoRange, 1, "=yend size=20000 part=1 pcrc32=")]
    [InlineData(FaultKind.YencBadRange, 1, "=ypart begin=9223372036854775807 end=1")]
    public async Task Keyword_field_is_missing_but_the_bytes_are_correct(FaultKind kind, int line, string expected)
    {
        await using var bench = await FaultBench.StartAsync(kind);
        var article = await bench.ReadFirstAsync();
        Assert.Equal(kind == FaultKind.YencNoRange ? 2 : 3, article.Keywords.Count);
        Assert.StartsWith(expected, article.Keywords[line], StringComparison.Ordinal);
        Assert.Equal(kind == FaultKind.YencNoCrc, !article.Keywords[^1].Contains("crc32", StringComparison.Ordinal));
        Assert.Equal(Truth, article.Decoded);
        bench.AssertCounted(kind);
    }

    [Theory]
    [InlineData(FaultKind.YencNoBegin, "=ybegin")]
    [InlineData(FaultKind.YencNoEnd, "=yend")]
    public async Task Keyword_line_is_missing_but_the_bytes_are_correct(FaultKind kind, string keyword)
    {
        await using var bench = await FaultBench.StartAsync(kind);
        var article = await bench.ReadFirstAsync();
        Assert.Equal(2, article.Keywords.Count);
        Assert.DoesNotContain(article.Keywords, line => line.StartsWith(keyword, StringComparison.Ordinal));
        Assert.Equal(Truth, article.Decoded);
        bench.AssertCounted(kind);
    }

    [Fact]
    public async Task Total_is_missing_from_the_ybegin_line()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.YencNoTotal);
        var article = await bench.ReadFirstAsync();
        Assert.Equal("=ybegin part=1 line=128 size=80000 name=film.mkv", article.Keywords[0]);
        bench.AssertCounted(FaultKind.YencNoTotal);
    }

    [Fact]
    public async Task Short_and_long_data_keep_the_original_trailer()
    {
        await using var shortened = await FaultBench.StartAsync(FaultKind.YencShort);
        var article = await shortened.ReadFirstAsync();
        Assert.InRange(article.Decoded.Length, Truth.Length - 128, Truth.Length - 1);
        Assert.Equal(Truth[..article.Decoded.Length], article.Decoded);
        Assert.Equal((Truth.Length, YencReference.Crc(Truth)), (article.Number("=yend", "size"), article.Crc("pcrc32")));
        shortened.AssertCounted(FaultKind.YencShort);

        await using var lengthened = await FaultBench.StartAsync(FaultKind.YencLong);
        article = await lengthened.ReadFirstAsync();
        Assert.InRange(article.Decoded.Length, Truth.Length + 60, Truth.Length + 128);
        Assert.Equal(Truth, article.Decoded[^Truth.Length..]);
        Assert.Equal(Truth.Length, article.Number("=yend", "size"));
        lengthened.AssertCounted(FaultKind.YencLong);
    }

    [Fact]
    public async Task Empty_part_has_keyword_lines_only()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.YencEmpty);
        var article = await bench.ReadFirstAsync();
        Assert.Equal(3, article.Keywords.Count);
        Assert.Empty(article.Lines);
        Assert.Equal((0, 0u), (article.Number("=yend", "size"), article.Crc("pcrc32")));
        bench.AssertCounted(FaultKind.YencEmpty);
    }

    [Fact]
    public async Task Uuencode_carries_the_same_bytes()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.YencUuencode);
        await using var client = await bench.OpenAsync();
        var lines = Encoding.ASCII.GetString(await client.ReadBodyAsync(FaultBench.FirstId)).Split("\r\n");
        Assert.Equal("begin 644 film.mkv", lines[0]);
        Assert.Equal(["`", "end", ""], lines[^3..]);

        var decoded = new List<byte>();
        foreach (var line in lines[1..^3])
        {
            var groups = line[1..].Select(c => (c - ' ') & 63).Chunk(4).SelectMany(g => new[] { (g[0] << 2) | (g[1] >> 4), (g[1] << 4) | (g[2] >> 2), (g[2] << 6) | g[3] });
            decoded.AddRange(groups.Select(value => unchecked((byte)value)).Take((line[0] - ' ') & 63));
        }

        Assert.Equal(Truth, decoded);
        bench.AssertCounted(FaultKind.YencUuencode);
    }

    [Theory]
    [InlineData(FaultKind.Corrupt, 445)]
    [InlineData(FaultKind.YencShort, 444)]
    [InlineData(FaultKind.YencLong, 446)]
    [InlineData(FaultKind.YencPart, 445)]
    public async Task Uuencode_faults_damage_only_data_lines(FaultKind kind, int lines)
    {
        var release = new MockRelease("old", 1, [new MockFile { Name = "film.mkv", Size = 20_000, IsUuencoded = true }]);
        await using var mock = await MockServer.StartAsync(new MockOptions { Faults = [new MockFault { Kind = kind }] });
        await using var client = await RawClient.OpenAsync(mock.Port);

        var body = Encoding.Latin1.GetString(await client.ReadBodyAsync(release.MessageId(0, 1))).Split("\r\n");

        Assert.Equal("begin 644 film.mkv", body[0]);
        Assert.Equal(["`", "end", ""], body[^3..]);
        Assert.Equal(lines, body[1..^3].Length);
        Assert.Equal(kind == FaultKind.Corrupt ? 1 : 0, body.Sum(line => line.Count(c => c > '`')) - "begin film.mkv".Count(c => c > '`') - "end".Length);
        Assert.Equal(kind == FaultKind.YencPart ? 0 : 1, mock.Stats.FaultCount(kind));
    }

    [Fact]
    public async Task Eight_bit_bodies_have_bare_nulls_and_still_decode()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.Body8Bit);
        var article = await bench.ReadFirstAsync();
        Assert.Contains(article.Lines, line => line.Contains((byte)0));
        Assert.Equal("\u00E9\u00FFfilm.mkv", article.Field("=ybegin", "name"));
        Assert.Equal(Truth, article.Decoded);
        bench.AssertCounted(FaultKind.Body8Bit);
    }

    [Fact]
    public async Task Spooled_articles_are_corrupted_the_same_way()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Spool = Repository.Fixture("posts"), Corrupt = ArticleSelection.All });
        await using var client = await RawClient.OpenAsync(mock.Port);
        var raw = await File.ReadAllBytesAsync(Directory.EnumerateFiles(Repository.Fixture("posts/raw-dots"), "*.article").Order().First(), TestContext.Current.CancellationToken);
        var text = Encoding.Latin1.GetString(raw);
        var id = text.Split("\r\n").Single(line => line.StartsWith("Message-ID: ", StringComparison.OrdinalIgnoreCase))["Message-ID: <".Length..^1];

        var damaged = RawArticle.Parse(await client.ReadBodyAsync(id));
        var truth = RawArticle.Parse(raw[(text.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..]);
        Assert.Equal(1, damaged.Decoded.Zip(truth.Decoded).Count(pair => pair.First != pair.Second));
        Assert.Equal(truth.Keywords, damaged.Keywords);
        Assert.Equal(1, mock.Stats.FaultCount(FaultKind.Corrupt));
    }
}
