using System.Text.RegularExpressions;
using System.Xml.Linq;
using Sluice.Server.WebDav.Locks;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>LOCK and UNLOCK over the wire, and the verbs that respect locks.</summary>
public sealed partial class LockTests : IAsyncLifetime
{
    private const string Exclusive = "<D:lockinfo xmlns:D='DAV:'><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>"
        + "<D:owner><x:me xmlns:x='urn:x' x:a='1'>\u00e9 &amp; <D:href>mailto:me</D:href></x:me></D:owner></D:lockinfo>";

    private static readonly string Shared = Exclusive.Replace("exclusive", "shared", StringComparison.Ordinal);

    private static readonly XNamespace Dav = "DAV:";

    private DavTestServer _server = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await DavTestServer.StartWritableAsync();
        await _server.SendAsync("MKCOL /d");
        await _server.SendBodyAsync("PUT /d/f", "text");
        await _server.SendBodyAsync("PUT /a", "text");
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Fact]
    public async Task Lock_response_and_lockdiscovery_describe_the_lock()
    {
        var answer = await _server.SendBodyAsync("LOCK /a", Exclusive, "Timeout: Second-100", "Depth: 0");

        Assert.Equal(200, answer.Status);
        Assert.Equal("application/xml; charset=utf-8", answer["Content-Type"]);
        var active = XDocument.Parse(answer.Text).Element(Dav + "prop")!.Element(Dav + "lockdiscovery")!.Element(Dav + "activelock")!;
        Assert.Equal("0", active.Element(Dav + "depth")!.Value);
        Assert.Equal("Second-100", active.Element(Dav + "timeout")!.Value);
        Assert.Equal("/a", active.Element(Dav + "lockroot")!.Value);
        Assert.NotNull(active.Element(Dav + "lockscope")!.Element(Dav + "exclusive"));
        var owner = active.Element(Dav + "owner")!.Element(XName.Get("me", "urn:x"))!;
        Assert.Equal("\u00e9 & mailto:me", owner.Value);
        Assert.Equal("1", owner.Attribute(XName.Get("a", "urn:x"))!.Value);
        var token = active.Element(Dav + "locktoken")!.Value;
        Assert.Equal($"<{token}>", answer["Lock-Token"]);

        _server.Time.Advance(TimeSpan.FromSeconds(40));
        var found = await DiscoverAsync("/a");
        Assert.Equal(token, found.Element(Dav + "activelock")!.Element(Dav + "locktoken")!.Value);
        Assert.Equal("Second-60", found.Element(Dav + "activelock")!.Element(Dav + "timeout")!.Value);
        _server.Time.Advance(TimeSpan.FromSeconds(60));
        Assert.Empty((await DiscoverAsync("/a")).Elements());
    }

    [Theory]
    [InlineData("PUT /a", true)]
    [InlineData("DELETE /a", false)]
    [InlineData("MOVE /a", false)]
    [InlineData("COPY /d/f", false)]
    [InlineData("PROPPATCH /a", true)]
    public async Task Write_to_a_locked_file_needs_the_token(string request, bool hasBody)
    {
        var token = await LockAsync("/a", Exclusive);
        var body = !hasBody ? "" : request.StartsWith("PUT", StringComparison.Ordinal) ? "x"
            : "<propertyupdate xmlns='DAV:'><set><prop><p xmlns='urn:x'/></prop></set></propertyupdate>";
        var destination = "Destination: " + (request.StartsWith("COPY", StringComparison.Ordinal) ? "/a" : "/b");

        var refused = await _server.SendBodyAsync(request, body, destination);
        Assert.Equal(423, refused.Status);
        var condition = XDocument.Parse(refused.Text).Root!.Element(Dav + "lock-token-submitted")!;
        Assert.Equal("/a", condition.Element(Dav + "href")!.Value);
        Assert.Equal(412, (await _server.SendBodyAsync(request, body, destination, "If: (<urn:uuid:other>)")).Status);
        Assert.Equal(423, (await _server.SendBodyAsync(request, body, destination, "If: (Not <DAV:no-lock>)")).Status);
        Assert.Equal(400, (await _server.SendBodyAsync(request, body, destination, "If: nonsense")).Status);
        Assert.InRange((await _server.SendBodyAsync(request, body, destination, $"If: </a> (<{token}>)")).Status, 200, 299);
    }

    [Fact]
    public async Task Deep_lock_covers_existing_and_new_descendants()
    {
        var token = await LockAsync("/d", Exclusive);

        foreach (var request in new[] { "PUT /d/f", "PUT /d/new", "DELETE /d/f", "DELETE /d", "MKCOL /d/c", "LOCK /d/new" })
            Assert.Equal(423, (await _server.SendBodyAsync(request, request.StartsWith("LOCK", StringComparison.Ordinal) ? Exclusive : "")).Status);
        Assert.Equal(423, (await _server.SendAsync("MOVE /a", "Destination: /d/a")).Status);
        Assert.Equal(201, (await _server.SendAsync("MOVE /a", "Destination: /d/a", $"If: </d> (<{token}>)")).Status);
        Assert.Equal(204, (await _server.SendAsync("UNLOCK /d/f", $"Lock-Token: <{token}>")).Status);
        Assert.Equal(204, (await _server.SendBodyAsync("PUT /d/f", "x")).Status);
    }

    [Fact]
    public async Task Depth_0_lock_protects_membership_not_member_content()
    {
        var token = await LockAsync("/d", Exclusive, "Depth: 0");

        Assert.Equal(204, (await _server.SendBodyAsync("PUT /d/f", "x")).Status);
        Assert.Equal(423, (await _server.SendBodyAsync("PUT /d/new", "x")).Status);
        Assert.Equal(423, (await _server.SendAsync("DELETE /d/f")).Status);
        Assert.Equal(204, (await _server.SendAsync("DELETE /d/f", $"If: </d> (<{token}>)")).Status);
    }

    [Fact]
    public async Task Delete_folder_without_all_lock_tokens_is_refused()
    {
        var token = await LockAsync("/d/f", Exclusive);

        Assert.Equal(423, (await _server.SendAsync("DELETE /d")).Status);
        Assert.Equal(204, (await _server.SendAsync("DELETE /d", $"If: </d/f> (<{token}>)")).Status);
        Assert.Equal(409, (await _server.SendAsync("UNLOCK /d/f", $"Lock-Token: <{token}>")).Status);
    }

    [Fact]
    public async Task Deep_lock_conflict_returns_207_naming_the_locked_child()
    {
        await LockAsync("/d/f", Exclusive);

        var answer = await _server.SendBodyAsync("LOCK /d", Exclusive);

        Assert.Equal(207, answer.Status);
        Assert.Null(answer["Lock-Token"]);
        Assert.Equal(
            [("/d/f", "HTTP/1.1 423 Locked"), ("/d/", "HTTP/1.1 424 Failed Dependency")],
            XDocument.Parse(answer.Text).Root!.Elements(Dav + "response")
                .Select(response => (response.Element(Dav + "href")!.Value, response.Element(Dav + "status")!.Value)));
        Assert.Equal(200, (await _server.SendBodyAsync("LOCK /d", Exclusive, "Depth: 0")).Status);
    }

    [Fact]
    public async Task Shared_locks_coexist_and_one_token_allows_writing()
    {
        var first = await LockAsync("/a", Shared);
        var second = await LockAsync("/a", Shared);

        var conflict = await _server.SendBodyAsync("LOCK /a", Exclusive);
        Assert.Equal(423, conflict.Status);
        Assert.Equal("/a", XDocument.Parse(conflict.Text).Root!.Element(Dav + "no-conflicting-lock")!.Element(Dav + "href")!.Value);
        Assert.Equal(423, (await _server.SendBodyAsync("PUT /a", "x")).Status);
        Assert.Equal(204, (await _server.SendBodyAsync("PUT /a", "x", $"If: (<{second}>)")).Status);
        Assert.Equal(204, (await _server.SendAsync("UNLOCK /a", $"Lock-Token: <{first}>")).Status);
        Assert.Single((await DiscoverAsync("/a")).Elements());
    }

    [Fact]
    public async Task Lock_of_an_unmapped_name_creates_an_empty_file()
    {
        var answer = await _server.SendBodyAsync("LOCK /new", Exclusive);

        Assert.Equal(201, answer.Status);
        Assert.Equal("0", (await _server.SendAsync("HEAD /new"))["Content-Length"]);
        Assert.Equal(204, (await _server.SendBodyAsync("PUT /new", "x", $"If: ({answer["Lock-Token"]})")).Status);
        Assert.Equal(409, (await _server.SendBodyAsync("LOCK /none/new", Exclusive)).Status);
        Assert.Equal(403, (await _server.SendBodyAsync("LOCK /other/", Exclusive)).Status);
    }

    [Fact]
    public async Task Refresh_needs_the_token_and_restarts_the_timeout()
    {
        var token = await LockAsync("/a", Exclusive, "Timeout: Second-100");
        _server.Time.Advance(TimeSpan.FromSeconds(90));

        Assert.Equal(400, (await _server.SendAsync("LOCK /a")).Status);
        Assert.Equal(412, (await _server.SendAsync("LOCK /a", "If: (<urn:uuid:other>)")).Status);
        Assert.Equal(412, (await _server.SendAsync("LOCK /d", $"If: </a> (<{token}>)")).Status);
        var answer = await _server.SendAsync("LOCK /a", $"If: (<{token}>)", "Timeout: Infinite");
        Assert.Equal(200, answer.Status);
        Assert.Contains("<D:timeout>Second-3600</D:timeout>", answer.Text, StringComparison.Ordinal);
        Assert.Null(answer["Lock-Token"]);
    }

    [Theory]
    [InlineData("Depth: 1", Exclusive, 400)]
    [InlineData("Depth: x", Exclusive, 400)]
    [InlineData("X: y", "<D:lockinfo xmlns:D='DAV:'/>", 400)]
    [InlineData("X: y", "<D:lock xmlns:D='DAV:'/>", 400)]
    [InlineData("X: y", "<!DOCTYPE x><x/>", 400)]
    [InlineData("X: y", "<", 400)]
    public async Task Invalid_lock_request_locks_nothing(string header, string body, int status)
    {
        Assert.Equal(status, (await _server.SendBodyAsync("LOCK /a", body, header)).Status);
        Assert.Empty((await DiscoverAsync("/a")).Elements());
    }

    [Fact]
    public async Task Lock_owner_above_the_size_limit_returns_413()
    {
        var body = Exclusive.Replace("mailto:me", new string('x', LockRequest.MaxOwnerBytes), StringComparison.Ordinal);

        Assert.Equal(413, (await _server.SendBodyAsync("LOCK /a", body)).Status);
    }

    [Theory]
    [InlineData("X: y", 400)]
    [InlineData("Lock-Token: urn:uuid:1", 400)]
    [InlineData("Lock-Token: <urn:uuid:1>", 409)]
    public async Task Unlock_without_a_matching_token_is_refused(string header, int status)
    {
        await LockAsync("/a", Exclusive);

        Assert.Equal(status, (await _server.SendAsync("UNLOCK /a", header)).Status);
        Assert.Single((await DiscoverAsync("/a")).Elements());
    }

    private async Task<string> LockAsync(string path, string body, params string[] headers)
    {
        var answer = await _server.SendBodyAsync("LOCK " + path, body, headers);
        Assert.Equal(200, answer.Status);
        return Token().Match(answer["Lock-Token"]!).Groups[1].Value;
    }

    private async Task<XElement> DiscoverAsync(string path)
    {
        var body = "<propfind xmlns='DAV:'><prop><lockdiscovery/><supportedlock/></prop></propfind>";
        var answer = await _server.SendBodyAsync("PROPFIND " + path, body, "Depth: 0");
        var document = XDocument.Parse(answer.Text);
        Assert.Equal(2, document.Descendants(Dav + "lockentry").Count());
        return document.Descendants(Dav + "lockdiscovery").Single();
    }

    [GeneratedRegex("^<(urn:uuid:[0-9a-f-]{36})>$")]
    private static partial Regex Token();
}
