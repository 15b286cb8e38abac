using System.Net;
using System.Xml.Linq;
using Sluice.Server.Tests.WebDav;
using Sluice.Server.Tests.WebDav.Tree;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>The server behind a proxy: its base path (DAV-1), and the proxies whose forwarding headers it trusts.</summary>
public sealed class ProxyTests
{
    private static readonly XNamespace Dav = "DAV:";

    [Fact]
    public async Task URL_base_prefixes_all_paths_but_probes_work_without_it()
    {
        await using var server = await TreeServer.StartAsync(("URL_BASE", "/x/media"));

        foreach (var path in new[] { "/healthz", "/readyz", "/x/media/healthz", "/x/media/readyz" })
            Assert.Equal(200, (await server.SendAnonymouslyAsync("GET " + path)).Status);
        foreach (var path in new[] { "/", "/content/", "/x", "/x/mediacontent/", "/X/media/content/", "/xx/media/" })
            Assert.Equal($"404 {path}", $"{(await server.SendAsync("PROPFIND " + path, "Depth: 0")).Status} {path}");
        Assert.Equal(401, (await server.SendAnonymouslyAsync("PROPFIND /x/media/")).Status);
        Assert.Equal(401, (await server.SendAnonymouslyAsync("GET /x/media/view/content/a")).Status);
        Assert.Equal(["/x/media/content/", "/x/media/content/audio/"], (await HrefsAsync(server, "/x/media/content")).Take(2));
        Assert.Equal("/x/media/", (await HrefsAsync(server, "/x/media"))[0]);
        Assert.Equal(200, (await server.SendAsync("GET /x/media/README")).Status);
        Assert.Equal(200, (await server.SendAsync("OPTIONS *")).Status);
    }

    [Fact]
    public async Task Forwarded_client_outside_open_networks_needs_credentials()
    {
        await using var server = await TreeServer.StartAsync(
            ("DISABLE_WEBDAV_AUTH", "true"), ("SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS", "127.0.0.0/8,192.0.2.0/24"),
            ("SLUICE_CONFIG__GENERAL__ALLOWED_HOSTS", "tree.test"));

        Assert.Equal(200, await StatusAsync(server));
        Assert.Equal(200, await StatusAsync(server, "X-Forwarded-For: 192.0.2.7"));
        Assert.Equal(200, await StatusAsync(server, "X-Forwarded-For: ::ffff:192.0.2.7, 127.0.0.9"));
        Assert.Equal(401, await StatusAsync(server, "X-Forwarded-For: 198.51.100.1"));
        // A chain is accepted only if all of its addresses are, because one of them may be forged.
        Assert.Equal(401, await StatusAsync(server, "X-Forwarded-For: 192.0.2.7, 198.51.100.1"));
        Assert.Equal(401, await StatusAsync(server, "X-Forwarded-For: 198.51.100.1, 192.0.2.7, 127.0.0.9"));
        Assert.Equal(401, await StatusAsync(server, "X-Forwarded-For: 192.0.2.7", "X-Forwarded-For: 198.51.100.1"));
        Assert.Equal(401, await StatusAsync(server, "X-Forwarded-For: unknown"));
    }

    [Theory]
    [InlineData("127.0.0.0/8")]
    [InlineData("[]")]
    public async Task Forwarded_address_alone_does_not_waive_credentials(string trusted)
    {
        await using var server = await TreeServer.StartAsync(
            ("DISABLE_WEBDAV_AUTH", "true"), ("SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS", "192.0.2.0/24"),
            ("SLUICE_CONFIG__GENERAL__TRUSTED_PROXIES", trusted));

        Assert.Equal(401, await StatusAsync(server, "X-Forwarded-For: 192.0.2.7"));
    }

    [Theory]
    [InlineData("127.0.0.0/8", 401)]
    [InlineData("192.0.2.0/24", 429)]
    [InlineData("[]", 429)]
    public async Task Client_address_is_taken_only_from_trusted_proxies(string trusted, int other)
    {
        await using var server = await TreeServer.StartAsync(("SLUICE_CONFIG__GENERAL__TRUSTED_PROXIES", trusted));
        for (var i = 0; i < 10; i++)
            Assert.Equal(401, await StatusAsync(server, "X-Forwarded-For: 192.0.2.7", $"Authorization: Basic unreadable{i}"));

        Assert.Equal(429, await StatusAsync(server, "X-Forwarded-For: 198.51.100.1, 192.0.2.7", "Authorization: Basic unreadable"));
        Assert.Equal(other, await StatusAsync(server, "X-Forwarded-For: 192.0.2.8", "Authorization: Basic unreadable"));
    }

    [Fact]
    public async Task Each_client_behind_a_proxy_has_its_own_request_limit()
    {
        await using var server = await TreeServer.StartAsync();
        List<RawConnection> held = [];
        try
        {
            // Loopback is the proxy in this test. Each request is in progress until its body arrives.
            for (var i = 0; i < 64; i++)
                held.Add(await BeginAsync(server, $"/nzbs/tv/{i}.part"));

            foreach (var client in new[] { "192.0.2.7", "::ffff:192.0.2.7", "198.51.100.1, 192.0.2.7" })
            {
                var refused = await server.SendAsync("GET /README", $"X-Forwarded-For: {client}");
                Assert.Equal((429, "5"), (refused.Status, refused["Retry-After"]));
            }

            Assert.Equal(200, (await server.SendAsync("GET /README", "X-Forwarded-For: 192.0.2.8")).Status);
            Assert.Equal(200, (await server.SendAsync("GET /README")).Status);

            await held[0].SendRawAsync("0123456789");
            Assert.Equal(201, (await held[0].ReadAnswerAsync(isHead: false)).Status);
            // The server counts a request until it has sent the response.
            while ((await server.SendAsync("GET /README", "X-Forwarded-For: 192.0.2.7")).Status == 429)
            {
            }
        }
        finally
        {
            foreach (var connection in held)
                await connection.DisposeAsync();
        }
    }

    private static async Task<RawConnection> BeginAsync(TreeServer server, string path)
    {
        var connection = await RawConnection.OpenAsync(server.Address);
        await connection.SendAsync(
            $"PUT {path}", TreeServer.Credentials, "X-Forwarded-For: 192.0.2.7", "Content-Length: 10", "Expect: 100-continue");
        Assert.Equal(100, (await connection.ReadHeadAsync()).Status);
        return connection;
    }

    private static async Task<int> StatusAsync(TreeServer server, params string[] headers) =>
        (await server.SendAnonymouslyAsync("HEAD /README", headers)).Status;

    private static async Task<List<string>> HrefsAsync(TreeServer server, string path)
    {
        var answer = await server.SendAsync("PROPFIND " + path, "Depth: 1");
        Assert.Equal((int)HttpStatusCode.MultiStatus, answer.Status);
        return [.. XDocument.Parse(answer.Text).Root!.Elements(Dav + "response").Select(response => response.Element(Dav + "href")!.Value)];
    }
}
