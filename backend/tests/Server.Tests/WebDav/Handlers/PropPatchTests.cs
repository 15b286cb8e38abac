using System.Xml.Linq;
using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>PROPPATCH over the wire: stored properties come back unchanged, and a protected one fails the others.</summary>
public sealed class PropPatchTests : IAsyncLifetime
{
    private static readonly XNamespace Dav = "DAV:";
    private static readonly XNamespace Mine = "urn:x";

    private DavTestServer _server = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartWritableAsync();
        await _server.SendBodyAsync("PUT /a", "text");
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Fact]
    public async Task Stored_property_round_trips_its_XML()
    {
        const string Property = "<x:p xmlns:x='urn:x' xmlns:y='urn:y' y:a='&lt;&quot;1' b='2'>one<x:q> <y:r D:c='3'/>&amp;</x:q><z>\u00e9\U0001F3AC</z>two</x:p>";
        var answer = await PatchAsync($"<D:set xml:lang='de'><D:prop>{Property}</D:prop></D:set>");

        Assert.Equal(207, answer.Status);
        Assert.Equal([("HTTP/1.1 200 OK", "p")], Statuses(answer));
        var expected = XElement.Parse($"<D:r xmlns:D='DAV:'>{Property}</D:r>", LoadOptions.PreserveWhitespace).Elements().Single();
        expected.SetAttributeValue(XNamespace.Xml + "lang", "de");
        var found = (await FindAsync("p"))!;
        Assert.Equal(Normal(expected), Normal(found));
    }

    [Fact]
    public async Task Set_and_remove_are_applied_in_document_order()
    {
        await PatchAsync("<D:set><D:prop><p xmlns='urn:x'>1</p><q xmlns='urn:x'>1</q></D:prop></D:set>");
        await PatchAsync("<D:remove><D:prop><p xmlns='urn:x'/></D:prop></D:remove><D:set><D:prop><p xmlns='urn:x'>2</p></D:prop></D:set>"
            + "<D:set><D:prop><q xmlns='urn:x'>2</q></D:prop></D:set><D:remove><D:prop><q xmlns='urn:x'/><none xmlns='urn:x'/></D:prop></D:remove>");

        Assert.Equal("2", (await FindAsync("p"))!.Value);
        Assert.Null(await FindAsync("q"));
    }

    [Theory]
    [InlineData("<D:getetag>x</D:getetag>", "getetag")]
    [InlineData("<D:lockdiscovery/>", "lockdiscovery")]
    [InlineData("<D:unknown/>", "unknown")]
    [InlineData("<W:Win32FileAttributes xmlns:W='urn:schemas-microsoft-com:'>00000000</W:Win32FileAttributes>", "Win32FileAttributes")]
    public async Task Protected_property_fails_the_whole_update(string property, string name)
    {
        var answer = await PatchAsync($"<D:set><D:prop><p xmlns='urn:x'>1</p>{property}</D:prop></D:set>");

        Assert.Equal([("HTTP/1.1 403 Forbidden", name), ("HTTP/1.1 424 Failed Dependency", "p")], Statuses(answer));
        Assert.Single(XDocument.Parse(answer.Text).Descendants(Dav + "cannot-modify-protected-property"));
        Assert.Null(await FindAsync("p"));
    }

    [Fact]
    public async Task Update_above_the_size_limit_returns_507_and_changes_nothing()
    {
        await PatchAsync("<D:set><D:prop><p xmlns='urn:x'>1</p></D:prop></D:set>");
        string large = new('x', StoredProperties.MaxBytes);
        var answer = await PatchAsync($"<D:set><D:prop><p xmlns='urn:x'>2</p><q xmlns='urn:x'>{large}</q></D:prop></D:set>");

        Assert.Equal([("HTTP/1.1 507 Insufficient Storage", "p"), ("HTTP/1.1 507 Insufficient Storage", "q")], Statuses(answer));
        Assert.Equal("1", (await FindAsync("p"))!.Value);
    }

    [Theory]
    [InlineData("", 400)]
    [InlineData("<propertyupdate xmlns='DAV:'/>", 400)]
    [InlineData("<propertyupdate xmlns='DAV:'><set/></propertyupdate>", 400)]
    [InlineData("<propfind xmlns='DAV:'><allprop/></propfind>", 400)]
    [InlineData("<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><propertyupdate xmlns='DAV:'/>", 400)]
    [InlineData("<propertyupdate", 400)]
    public async Task Invalid_propertyupdate_body_is_refused(string body, int status) =>
        Assert.Equal(status, (await _server.SendBodyAsync("PROPPATCH /a", body)).Status);

    [Fact]
    public async Task Large_body_returns_413() =>
        Assert.Equal(413, (await PatchAsync($"<D:set><D:prop><p>{new string('x', 65_536)}</p></D:prop></D:set>")).Status);

    [Fact]
    public async Task Read_only_tree_returns_403_for_each_property()
    {
        await using var server = await DavTestServer.StartAsync();
        server.Store.Root.Add(new MemoryFile("a", [1]));
        var answer = await server.SendBodyAsync(
            "PROPPATCH /a", "<propertyupdate xmlns='DAV:'><set><prop><p xmlns='urn:x'/></prop></set><remove><prop><getetag/></prop></remove></propertyupdate>");

        Assert.Equal(207, answer.Status);
        Assert.Equal([("HTTP/1.1 403 Forbidden", "p"), ("HTTP/1.1 403 Forbidden", "getetag")], Statuses(answer));
        Assert.Equal(404, (await server.SendBodyAsync("PROPPATCH /none", "<propertyupdate xmlns='DAV:'/>")).Status);
    }

    private static List<(string Status, string Name)> Statuses(RawAnswer answer) =>
        [.. XDocument.Parse(answer.Text).Descendants(Dav + "propstat").SelectMany(propstat => propstat.Element(Dav + "prop")!.Elements()
            .Select(property => (propstat.Element(Dav + "status")!.Value, property.Name.LocalName)))];

    /// <summary>Returns the element without its prefixes, because they have no meaning.</summary>
    private static string Normal(XElement element) =>
        $"<{element.Name} {string.Join(' ', element.Attributes().Where(one => !one.IsNamespaceDeclaration).Select(one => $"{one.Name}={one.Value}").Order(StringComparer.Ordinal))}>"
        + string.Concat(element.Nodes().Select(node => node is XElement child ? Normal(child) : ((XText)node).Value)) + "</>";

    private Task<RawAnswer> PatchAsync(string steps) =>
        _server.SendBodyAsync("PROPPATCH /a", $"<D:propertyupdate xmlns:D='DAV:'>{steps}</D:propertyupdate>");

    private async Task<XElement?> FindAsync(string name)
    {
        var answer = await _server.SendBodyAsync("PROPFIND /a", $"<propfind xmlns='DAV:'><prop><{name} xmlns='urn:x'/></prop></propfind>", "Depth: 0");
        var propstat = XDocument.Parse(answer.Text, LoadOptions.PreserveWhitespace).Descendants(Dav + "propstat")
            .Single(one => one.Element(Dav + "prop")!.HasElements);
        return propstat.Element(Dav + "status")!.Value == "HTTP/1.1 200 OK" ? propstat.Element(Dav + "prop")!.Element(Mine + name) : null;
    }
}
