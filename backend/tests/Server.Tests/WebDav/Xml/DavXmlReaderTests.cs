using System.Globalization;
using System.IO.Pipelines;
using System.Text;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Xml;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

public sealed class DavXmlReaderTests
{
    private const string PropFind =
        "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\r\n<!-- a --><?pi b?>\n<x:propfind xmlns:x='DAV:' xmlns=\"urn:y\">"
        + "<x:prop><x:displayname/><a b=\"1&lt;2\" xml:lang='de'>t&#x41;&amp;<![CDATA[<&]]>]</a><c xmlns=''/></x:prop ></x:propfind>\n";

    [Fact]
    public async Task Body_split_at_any_byte_reads_the_same()
    {
        foreach (var pieces in Splits.EveryPosition(Encoding.UTF8.GetBytes(PropFind)))
        {
            var root = await ReadAsync(pieces);

            Assert.NotNull(root);
            Assert.Equal(new DavName("DAV:", "propfind"), root.Name);
            var prop = Assert.Single(root.Children);
            Assert.Equal(
                [new DavName("DAV:", "displayname"), new DavName("urn:y", "a"), new DavName("", "c")],
                prop.Children.Select(child => child.Name));
            Assert.Equal("tA&<&]", TextOf(prop.Children.ElementAt(1)));
        }
    }

    [Fact]
    public async Task Empty_body_returns_null() => Assert.Null(await ReadAsync([]));

    [Theory]
    [InlineData("utf-8", false)]
    [InlineData("utf-8", true)]
    [InlineData("utf-16", false)]
    [InlineData("utf-16", true)]
    [InlineData("utf-16BE", false)]
    [InlineData("utf-16BE", true)]
    public void UTF8_And_UTF16_are_read_with_and_without_BOM(string name, bool mark)
    {
        var encoding = Encoding.GetEncoding(name);
        byte[] document = [.. mark ? encoding.GetPreamble() : [], .. encoding.GetBytes("<a>\u00e9\U0001F3AC</a>")];

        Assert.Equal("\u00e9\U0001F3AC", TextOf(DavXmlReader.Parse(document)));
    }

    [Fact]
    public void Line_ends_and_attribute_whitespace_are_normalized() =>
        Assert.Equal(
            "<D:a b=\"1 2 &#10;\">\n\n&#13;</D:a>",
            DavXmlWriter.Write(DavXmlReader.Parse(Encoding.UTF8.GetBytes("<a xmlns='DAV:' b='1\t2\n&#10;'>\r\n\r&#13;</a>"))));

    [Theory]
    [InlineData("utf-8")]
    [InlineData("UTF-8")]
    [InlineData("ASCII")]
    [InlineData("us-ascii")]
    public void Encoding_may_be_declared(string name) =>
        Assert.Equal("a", DavXmlReader.Parse(Encoding.UTF8.GetBytes($"<?xml version='1.0' encoding='{name}'?><a/>")).Name.Local);

    [Theory]
    [InlineData(" ")]
    [InlineData("a")]
    [InlineData("<a>")]
    [InlineData("<a")]
    [InlineData("<")]
    [InlineData("</a>")]
    [InlineData("<a></b>")]
    [InlineData("<a></ab>")]
    [InlineData("<a><b></a></b>")]
    [InlineData("<a/><b/>")]
    [InlineData("<a/>x")]
    [InlineData("x<a/>")]
    [InlineData("<a b></a>")]
    [InlineData("<a b=1/>")]
    [InlineData("<a b='1'c='2'/>")]
    [InlineData("<a b='1' b='2'/>")]
    [InlineData("<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>")]
    [InlineData("<a b='<'/>")]
    [InlineData("<a b='&x;'/>")]
    [InlineData("<a>&x;</a>")]
    [InlineData("<a>&amp</a>")]
    [InlineData("<a>& b</a>")]
    [InlineData("<a>&#0;</a>")]
    [InlineData("<a>&#xD800;</a>")]
    [InlineData("<a>&#xFFFFFFFFF;</a>")]
    [InlineData("<a>&#x;</a>")]
    [InlineData("<a>&#xFFFE;</a>")]
    [InlineData("<a>\u0001</a>")]
    [InlineData("<a>]]></a>")]
    [InlineData("<a><!-- -- --></a>")]
    [InlineData("<a><!-- </a>")]
    [InlineData("<a><![CDATA[</a>")]
    [InlineData("<a><?xml version='1.0'?></a>")]
    [InlineData(" <?xml version='1.0'?><a/>")]
    [InlineData("<?xml version='1.0' encoding='windows-1252'?><a/>")]
    [InlineData("<?xml version='1.0' encoding='iso-8859-1'?><a/>")]
    [InlineData("<?xml version='1.0' encoding='us-ascii'?><a>\u00e9</a>")]
    [InlineData("<?xml version='1.0' encoding='utf-16'?><a/>")]
    [InlineData("<?xml version='1.0' encoding=?><a/>")]
    [InlineData("<1a/>")]
    [InlineData("<a:b:c xmlns:a='u'/>")]
    [InlineData("<:a/>")]
    [InlineData("<p:a/>")]
    [InlineData("<a p:b='1'/>")]
    [InlineData("<a xmlns:p=''/>")]
    [InlineData("<a xmlns:xmlns='u'/>")]
    [InlineData("<a xmlns:xml='u'/>")]
    [InlineData("<a xmlns:p='http://www.w3.org/2000/xmlns/'/>")]
    [InlineData("<xmlns:a/>")]
    [InlineData("<xml:a/>")]
    [InlineData("<!DOCTYPE a><a/>")]
    [InlineData("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>")]
    [InlineData("<!DOCTYPE a SYSTEM \"http://evil.test/x.dtd\"><a/>")]
    [InlineData("<?xml version='1.0'?><!-- --><!DOCTYPE a><a/>")]
    [InlineData("<a/><!DOCTYPE a>")]
    [InlineData("<a><!DOCTYPE a></a>")]
    [InlineData("<a><!ENTITY b 'c'></a>")]
    public void Malformed_document_returns_400(string document) =>
        Assert.Equal(400, Assert.Throws<DavXmlException>(() => DavXmlReader.Parse(Encoding.UTF8.GetBytes(document))).Status);

    [Theory]
    [InlineData(new byte[] { (byte)'<', (byte)'a', (byte)'>', 0xFF, (byte)'<', (byte)'/', (byte)'a', (byte)'>' })]
    [InlineData(new byte[] { (byte)'<', 0xC3 })]
    [InlineData(new byte[] { 0xFF, 0xFE, (byte)'<' })]
    [InlineData(new byte[] { 0, (byte)'<', 0xD8, 0 })]
    public void Broken_encoding_is_refused(byte[] document) =>
        Assert.Equal(400, Assert.Throws<DavXmlException>(() => DavXmlReader.Parse(document)).Status);

    [Theory]
    [InlineData(31, true)]
    [InlineData(32, true)]
    [InlineData(33, false)]
    [InlineData(5000, false)]
    public void XML_nesting_is_limited(int depth, bool accepted)
    {
        var document = string.Concat(Enumerable.Repeat("<a>", depth)) + string.Concat(Enumerable.Repeat("</a>", depth));

        var failure = Record.Exception(() => DavXmlReader.Parse(Encoding.UTF8.GetBytes(document)));

        Assert.Equal(accepted, failure is null);
        Assert.True(failure is null or DavXmlException { Status: 400 });
    }

    [Theory]
    [InlineData(DavXmlReader.MaxBytes - 1, true)]
    [InlineData(DavXmlReader.MaxBytes, true)]
    [InlineData(DavXmlReader.MaxBytes + 1, false)]
    [InlineData(DavXmlReader.MaxBytes * 40, false)]
    public async Task Oversized_body_returns_413_with_or_without_a_length(int size, bool accepted)
    {
        var document = Encoding.UTF8.GetBytes("<a>" + new string('x', size - 7) + "</a>");
        foreach (var declared in new long?[] { null, size })
        {
            var failure = await Record.ExceptionAsync(() => ReadAsync([document], declared));

            Assert.Equal(accepted, failure is null);
            Assert.True(failure is null or DavXmlException { Status: 413 });
        }
    }

    [Fact]
    public void XML_bombs_allocate_at_most_32_MiB()
    {
        string[] bombs =
        [
            string.Concat(Enumerable.Repeat("<a>", 20_000)),
            "<a " + string.Join(' ', Enumerable.Range(0, 6_000).Select(i => $"b{i}=''")) + "/>",
            "<a " + string.Join(' ', Enumerable.Range(0, 3_000).Select(i => $"xmlns:b{i}='u'")) + "/>",
            "<a " + string.Join(' ', Enumerable.Range(0, 128).Select(i => $"xmlns:b{i:000}='u'")) + ">"
                + string.Concat(Enumerable.Repeat("<b000:c/>", 6_500)) + "</a>",
            "<a>" + string.Concat(Enumerable.Repeat("&lt;", 15_000)) + "</a>",
            "<a>" + new string(']', 60_000) + "</a>",
            "<a>" + string.Concat(Enumerable.Repeat("<!---->", 9_000)) + "</a>",
        ];
        foreach (var bomb in bombs)
        {
            var document = Encoding.UTF8.GetBytes(bomb);
            Assert.True(document.Length <= DavXmlReader.MaxBytes);
            Record.Exception(() => DavXmlReader.Parse(document));
            var before = GC.GetAllocatedBytesForCurrentThread();

            var failure = Record.Exception(() => DavXmlReader.Parse(document));

            Assert.True(failure is null or DavXmlException, failure?.ToString());
            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 32 << 20);
        }
    }

    [Theory]
    [InlineData("<a xmlns:p='", "'>", "<p:b/>", "</a>")]
    [InlineData("<a xmlns:p='", "'", " p:b{0}=''", "/>")]
    public void Long_namespace_repeated_too_often_returns_413(string start, string middle, string named, string end)
    {
        foreach (var names in new[] { 8, 2_000 })
        {
            var document = start + new string('u', 30_000) + middle
                + string.Concat(Enumerable.Range(0, names).Select(i => string.Format(CultureInfo.InvariantCulture, named, i))) + end;

            var failure = Record.Exception(() => DavXmlReader.Parse(Encoding.UTF8.GetBytes(document)));

            Assert.Equal(names == 8, failure is null);
            Assert.True(failure is null or DavXmlException { Status: 413 });
        }
    }

    [Fact]
    public void Every_truncated_document_is_refused()
    {
        var document = Encoding.UTF8.GetBytes(PropFind.TrimEnd());
        for (var length = 1; length < document.Length; length++)
        {
            var cut = document[..length];
            Assert.Throws<DavXmlException>(() => DavXmlReader.Parse(cut));
        }
    }

    [Fact]
    public void Any_corrupted_byte_is_read_or_refused_cleanly()
    {
        var document = Encoding.UTF8.GetBytes(PropFind);
        for (var at = 0; at < document.Length; at++)
        {
            byte[] broken = [.. document];
            foreach (var value in "<>&;'\"/:!?-[]\0\u007f"u8)
            {
                broken[at] = value;
                var failure = Record.Exception(() => DavXmlReader.Parse(broken));
                Assert.True(failure is null or DavXmlException, failure?.ToString());
            }
        }
    }

    private static string TextOf(DavXmlElement element) => string.Concat(element.Content.Select(node => node.Text));

    private static async Task<DavXmlElement?> ReadAsync(IReadOnlyList<ReadOnlyMemory<byte>> pieces, long? declared = null)
    {
        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        var reading = DavXmlReader.ReadAsync(pipe.Reader, declared, TestContext.Current.CancellationToken).AsTask();
        foreach (var piece in pieces)
            await pipe.Writer.WriteAsync(piece, TestContext.Current.CancellationToken);
        await pipe.Writer.CompleteAsync();
        return await reading;
    }
}
