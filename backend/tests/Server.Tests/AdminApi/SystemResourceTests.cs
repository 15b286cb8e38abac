using System.Net;
using System.Net.Sockets;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The state of the server and its public addresses.</summary>
public sealed class SystemResourceTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task System_reports_mode_checks_and_free_space()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        var system = await server.GetAsync("system");

        Assert.Equal(("normal", "ordinary"), (system["mode"]!.ToString(), system["form"]!.ToString()));
        Assert.All(system["checks"]!.AsArray(), check => Assert.True(check!["ok"]!.GetValue<bool>()));
        Assert.True(system["residentBytes"]!.GetValue<long>() > 0);
        Assert.True(system["freeBytes"]!.GetValue<long>() > 0);
    }

    [Fact]
    public async Task Access_card_uses_the_request_address()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new() { ["URL_BASE"] = "/sub", ["MOUNT_DIR"] = "/mnt/sluice" });

        var here = await server.GetAsync("access");
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(server.Server.Address, "sub/api/access"));
        request.Headers.Host = "nas.test";
        using var answer = await server.Server.Client.SendAsync(request, Token);
        var there = JsonNode.Parse(await answer.Content.ReadAsStringAsync(Token))!;

        Assert.Equal((true, "/sub", server.Server.Address.Port), (here["isLoopback"]!.GetValue<bool>(), here["urlBase"]!.ToString(), here["port"]!.GetValue<int>()));
        Assert.Equal(("http://nas.test", false), (there["address"]!.ToString(), there["isLoopback"]!.GetValue<bool>()));
        Assert.Equal($"http://sluice:{server.Server.Address.Port}", there["composeAddress"]!.ToString());
        Assert.Equal(("admin", RunningServer.ApiKey, "/mnt/sluice"), (here["webDavUser"]!.ToString(), here["sabKey"]!.ToString(), here["mountDir"]!.ToString()));
    }

    [Fact]
    public async Task Access_card_warns_if_the_latest_rclone_is_too_old()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        Assert.Null((await server.GetAsync("access"))["oldRclone"]);
        // An upgraded container has a new address, 127.0.0.2.
        foreach (var (address, agent, expected) in new[]
        {
            ("127.0.0.1", "rclone/v1.60.1-DEV", "1.60.1"), ("127.0.0.1", "curl/8.7", "1.60.1"), ("127.0.0.1", "rclone/", ""), ("127.0.0.2", "rclone/v1.75.1", null),
            ("127.0.0.1", "rclone/v1.60.1-DEV", "1.60.1"),
        })
        {
            using var client = ClientAt(address);
            using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), server.Server.Address);
            request.Headers.Authorization = RunningServer.Basic("admin", RunningServer.Password);
            request.Headers.TryAddWithoutValidation("User-Agent", agent);
            request.Headers.Add("Depth", "0");
            using var listed = await client.SendAsync(request, Token);
            Assert.Equal(HttpStatusCode.MultiStatus, listed.StatusCode);
            Assert.Equal(expected, (await server.GetAsync("access"))["oldRclone"]?.ToString());
        }
    }

    [Fact]
    public async Task Clients_topic_shows_the_first_request_of_a_mount()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        using var events = await EventStreamClient.WatchAsync(server.Server.Client, "topics=clients");
        var before = await events.ReadAsync();
        Assert.Empty(before.Data!["items"]!.AsArray());
        using var client = ClientAt("127.0.0.2");
        using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), server.Server.Address);
        request.Headers.Authorization = RunningServer.Basic("admin", RunningServer.Password);
        request.Headers.TryAddWithoutValidation("User-Agent", "rclone/v1.75.0");
        request.Headers.Add("Depth", "0");
        using var listed = await client.SendAsync(request, Token);

        JsonNode? row = null;
        while (row is null)
            row = (await events.ReadAsync()).Data!["items"]!.AsArray().SingleOrDefault();

        Assert.Equal(("rclone 1.75", "127.0.0.2"), (row["name"]!.ToString(), row["address"]!.ToString()));
        Assert.True(row["lastAt"]!.GetValue<DateTimeOffset>() >= before.Data["at"]!.GetValue<DateTimeOffset>());
    }

    [Fact]
    public async Task Access_card_shows_the_strm_folder()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        Assert.Null((await server.GetAsync("access"))["strmFolder"]);

        await server.SaveAsync(HttpStatusCode.OK, ("api.completed-downloads-dir", "/data/strm/"), ("api.import-strategy", "strm"));

        Assert.Equal("/data/strm", (await server.GetAsync("access"))["strmFolder"]!.ToString());
    }

    [Fact]
    public async Task SABnzbd_key_is_hidden_from_read_only_keys()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        var (_, key) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("reader", hasFullAccess: false, Token);
        server.Client.DefaultRequestHeaders.Add("X-Api-Key", key);

        var card = await server.Client.GetStringAsync("api/access", Token);

        Assert.Null(JsonNode.Parse(card)!["sabKey"]);
        Assert.DoesNotContain(RunningServer.ApiKey, card, StringComparison.Ordinal);
    }

    /// <summary>Creates a client that connects from this address.</summary>
    private static HttpClient ClientAt(string address) => new(new SocketsHttpHandler
    {
        ConnectCallback = async (context, cancel) =>
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Bind(new IPEndPoint(IPAddress.Parse(address), 0));
            await socket.ConnectAsync(context.DnsEndPoint, cancel);
            return new NetworkStream(socket, ownsSocket: true);
        },
    });
}
