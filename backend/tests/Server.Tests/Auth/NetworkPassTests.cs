using System.Net;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Auth;

/// <summary>A network without a password admits its devices, but no page of another site in their browsers (S8, DAV-33).</summary>
public sealed class NetworkPassTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Foreign_host_name_needs_a_password()
    {
        await using var server = await StartAsync();

        foreach (var host in (string[])["127.0.0.1", "[::1]", "[2001:db8::1]:3000", "localhost", "localhost:3000", "nas", "nas.local:80", "NAS.LAN", "films.internal", "a.home.arpa", "films.example.com", "Sluice.example.net:8443"])
            Assert.True((await AskAsync(server, "PROPFIND", host)).Status == HttpStatusCode.MultiStatus, host);
        foreach (var host in (string[])["evil.example", "evil.example:31720", "films.example.com.evil.example", "127.0.0.1.evil.example", "evil.lan.example", "local.evil.example"])
        {
            var answer = await AskAsync(server, "PROPFIND", host);
            Assert.True(answer.Status == HttpStatusCode.Unauthorized, host);
        }
    }

    [Fact]
    public async Task Unknown_host_gets_401_with_its_name_and_accepts_a_login()
    {
        await using var server = await StartAsync();

        var refused = await AskAsync(server, "GET", "evil.example:3000");
        Assert.Equal(HttpStatusCode.Unauthorized, refused.Status);
        Assert.Contains("evil.example", refused.Text, StringComparison.Ordinal);
        Assert.Contains("general.allowed-hosts", refused.Text, StringComparison.Ordinal);
        Assert.Equal(HttpStatusCode.OK, (await AskAsync(server, "GET", "evil.example:3000", ("Authorization", RunningServer.Basic("admin", RunningServer.Password).ToString()))).Status);
        // Another route with the same exemption.
        Assert.Equal(HttpStatusCode.Unauthorized, (await AskAsync(server, "GET", "evil.example", path: "/view/content/a")).Status);
        Assert.Equal(HttpStatusCode.NotFound, (await AskAsync(server, "GET", "nas", path: "/view/content/a")).Status);
    }

    [Fact]
    public async Task Asterisk_allows_any_host()
    {
        await using var server = await StartAsync("*");

        Assert.Equal(HttpStatusCode.MultiStatus, (await AskAsync(server, "PROPFIND", "evil.example")).Status);
    }

    [Theory]
    [InlineData("Origin", "http://evil.example", true)]
    [InlineData("Origin", "null", true)]
    [InlineData("Origin", "http://evil@nas:3000", true)]
    [InlineData("Origin", "http://nas:3001", true)]
    [InlineData("Sec-Fetch-Site", "cross-site", true)]
    [InlineData("Origin", "http://nas:3000", false)]
    [InlineData("Origin", "https://films.example.com", false)]
    [InlineData("Sec-Fetch-Site", "same-origin", false)]
    [InlineData("X-Other", "a program", false)]
    public async Task Cross_site_page_changes_nothing(string name, string value, bool isRefused)
    {
        await using var server = await StartAsync();

        foreach (var verb in (string[])["PUT", "DELETE", "MKCOL", "MOVE", "PROPPATCH", "LOCK", "POST"])
        {
            var answer = await AskAsync(server, verb, "nas:3000", (name, value), "/nzbs/movies/a.nzb");
            Assert.True(answer.Status == HttpStatusCode.Unauthorized == isRefused, $"{verb} {name}: {value}: {answer.Status}");
        }

        Assert.Equal(HttpStatusCode.OK, (await AskAsync(server, "GET", "nas:3000", (name, value))).Status);
    }

    private Task<RunningServer> StartAsync(string hosts = "sluice.example.net") => RunningServer.StartAsync(_temporary, new()
    {
        ["DISABLE_WEBDAV_AUTH"] = "true",
        ["SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS"] = "127.0.0.0/8",
        ["SLUICE_CONFIG__GENERAL__BASE_URL"] = "https://films.example.com",
        ["SLUICE_CONFIG__GENERAL__ALLOWED_HOSTS"] = hosts,
    });

    private static async Task<(HttpStatusCode Status, string Text)> AskAsync(
        RunningServer server, string verb, string host, (string Name, string Value)? header = null, string path = "/README")
    {
        using var request = new HttpRequestMessage(new HttpMethod(verb), new Uri(server.Address, path)) { Headers = { Host = host } };
        request.Headers.TryAddWithoutValidation("Depth", "0");
        if (header is var (name, value))
            request.Headers.TryAddWithoutValidation(name, value);
        using var answer = await server.Client.SendAsync(request, Token);
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync(Token));
    }
}
