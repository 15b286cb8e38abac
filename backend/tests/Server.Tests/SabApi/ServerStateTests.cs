using System.Text.Json;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Calls that show providers or act on them.</summary>
public sealed class ServerStateTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Status_shows_connections_and_disconnect_closes_idle_ones()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var film = new MockRelease("state", 1, [new MockFile { Name = "film.mkv", Size = 5000, ArticleSize = 900 }]);
        await host.WaitForHistoryAsync(Assert.Single(await host.AddAsync(film.ToNzb(), "Rel.nzb", Token)), Token);

        var server = await ServerAsync(host);
        Assert.Equal(("mock0", true, 8, ""), (server.GetProperty("servername").GetString(), server.GetProperty("serveractive").GetBoolean(), server.GetProperty("servertotalconn").GetInt32(), server.GetProperty("servererror").GetString()));
        Assert.InRange(server.GetProperty("serveractiveconn").GetInt32(), 1, 8);

        await host.CallAsync("mode=disconnect", Token);

        while ((await ServerAsync(host)).GetProperty("serveractiveconn").GetInt32() > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    [Fact]
    public async Task Blocked_provider_shows_its_error_and_unblock_is_accepted()
    {
        int port;
        await using (var mock = await MockServer.StartAsync())
            port = mock.Port;
        await using var host = await ProductHost.StartAsync(
            _folder, null, null, ("SLUICE_CONFIG__USENET__PROVIDERS", JsonSerializer.Serialize(new { Providers = new[] { new { Nickname = "main", Host = "127.0.0.1", Port = port, UseSsl = false } } })));
        var film = new MockRelease("state", 1, [new MockFile { Name = "film.mkv", Size = 5000, ArticleSize = 900 }]);
        await host.WaitForWaitingAsync(Assert.Single(await host.AddAsync(film.ToNzb(), "Rel.nzb", Token)), Token);
        while ((await ServerAsync(host)).GetProperty("serveractive").GetBoolean())
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        var error = (await ServerAsync(host)).GetProperty("servererror").GetString();
        Assert.Equal("ConnectFailed", error);

        await host.CallAsync("mode=status&name=unblock_server&value=another", Token);
        Assert.False((await ServerAsync(host)).GetProperty("serveractive").GetBoolean());
        var answer = await host.CallAsync("mode=status&name=unblock_server&value=main", Token);

        Assert.Equal("""{"status":true}""", answer.ToString());
    }

    private static async Task<JsonElement> ServerAsync(ProductHost host) =>
        Assert.Single((await host.CallAsync("mode=fullstatus", Token)).GetProperty("status").GetProperty("servers").EnumerateArray());
}
