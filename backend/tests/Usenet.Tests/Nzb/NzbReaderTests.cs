using System.IO.Compression;
using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Xunit;
using static Sluice.Usenet.Tests.Nzb.NzbSource;

namespace Sluice.Usenet.Tests.Nzb;

public sealed class NzbReaderTests
{
    private static readonly string Sample = Document(
        "<head><meta type=\"title\">A&amp;B ünï</meta><meta type=\"PassWord\"> s3cret </meta><meta type=\"password\">second</meta>"
        + "<meta type=\"tag\">x</meta><meta type=\"category\">tv</meta><meta type=\"name\">n</meta><meta type=\"other\">?</meta></head>\n",
        File("&quot;film.mkv&quot; yEnc (1/3) 99", Segment(3, "c@x"), Segment(1, "a&amp;1@x", -1), Segment(2, "&lt;b@x&gt;", ulong.MaxValue)),
        File("ünï.nfo", Segment(1, "d$e%f@x", "junk")));

    [Fact]
    public async Task Reader_returns_files_segments_and_meta()
    {
        var head = new NzbHead();
        var files = await ReadAsync(Sample, head);

        Assert.Equal(
            "\"film.mkv\" yEnc (1/3) 99|2026-11-21T19:22:20.0000000+00:00|alt.binaries.test|0|a&1@x b@x c@x\n"
            + "ünï.nfo|2026-11-21T19:22:20.0000000+00:00|alt.binaries.test|0|d$e%f@x",
            Describe(files));
        Assert.Equal([0, 0, 740_000], files[0].Segments.Select(segment => segment.Bytes));
        Assert.Equal(("A&B ünï", "n", "tv"), (head.Title, head.Name, head.Category));
        Assert.Equal(["s3cret", "second"], head.Passwords);
        Assert.Equal(["x"], head.Tags);
        Assert.Equal((2, 4, 0, 0), (head.Files, head.Segments, head.DroppedSegments, head.MergedFiles));
    }

    [Fact]
    public async Task Nzb_reads_the_same_at_every_split()
    {
        var bytes = Encoding.UTF8.GetBytes(Sample);
        var whole = Describe(await ReadAsync(bytes));

        for (var cut = 1; cut < bytes.Length; cut++)
            Assert.Equal(whole, Describe(await ReadAsync(bytes, cut)));
        Assert.Equal(whole, Describe(await ReadAsync(bytes, 1, 1)));
        Assert.Equal(whole, Describe(await ReadAsync(bytes, 3, 7)));
    }

    [Fact]
    public async Task Truncated_nzb_is_refused_at_every_length()
    {
        var bytes = Encoding.UTF8.GetBytes(Sample);
        var end = bytes.AsSpan().LastIndexOf("</nzb>"u8) + "</nzb>".Length;

        for (var length = 0; length < end; length++)
        {
            var refusal = await Assert.ThrowsAsync<NzbFormatException>(() => ReadAsync(bytes[..length]));
            Assert.Equal(NzbFault.NotAnNzb, refusal.Fault);
        }
    }

    [Theory]
    [InlineData("utf-8", "utf-8", true)]
    [InlineData("utf-8", "utf-8", false)]
    [InlineData("utf-16", "utf-16", true)]
    [InlineData("utf-16", "utf-16", false)]
    [InlineData("utf-16", "utf-16BE", true)]
    [InlineData("utf-16", "utf-16BE", false)]
    [InlineData("iso-8859-1", "iso-8859-1", false)]
    [InlineData("ISO-8859-1", "iso-8859-1", false)]
    [InlineData("utf-16", "utf-8", false)]
    [InlineData("x-unheard-of", "utf-8", false)]
    public async Task Encodings_are_recognized(string declared, string actual, bool mark)
    {
        var encoding = Encoding.GetEncoding(actual);
        var nzb = Document(File("ünï €".Replace("€", actual == "iso-8859-1" ? "" : "€", StringComparison.Ordinal), Segment(1, "a@x")))
            .Replace("encoding=\"utf-8\"", $"encoding='{declared}'", StringComparison.Ordinal);
        byte[] bytes = [.. mark ? encoding.GetPreamble() : [], .. encoding.GetBytes(nzb)];

        var files = await ReadAsync(bytes, 1, 1);

        Assert.StartsWith("ünï", Assert.Single(files).Subject, StringComparison.Ordinal);
        Assert.Equal(actual != "iso-8859-1", files[0].Subject.EndsWith('€'));
    }

    [Fact]
    public async Task Invalid_bytes_and_characters_become_replacement_characters()
    {
        var bytes = Encoding.Latin1.GetBytes("\r\n " + Document(File("a\u00FF\u0001b\u001B", Segment(1, "a@x"))));

        Assert.Equal("a\uFFFD\uFFFDb\uFFFD", Assert.Single(await ReadAsync(bytes)).Subject);
    }

    [Fact]
    public async Task Segments_without_a_valid_number_follow_the_highest()
    {
        var files = await ReadAsync(Document(File(
            "s",
            "<segment>e@x</segment>",
            Segment(0, "f@x"),
            Segment(2, "b@x"),
            Segment(-7, "g@x"),
            Segment("9223372036854775808", "h@x"),
            Segment(1, "a@x"),
            Segment("two", "i@x"),
            Segment(0, "b@x"))));

        Assert.Equal("s|2026-11-21T19:22:20.0000000+00:00|alt.binaries.test|0|a@x b@x e@x f@x g@x h@x i@x", Describe(files));
    }

    [Fact]
    public async Task Duplicates_become_up_to_three_fallbacks_and_gaps_holes()
    {
        var files = await ReadAsync(Document(File(
            "s",
            Segment(5, "e@x"),
            Segment(2, "b@x"),
            Segment(2, "b2@x"),
            Segment(2, "b@x"),
            Segment(2, "b3@x"),
            Segment(2, "b4@x"),
            Segment(2, "b5@x"))));

        Assert.Equal("s|2026-11-21T19:22:20.0000000+00:00|alt.binaries.test|3|- b@x+b2@x+b3@x+b4@x - - e@x", Describe(files));
    }

    [Fact]
    public async Task Malformed_ids_are_dropped_and_counted()
    {
        var head = new NzbHead();
        var files = await ReadAsync(
            Document(
                File("s", Segment(1, "a b@x"), Segment(2, ""), Segment(3, "c&#13;&#10;QUIT@x"), Segment(4, "d&lt;@x"), Segment(5, new string('e', 251)), Segment(6, "f@x")),
                File("nothing", Segment(1, " ")),
                "<file subject=\"empty\"/>"),
            head);

        Assert.Equal("s|2026-11-21T19:22:20.0000000+00:00|alt.binaries.test|5|- - - - - f@x", Describe(files));
        Assert.Equal((3, 7, 6), (head.Files, head.Segments, head.DroppedSegments));
    }

    [Fact]
    public async Task Identical_files_are_merged_in_any_segment_order()
    {
        var head = new NzbHead();
        var files = await ReadAsync(
            Document(
                File("s", Segment(1, "a@x", 1), Segment(2, "b@x", 2)),
                File("s", Segment(2, "b@x"), Segment(1, "a@x")),
                File("s", Segment(1, "a@x"), Segment(2, "c@x")),
                File("t", Segment(1, "a@x"), Segment(2, "b@x"))),
            head);

        Assert.Equal(["s", "s", "t"], files.Select(file => file.Subject));
        Assert.Equal((4, 1), (head.Files, head.MergedFiles));
    }

    [Fact]
    public async Task Unknown_elements_namespaces_and_entities_are_ignored()
    {
        var nzb = "<!DOCTYPE nzb [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\"> <!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
            + "<n:nzb xmlns:n='urn:x'><n:extra><deep><meta type='title'>t</meta></deep></n:extra><!-- <file> -->"
            + "<n:file n:subject='s'><?pi <?><n:segments><n:segment number='1'><![CDATA[a@x]]></n:segment><junk>zz</junk></n:segments></n:file></n:nzb>";

        Assert.Equal("s||" + "|0|a@x", Describe(await ReadAsync(nzb)));
    }

    [Theory]
    [InlineData("", "empty file")]
    [InlineData(" \r\n ", "blank file")]
    [InlineData("{\"error\":1}", "JSON")]
    [InlineData("<!DOCTYPE html><html></html>", "HTML page")]
    [InlineData("<rss/>", "XML of the kind rss")]
    [InlineData("PK\u0003\u0004....", "zip archive")]
    [InlineData("Rar!\u001A\u0007", "RAR archive")]
    [InlineData("Limit reached", "text")]
    [InlineData("\u0001\u0002\u0003", "binary data")]
    [InlineData("<nzb><file></nzb>", "malformed XML in line 1")]
    [InlineData("<nzb>&nope;</nzb>", "malformed XML in line 1")]
    public async Task Non_nzb_input_is_refused_with_its_detected_kind(string input, string detected)
    {
        var refusal = await RefusalAsync(input);

        Assert.Equal((NzbFault.NotAnNzb, detected), (refusal.Fault, refusal.Detail));
    }

    [Theory]
    [InlineData("<nzb/>")]
    [InlineData("<nzb><file subject='s'><segments/></file></nzb>")]
    [InlineData("<nzb><segment number='1'>a@x</segment></nzb>")]
    public async Task Nzb_without_usable_segments_is_refused_as_empty(string nzb) =>
        Assert.Equal(NzbFault.Empty, (await RefusalAsync(nzb)).Fault);

    [Fact]
    public async Task Gzip_is_detected_by_content_and_decompressed()
    {
        var packed = new MemoryStream();
        using (var gzip = new GZipStream(packed, CompressionLevel.Optimal, leaveOpen: true))
            gzip.Write(Encoding.UTF8.GetBytes(Sample));

        Assert.Equal(Describe(await ReadAsync(Sample)), Describe(await ReadAsync(packed.ToArray(), 1, 1)));

        var damaged = packed.ToArray();
        damaged[damaged.Length / 2] ^= 0x55;
        var refusal = await Assert.ThrowsAsync<NzbFormatException>(() => ReadAsync(damaged));
        Assert.Equal(NzbFault.NotAnNzb, refusal.Fault);
    }

    [Fact]
    public async Task Cancellation_stops_the_reader()
    {
        using var cancel = new CancellationTokenSource();
        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () =>
        {
            await foreach (var _ in NzbReader.ReadAsync(new CutStream(Encoding.UTF8.GetBytes(Sample), 8, 8), null, new NzbHead(), cancel.Token))
                Assert.Fail("a file was read");
        });
    }
}
