using System.Net.Http.Headers;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The whole server with a film and a news server; playbacks are timed by a manual clock.</summary>
internal sealed class StreamServer : IAsyncDisposable
{
    public const string Vlc = "VLC/3.0.20 LibVLC/3.0.20";

    private readonly TemporaryFolder _folder = new();
    private readonly List<HttpClient> _players = [];

    private StreamServer(MockServer mock) => Mock = mock;

    public MockServer Mock { get; }

    public ManualTimeProvider Clock { get; } = new();

    public ResourceServer Api { get; private set; } = null!;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <param name="variables">Environment variables in addition to the provider.</param>
    /// <param name="connections">Connection limit of the account.</param>
    /// <param name="processor">Processor time as a function of the manual clock; null for none.</param>
    /// <param name="byteLimit">Data cap of the account; 0 for none.</param>
    public static async Task<StreamServer> StartAsync(
        Dictionary<string, string>? variables = null, int connections = 8, Func<ManualTimeProvider, TimeSpan>? processor = null, long byteLimit = 0)
    {
        var server = new StreamServer(await MockServer.StartAsync());
        var all = ProviderSettings.For([.. server.Mock.Ports]);
        all["SLUICE_CONFIG__USENET__PROVIDERS"] = all["SLUICE_CONFIG__USENET__PROVIDERS"].Replace("\"MaxConnections\":8", $"\"MaxConnections\":{connections},\"ByteLimit\":{byteLimit}", StringComparison.Ordinal);
        foreach (var (name, value) in variables ?? [])
            all[name] = value;
        server.Api = await ResourceServer.StartAsync(server._folder, all, services => services
            .AddSingleton<ProcessorTime>(() => processor?.Invoke(server.Clock) ?? TimeSpan.Zero)
            .AddSingleton(provider => new PlaybackRegistry(provider.GetRequiredService<Playback>(), provider.GetRequiredService<PlaybackStops>(), server.Clock))
            .AddSingleton(provider => new Receipts(
                provider.GetRequiredService<PlaybackRegistry>(), provider.GetRequiredService<ReceiptStore>(), provider.GetRequiredService<IOptionsMonitor<ReceiptOptions>>(), server.Clock))
            .AddSingleton(provider => new ThroughputSampler(
                provider.GetRequiredService<PlaybackRegistry>(), provider.GetRequiredService<ProviderHost>(), provider.GetRequiredService<ProcessorTime>(), server.Clock))
            .AddSingleton(provider => new RateStore(
                provider.GetRequiredService<ThroughputSampler>(), provider.GetRequiredService<ProviderHost>(), provider.GetRequiredService<SluiceDatabase>(), server.Clock)));
        return server;
    }

    /// <summary>Adds a film and waits until it is readable.</summary>
    /// <returns>Its path below <c>/content</c>.</returns>
    public async Task<string> PublishAsync(MockRelease film)
    {
        using var client = new SluiceClient(Api.Server.Address.Port, "admin", RunningServer.Password, RunningServer.ApiKey);
        await client.PublishedAsync(await client.AddFileAsync("movies", $"film-{film.Seed}", film.ToNzb(), Token), Token);
        return $"movies/film-{film.Seed}/film.mkv";
    }

    /// <summary>Creates the HTTP client of a player.</summary>
    public HttpClient Player(string agent, string? forwarded = null)
    {
        var player = new HttpClient { BaseAddress = Api.Server.Address, Timeout = TimeSpan.FromMinutes(5) };
        player.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
        player.DefaultRequestHeaders.UserAgent.ParseAdd(agent);
        if (forwarded is not null)
            player.DefaultRequestHeaders.Add("X-Forwarded-For", forwarded);
        _players.Add(player);
        return player;
    }

    /// <summary>Requests a range of a file; the caller reads and disposes the response.</summary>
    public static Task<HttpResponseMessage> OpenAsync(HttpClient player, string path, long from, long? to = null)
    {
        var request = new HttpRequestMessage(HttpMethod.Get, new Uri(path, UriKind.Relative)) { Headers = { Range = new RangeHeaderValue(from, to) } };
        return player.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
    }

    /// <summary>Reads a range of a file to its end.</summary>
    public static async Task<byte[]> ReadAsync(HttpClient player, string path, long from, long to)
    {
        using var answer = await OpenAsync(player, path, from, to);
        answer.EnsureSuccessStatusCode();
        return await answer.Content.ReadAsByteArrayAsync(Token);
    }

    /// <summary>Waits until the server has closed all files that clients read, and no article is on its way.</summary>
    public async Task QuietAsync()
    {
        var providers = Api.Server.Services.GetRequiredService<ProviderHost>();
        while (providers.Engine.OpenStreams > 0 || Mock.Stats.Waiting > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }

    /// <summary>
    /// Slows each connection, because the mock counts what it writes: a socket that is closed in the middle of an article then leaves nearly
    /// nothing uncounted in the system's buffers.
    /// </summary>
    public void LeaveNothingUnread() => Mock.Change(0, static provider => provider with { ConnectionBandwidth = 4_000_000 });

    /// <summary>Waits until the server is quiet and has counted the bytes of closed sockets too, which takes until the mock has closed them.</summary>
    public async Task CountedAsync()
    {
        await QuietAsync();
        var uses = Api.Server.Services.GetRequiredService<ProviderHost>().Uses;
        for (var tries = 0; tries < 1_500 && uses.Values.Sum(static use => use.Lanes.Total) < Mock.Stats.Bytes * 0.999; tries++)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    /// <summary>Returns the rows of all playbacks.</summary>
    public async Task<JsonArray> RowsAsync() => (await Api.GetAsync("streams"))["items"]!.AsArray();

    /// <summary>Returns the only playback's row once it meets the condition.</summary>
    public async Task<JsonNode> RowAsync(Func<JsonNode, bool>? condition = null)
    {
        JsonArray rows = [];
        for (var tries = 0; tries < 600; tries++)
        {
            rows = await RowsAsync();
            if (rows.Count == 1 && condition?.Invoke(rows[0]!) != false)
                return rows[0]!;
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        }

        throw new InvalidOperationException(rows.ToJsonString());
    }

    /// <summary>Advances the clock in steps until a playback reports the wait reason; a failure shows the last state.</summary>
    /// <param name="agent">Start of the player's name.</param>
    /// <param name="reason">The reason as the API reports it.</param>
    public async Task<JsonNode> WaitForAsync(string agent, string reason)
    {
        var seen = "no playback";
        for (var tries = 0; tries < 600; tries++)
        {
            Clock.Advance(TimeSpan.FromMilliseconds(300));
            foreach (var row in await RowsAsync())
            {
                if (!row!["player"]!.ToString().StartsWith(agent, StringComparison.Ordinal))
                    continue;
                var detail = await Api.GetAsync($"streams/{row["id"]}");
                seen = detail.ToJsonString();
                if (detail["wait"]!["reason"]!.ToString() == reason)
                    return detail;
            }

            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        }

        throw new InvalidOperationException(seen);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var player in _players)
            player.Dispose();
        await Api.DisposeAsync();
        await Mock.DisposeAsync();
        _folder.Dispose();
    }
}
