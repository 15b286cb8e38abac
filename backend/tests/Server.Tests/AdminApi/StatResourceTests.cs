using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Arr;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Startup;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The overview through the API: samples, items that need attention, and the first evening.</summary>
public sealed class StatResourceTests : IDisposable
{
    private const int ArticleSize = 100_000;

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Current_rates_and_figures_cover_the_last_seconds()
    {
        const int Read = 5_000_000;
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(MockRelease.Plain(1, 20_000_000, articleSize: ArticleSize));
        await TickAsync(server, 1);
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, Read - 1);
        await TickAsync(server, 2);
        var played = await server.Api.GetAsync("stats");

        Assert.Equal(Read, played["now"]!["toPlayers"]!.GetValue<long>());
        Assert.InRange(played["now"]!["fromProviders"]!.GetValue<long>(), Read - (10 * ArticleSize), 2 * Read);
        Assert.Equal(8, played["now"]!["connectionsMax"]!.GetValue<int>());
        Assert.NotNull(played["figures"]!["firstByteP50"]);
        Assert.Equal((0, 1), (played["figures"]!["queueItems"]!.GetValue<int>(), played["figures"]!["releaseCount"]!.GetValue<int>()));
        Assert.Null(played["figures"]!["limitBytesPerSecond"]);
        var before = played["figures"]!["cacheHitPercent"]!.GetValue<double>();

        // The same bytes now come from memory.
        await StreamServer.ReadAsync(server.Player("mpv/0.38"), path, Read - 1_000_000, Read - 1);
        await TickAsync(server, 3);
        var again = await server.Api.GetAsync("stats");
        Assert.Equal(1_000_000, again["now"]!["toPlayers"]!.GetValue<long>());
        Assert.InRange(again["now"]!["fromCache"]!.GetValue<long>(), 1_000_000, 1_000_000 + (2 * ArticleSize));
        Assert.InRange(again["figures"]!["cacheHitPercent"]!.GetValue<double>(), before + 1, 100);
    }

    [Theory]
    [InlineData("10m", 60, 10, 60)]
    [InlineData("10m", 360, 2, 300)]
    [InlineData("1h", 60, 60, 60)]
    [InlineData("1h", 360, 10, 360)]
    [InlineData("24h", 60, 1_440, 60)]
    [InlineData("24h", 360, 240, 360)]
    [InlineData("7d", 360, 1_680, 360)]
    [InlineData("30d", 360, 7_200, 360)]
    public async Task Rate_windows_show_traffic_and_survive_a_restart(string window, int points, int step, int count)
    {
        const int Read = 8_000_000;
        await using var server = await StreamServer.StartAsync();
        var services = server.Api.Server.Services;
        var (store, database) = (services.GetRequiredService<RateStore>(), services.GetRequiredService<SluiceDatabase>());
        await TickAsync(server, 1);
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), "content/" + await server.PublishAsync(MockRelease.Plain(1, 20_000_000, articleSize: ArticleSize)), 0, Read - 1);
        for (var second = 2; second <= 25; second++)
            await TickAsync(server, second);
        var shown = RateWindow.All.Single(each => each.Word == window);

        var columns = (await server.Api.GetAsync($"stats?window={window}&points={points}"))["columns"]!;
        // A new sampler has no samples of this run, as after a restart.
        await store.SaveAsync(Token);
        var providers = services.GetRequiredService<ProviderHost>();
        var sampler = new ThroughputSampler(services.GetRequiredService<PlaybackRegistry>(), providers, services.GetRequiredService<ProcessorTime>(), server.Clock);
        var after = await new RateStore(sampler, providers, database, server.Clock).ReadAsync(shown, points, Token);

        Assert.Equal((step, count), (columns["step"]!.GetValue<int>(), columns["toPlayers"]!.AsArray().Count));
        AssertMoved([.. columns["toPlayers"]!.AsArray().Select(rate => rate!.GetValue<long>())], columns["start"]!.GetValue<DateTimeOffset>().ToUnixTimeSeconds());
        AssertMoved(after.Rates(static moved => moved.Sent), after.Start);
        var share = Assert.Single((await server.Api.GetAsync($"stats/providers?window={window}&points={points}"))["providers"]!.AsArray())!;
        Assert.NotEqual(0, share["rates"]!.AsArray().Sum(static rate => rate!.GetValue<long>()));

        void AssertMoved(IReadOnlyList<long> rates, long start)
        {
            var now = server.Clock.GetUtcNow().ToUnixTimeSeconds();
            var bytes = rates.Select((rate, i) => rate * 1000 * Math.Min(step, now - start - ((long)i * step))).Sum();
            Assert.InRange(bytes, Read - (count * step * 1000L), Read + (step * 1000L));
            Assert.Equal(0, start % step);
        }
    }

    [Fact]
    public async Task Minutes_without_traffic_write_nothing()
    {
        await using var server = await StreamServer.StartAsync();
        var services = server.Api.Server.Services;
        var (store, database) = (services.GetRequiredService<RateStore>(), services.GetRequiredService<SluiceDatabase>());
        // The probe of the provider at the start is traffic, and may end before or after the first sample.
        while (services.GetRequiredService<ProviderHost>().BytesReceived == 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        await TickAsync(server, 1);
        await store.SaveAsync(Token);
        await database.WriteAsync(connection => connection.Execute("DELETE FROM rate_minute"), Token);
        for (var second = 2; second <= 3; second++)
            await TickAsync(server, second);
        await store.SaveAsync(Token);
        Assert.Equal(0, await CountAsync());

        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), "content/" + await server.PublishAsync(MockRelease.Plain(1, 1_000_000, articleSize: ArticleSize)), 0, 999_999);
        await TickAsync(server, 4);
        await store.SaveAsync(Token);
        Assert.Equal(1, await CountAsync());

        // A month later, a second minute has traffic and the old one is deleted.
        server.Clock.Advance(TimeSpan.FromDays(31));
        await StreamServer.ReadAsync(server.Player("mpv/0.38"), "content/movies/film-1/film.mkv", 0, 99_999);
        await TickAsync(server, 6);
        await store.SaveAsync(Token);
        Assert.Equal(1, await CountAsync());

        Task<int> CountAsync() => database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM rate_minute"), Token);
    }

    [Fact]
    public async Task Long_JSON_is_compressed_and_the_event_stream_is_not()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        Assert.Equal(("br", true), await EncodingAsync("api/stats?window=30d&points=360"));
        Assert.Equal(("br", true), await EncodingAsync("api/settings/schema"));
        Assert.Equal((null, false), await EncodingAsync("api/events?topics=stats"));
        Assert.Equal((null, false), await EncodingAsync($"api?mode=fullstatus&output=json&apikey={RunningServer.ApiKey}"));

        async Task<(string? Encoding, bool Varies)> EncodingAsync(string path)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(path, UriKind.Relative)) { Headers = { { "Accept-Encoding", "br, gzip" } } };
            using var answer = await server.Server.Client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            return (answer.Content.Headers.ContentEncoding.SingleOrDefault(), answer.Headers.Vary.Contains("Accept-Encoding"));
        }
    }

    [Theory]
    [InlineData("stats?window=day")]
    [InlineData("stats?points=61")]
    [InlineData("stats/providers?window=1y")]
    public async Task Unknown_window_or_number_of_points_returns_400(string path)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        await server.SendAsync(HttpMethod.Get, path, expected: HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task Completed_first_steps_stay_completed_after_a_restart()
    {
        await using var mock = await MockServer.StartAsync();
        var provider = ProviderSettings.For([.. mock.Ports]);
        await using (var server = await ResourceServer.StartAsync(_temporary))
        {
            Assert.Equal("""{"hasProvider":false,"hasPlayed":false,"hasApp":false}""", await StepsAsync(server));
            using var client = new HttpClient { BaseAddress = server.Server.Address };
            using (var refused = await client.GetAsync(new Uri($"api?mode=queue&output=json&apikey=wrong{RunningServer.ApiKey}", UriKind.Relative), Token))
                Assert.Equal(HttpStatusCode.Forbidden, refused.StatusCode);
            Assert.Equal("""{"hasProvider":false,"hasPlayed":false,"hasApp":false}""", await StepsAsync(server));
            client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
            await client.GetByteArrayAsync(await ClipAsync(client), Token);
            Assert.Equal("""{"hasProvider":false,"hasPlayed":true,"hasApp":false}""", await StepsAsync(server));
        }

        await using (var server = await ResourceServer.StartAsync(_temporary, provider))
        {
            Assert.Equal("""{"hasProvider":true,"hasPlayed":true,"hasApp":false}""", await StepsAsync(server));
            using var client = new HttpClient { BaseAddress = server.Server.Address };
            await client.GetStringAsync(new Uri($"api?mode=queue&output=json&apikey={RunningServer.ApiKey}", UriKind.Relative), Token);
            Assert.Equal("""{"hasProvider":true,"hasPlayed":true,"hasApp":true}""", await StepsAsync(server));
        }

        await using var last = await ResourceServer.StartAsync(_temporary, provider);
        Assert.Equal("""{"hasProvider":true,"hasPlayed":true,"hasApp":true}""", await StepsAsync(last));
    }

    [Fact]
    public async Task Attention_lists_every_kind_of_problem()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new()
        {
            ["DISABLE_WEBDAV_AUTH"] = "true",
            ["SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS"] = "192.0.2.0/24",
            ["SLUICE_CONFIG__QUEUE__WORKER_COUNT"] = "99",
            ["SLUICE_CONFIG__QUEUE__WATCH_DIR"] = Path.Combine(_temporary.Root, "nowhere"),
        });
        var services = server.Server.Services;
        var arr = services.GetRequiredService<ArrStore>();
        var sonarr = await arr.SaveAsync(new ArrServer("", ArrKind.Sonarr, "Sonarr", "http://127.0.0.1:1", "key", "tv"), Token);
        arr.Note(sonarr.Id, "It cannot be reached.");
        services.GetRequiredService<StorageState>().Note(StorageException.Full(_temporary.Root));

        var rows = await RowsAsync(server, rows => rows.Any(static row => row!["kind"]!.ToString() == "watch-folder"));

        Assert.Equal(
            ["arr", "log", "no-provider", "open-tree", "setting", "storage", "watch-folder"],
            rows.Select(static row => row!["kind"]!.ToString()).Distinct().Order());
        Assert.Equal("queue.worker-count", Single("setting")["target"]!.ToString());
        Assert.StartsWith("queue.worker-count from SLUICE_CONFIG__QUEUE__WORKER_COUNT \"99\" must be", Single("setting")["sentence"]!.ToString(), StringComparison.Ordinal);
        Assert.Equal("Sonarr: It cannot be reached.", Single("arr")["sentence"]!.ToString());
        Assert.Equal("error", Single("storage")["level"]!.ToString());
        Assert.Equal(["error", "warning"], rows.Select(static row => row!["level"]!.ToString()).Distinct());
        var lines = (await server.GetAsync("logs?level=warning"))["items"]!.AsArray();
        Assert.All(
            rows.Where(static row => row!["kind"]!.ToString() == "log"),
            row => Assert.Equal(row!["sentence"]!.ToString(), lines.Single(line => line!["seq"]!.ToString() == row["target"]!.ToString())!["text"]!.ToString()));

        // In safe mode this API is closed, so the row is read directly.
        services.GetRequiredService<SafeMode>().EnterDamaged("db", "a test");
        Assert.Equal(AttentionKind.SafeMode, services.GetRequiredService<Attention>().Collect()[0].Kind);

        JsonNode Single(string kind) => Assert.Single(rows, row => row!["kind"]!.ToString() == kind)!;
    }

    [Fact]
    public async Task Repeated_warning_is_listed_once()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var warnings = server.Server.Services.GetRequiredService<RecentWarnings>();
        foreach (var (number, text) in new[] { (1_000_001, "It fails."), (1_000_002, "It fails."), (1_000_003, "It fails otherwise."), (1_000_004, "It fails.") })
            warnings.Add(new RecentWarning(number, LogLevel.Warning, text, TimeProvider.System.GetUtcNow(), "Tested"));

        var rows = await RowsAsync(server, static rows => rows.Any(static row => row!["target"]?.ToString() == "1000004"));

        Assert.Equal(["1000004", "1000003"], rows.Select(static row => row!["target"]?.ToString()).Where(static target => target?.StartsWith("100000", StringComparison.Ordinal) == true));
    }

    [Theory]
    [InlineData("true", "192.0.2.0/24")]
    [InlineData("false", "")]
    public async Task Session_response_lists_the_networks_without_a_password(string disabled, string told)
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new()
        {
            ["DISABLE_WEBDAV_AUTH"] = disabled,
            ["SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS"] = "192.0.2.0/24",
        });

        Assert.Equal(told, string.Join(' ', (await server.GetAsync("session"))["openTo"]!.AsArray().Select(static network => network!.ToString())));
    }

    [Fact]
    public async Task Failing_provider_is_listed_with_its_id()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { User = "me", Password = "right" }] });
        await using var server = await ResourceServer.StartAsync(_temporary, ProviderSettings.For(mock.Ports, "me", "wrong"));

        var rows = await RowsAsync(server, rows => rows.Any(static row => row!["kind"]!.ToString() == "provider-fails"));

        var row = Assert.Single(rows, static row => row!["kind"]!.ToString() == "provider-fails")!;
        Assert.Equal("error", row["level"]!.ToString());
        Assert.Equal("loopback-0 rejected the username or password.", row["sentence"]!.ToString());
        Assert.True(Guid.TryParse(row["target"]!.ToString(), out _));
    }

    private static async Task<string> StepsAsync(ResourceServer server) => (await server.GetAsync("stats"))["steps"]!.ToJsonString();

    private static async Task<Uri> ClipAsync(HttpClient client)
    {
        using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), new Uri($"content/{Server.Library.BuiltInClip.Category}/", UriKind.Relative));
        request.Headers.Add("Depth", "1");
        using var answer = await client.SendAsync(request, Token);
        var listing = System.Xml.Linq.XDocument.Parse(await answer.Content.ReadAsStringAsync(Token));
        return new Uri(listing.Descendants("{DAV:}href").Select(static href => href.Value).Last(), UriKind.Relative);
    }

    /// <summary>Advances the clock by one second and waits for the sample.</summary>
    private static async Task TickAsync(StreamServer server, int samples)
    {
        server.Clock.Advance(TimeSpan.FromSeconds(1));
        var sampler = server.Api.Server.Services.GetRequiredService<ThroughputSampler>();
        while (sampler.Recent(RateWindow.All[0]).Count < samples)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }

    private static async Task<JsonArray> RowsAsync(ResourceServer server, Func<JsonArray, bool> condition)
    {
        JsonArray rows = [];
        for (var tries = 0; tries < 1000; tries++)
        {
            rows = (await server.GetAsync("stats"))["attention"]!.AsArray();
            if (condition(rows))
                return rows;
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        }

        throw new InvalidOperationException(rows.ToJsonString());
    }
}
