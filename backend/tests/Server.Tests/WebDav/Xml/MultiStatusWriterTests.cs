using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using System.Xml.Linq;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Properties;
using Sluice.Server.WebDav.Xml;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

public sealed class MultiStatusWriterTests
{
    private static readonly MemoryFile File = new("a.mkv", [1, 2, 3])
    {
        ETag = new EntityTag("tag"),
        LastModified = new DateTimeOffset(2026, 1, 3, 12, 0, 0, 700, TimeSpan.FromHours(2)),
        Created = new DateTimeOffset(2025, 12, 31, 23, 59, 59, 999, TimeSpan.Zero),
    };

    [Fact]
    public async Task Allprop_of_a_file_writes_every_property() => Assert.Equal(
        "<D:response><D:href>/a.mkv</D:href><D:propstat><D:prop><D:displayname>a.mkv</D:displayname><D:getcontentlength>3</D:getcontentlength>"
        + "<D:getcontenttype>video/x-matroska</D:getcontenttype><D:getlastmodified>Sat, 03 Jan 2026 10:00:00 GMT</D:getlastmodified>"
        + "<D:creationdate>2025-12-31T23:59:59Z</D:creationdate><D:getetag>\"tag\"</D:getetag><D:resourcetype/><D:iscollection>0</D:iscollection>"
        + "<R:Win32FileAttributes xmlns:R=\"urn:schemas-microsoft-com:\">00000021</R:Win32FileAttributes></D:prop>"
        + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>",
        await WriteAsync("/a.mkv", File, null));

    [Fact]
    public async Task Allprop_of_a_collection_omits_properties_sent_on_request() => Assert.Equal(
        "<D:response><D:href>/tv/</D:href><D:propstat><D:prop><D:displayname>tv</D:displayname><D:getcontentlength>0</D:getcontentlength>"
        + "<D:getcontenttype>httpd/unix-directory</D:getcontenttype><D:getlastmodified>Sat, 03 Jan 2026 10:00:00 GMT</D:getlastmodified>"
        + "<D:creationdate>2026-01-03T10:00:00Z</D:creationdate><D:resourcetype><D:collection/></D:resourcetype><D:iscollection>1</D:iscollection>"
        + "<R:Win32FileAttributes xmlns:R=\"urn:schemas-microsoft-com:\">00000010</R:Win32FileAttributes></D:prop>"
        + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>",
        await WriteAsync("/tv/", new MemoryCollection("tv"), null));

    [Fact]
    public async Task Undefined_properties_share_one_final_404_propstat() => Assert.Equal(
        "<D:response><D:href>/tv/</D:href><D:propstat><D:prop><D:displayname>tv</D:displayname>"
        + "<D:quota-available-bytes>1125899906842624</D:quota-available-bytes><D:quota-used-bytes>0</D:quota-used-bytes></D:prop>"
        + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat>"
        + "<D:propstat><D:prop><R:checksums xmlns:R=\"http://owncloud.org/ns?a=1&amp;b\"/><D:getetag/><plain/></D:prop>"
        + "<D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>",
        await WriteAsync("/tv/", new MemoryCollection("tv"),
            "<propfind xmlns='DAV:'><prop><checksums xmlns='http://owncloud.org/ns?a=1&amp;b'/><getetag/><displayname/><displayname/>"
            + "<quota-available-bytes/><quota-used-bytes/><plain xmlns=''/></prop></propfind>"));

    [Fact]
    public async Task Namespace_with_special_characters_round_trips()
    {
        var written = await WriteAsync("/a.mkv", File, "<propfind xmlns='DAV:'><prop><x xmlns='a&quot;&lt;&#9;&#10;b&amp;'/></prop></propfind>");

        var response = XElement.Parse(written.Replace("<D:response>", "<D:response xmlns:D=\"DAV:\">", StringComparison.Ordinal));
        Assert.Equal("a\"<\t\nb&", response.Descendants("{DAV:}prop").Last().Elements().Single().Name.NamespaceName);
    }

    [Theory]
    [InlineData("<propfind xmlns='DAV:'><prop><x/></prop></propfind>", "<D:prop/>")]
    [InlineData("<propfind xmlns='DAV:'><prop/></propfind>", "<D:prop/>")]
    public async Task The_200_propstat_comes_first_even_if_empty(string body, string empty)
    {
        var written = await WriteAsync("/a.mkv", File, body);

        Assert.StartsWith("<D:response><D:href>/a.mkv</D:href><D:propstat>" + empty.Replace("/>", "></D:prop>", StringComparison.Ordinal)
            + "<D:status>HTTP/1.1 200 OK</D:status>", written, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Propname_writes_names_without_values() => Assert.Equal(
        "<D:response><D:href>/a.mkv</D:href><D:propstat><D:prop><D:displayname/><D:getcontentlength/><D:getcontenttype/><D:getlastmodified/>"
        + "<D:creationdate/><D:getetag/><D:resourcetype/><D:iscollection/><R:Win32FileAttributes xmlns:R=\"urn:schemas-microsoft-com:\"/></D:prop>"
        + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>",
        await WriteAsync("/a.mkv", File, "<propfind xmlns='DAV:'><propname/></propfind>"));

    [Fact]
    public async Task Include_adds_requested_properties_and_omits_missing_ones()
    {
        var written = await WriteAsync("/tv/", new MemoryCollection("tv"),
            "<propfind xmlns='DAV:'><allprop/><include><quota-used-bytes/><unknown/><displayname/></include></propfind>");

        Assert.Contains("<D:quota-used-bytes>0</D:quota-used-bytes></D:prop>", written, StringComparison.Ordinal);
        Assert.DoesNotContain("404", written, StringComparison.Ordinal);
        Assert.Equal(2, written.Split("displayname>").Length - 1);
    }

    [Fact]
    public async Task Characters_invalid_in_XML_become_U_FFFD()
    {
        var written = await WriteAsync("/x", new MemoryFile("a\u0001\uD800<&>\"'\uFFFE\r\t\U0001F3AC", []), null);

        var response = XElement.Parse(written.Replace("<D:response>", "<D:response xmlns:D=\"DAV:\">", StringComparison.Ordinal));
        Assert.Equal("a\uFFFD\uFFFD<&>\"'\uFFFD\r\t\U0001F3AC", response.Descendants("{DAV:}displayname").Single().Value);
    }

    [Fact]
    public void Long_text_is_written_whole_across_buffers()
    {
        var text = string.Concat(Enumerable.Repeat("\U0001F3AC&a\u00e9", 5_000));
        var output = new ArrayBufferWriter<byte>();

        var writer = new DavXmlWriter(output);
        writer.Text(text);

        Assert.Equal(text.Replace("&", "&amp;", StringComparison.Ordinal), Encoding.UTF8.GetString(output.WrittenSpan));
        Assert.Equal(output.WrittenCount, writer.Written);
    }

    [Theory]
    [InlineData("<a/>")]
    [InlineData("<propfind/>")]
    [InlineData("<propfind xmlns='DAV:'/>")]
    [InlineData("<propfind xmlns='DAV:'><other/></propfind>")]
    [InlineData("<propfind xmlns='DAV:'><prop/><allprop/></propfind>")]
    [InlineData("<propfind xmlns='DAV:'><propname/><allprop/></propfind>")]
    public void Propfind_must_contain_exactly_one_request_kind(string body) =>
        Assert.Throws<DavXmlException>(() => PropFindRequest.From(DavXmlReader.Parse(Encoding.UTF8.GetBytes(body))));

    /// <summary>Writes one response, without the root element.</summary>
    private static async Task<string> WriteAsync(string href, IStoreItem item, string? body)
    {
        using var output = new MemoryStream();
        var pipe = PipeWriter.Create(output);
        var writer = new MultiStatusWriter(pipe, PropFindRequest.From(body is null ? null : DavXmlReader.Parse(Encoding.UTF8.GetBytes(body))));
        await writer.WriteAsync(href, item, TestContext.Current.CancellationToken);
        await writer.EndAsync(TestContext.Current.CancellationToken);

        var text = Encoding.UTF8.GetString(output.ToArray());
        const string Start = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">";
        const string End = "</D:multistatus>";
        Assert.StartsWith(Start, text, StringComparison.Ordinal);
        Assert.EndsWith(End, text, StringComparison.Ordinal);
        return text[Start.Length..^End.Length];
    }
}
