using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>The count of a data cap equals the bytes that the news server sent, over a kill, two resets and three restarts (HLT-99).</summary>
public sealed class QuotaRestartTests : IDisposable
{
    private const string AdminPassword = "a-password-of-an-administrator";

    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);
    private static readonly SyntheticFilm Film = new(61, 30_000_000, 500_000);

    private readonly ScratchFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 180_000)]
    [Trait("Category", EndToEndRun.Name)]
    public async Task HLT_99_Count_survives_a_kill_two_resets_and_restarts()
    {
        await using var mock = await MockServer.StartAsync();
        long before = 0;
        await using (var server = await StartAsync(mock))
        {
            using var http = await LogInAsync(server);
            using (var client = new SluiceClient(server))
                await Film.PublishAsync(client, Token);
            await ReadAsync(server, http, mock, before);

            // Each refill saves the count. The second row estimates no lost bytes, because nothing was received since the first.
            await SendAsync(http, "refill", new { bytes = Film.Size });
            await SendAsync(http, "refill", new { bytes = Film.Size });
            await server.KillAsync();
        }

        for (var reset = 0; reset < 2; reset++)
        {
            await using var server = await StartAsync(mock);
            using var http = await LogInAsync(server);
            AssertEqual(mock, before, await UsedAsync(http));
            await SendAsync(http, "reset", new { what = "bytes" });
            before = mock.Stats.Bytes;
            await ReadAsync(server, http, mock, before);
            Assert.Equal(0, await server.StopAsync(Token));
        }

        await using var last = await StartAsync(mock);
        using var final = await LogInAsync(last);
        AssertEqual(mock, before, await UsedAsync(final));
    }

    private Task<ServerProcess> StartAsync(MockServer mock) => ServerProcess.StartAsync(
        _folder.File("data"),
        new Dictionary<string, string>
        {
            ["SLUICE_ADMIN_USER"] = "owner",
            ["SLUICE_ADMIN_PASSWORD"] = AdminPassword,
            ["SLUICE_CONFIG__USENET__SEGMENT_CACHE__ENABLED"] = "false",
            ["SLUICE_CONFIG__USENET__PROVIDERS"] = string.Create(
                CultureInfo.InvariantCulture,
                $$"""{"Providers":[{"Nickname":"block","Host":"127.0.0.1","Port":{{mock.Port}},"UseSsl":false,"MaxConnections":8,"Type":1,"ByteLimit":1000000000000}]}"""),
        },
        Token);

    /// <summary>Reads the film, and waits until the server has received and counted what the news server has sent.</summary>
    private static async Task ReadAsync(ServerProcess server, HttpClient http, MockServer mock, long before)
    {
        using var client = new SluiceClient(server);
        Film.AssertEqual(0, await client.GetAsync(Film.Path, Token));
        Assert.True(mock.Stats.Bytes - before > Film.Size);
        while (!IsEqual(mock, before, await UsedAsync(http)))
            await Task.Delay(Poll, TimeProvider.System, Token);
    }

    private static void AssertEqual(MockServer mock, long before, long used) =>
        Assert.True(IsEqual(mock, before, used), string.Create(CultureInfo.InvariantCulture, $"Counted {used}, sent {mock.Stats.Bytes - before}."));

    private static bool IsEqual(MockServer mock, long before, long used)
    {
        var sent = mock.Stats.Bytes - before;
        return Math.Abs(used - sent) <= sent / 1_000;
    }

    private static async Task<long> UsedAsync(HttpClient http) => (await RowAsync(http))["quota"]!["used"]!.GetValue<long>();

    private static async Task SendAsync(HttpClient http, string action, object body)
    {
        using var answer = await http.PostAsJsonAsync($"api/providers/{(await RowAsync(http))["id"]}/{action}", body, Token);
        answer.EnsureSuccessStatusCode();
    }

    private static async Task<JsonNode> RowAsync(HttpClient http) => JsonNode.Parse(await http.GetStringAsync("api/providers", Token))!["items"]![0]!;

    private static async Task<HttpClient> LogInAsync(ServerProcess server)
    {
        var address = new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{server.Port}"));
        var http = new HttpClient { BaseAddress = address };
        http.DefaultRequestHeaders.Add("X-Csrf", "1");
        http.DefaultRequestHeaders.Add("Origin", address.GetLeftPart(UriPartial.Authority));
        using var session = await http.PostAsJsonAsync("api/session", new { user = "owner", password = AdminPassword }, Token);
        session.EnsureSuccessStatusCode();
        return http;
    }
}
