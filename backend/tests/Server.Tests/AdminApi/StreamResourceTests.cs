using System.Globalization;
using System.Net;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Playbacks through the API: which requests form one, which player reads it, and where its bytes are.</summary>
public sealed class StreamResourceTests
{
    private const int ArticleSize = 100_000;
    private const int Articles = 200;
    private const int Megabyte = 1 << 20;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Range_storm_from_one_player_is_one_playback()
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(Film());
        for (var at = 0; at < 8; at++)
        {
            // Each request has its own socket.
            using var player = server.Player(StreamServer.Vlc);
            await StreamServer.ReadAsync(player, path, at * Megabyte, ((at + 1) * Megabyte) - 1);
        }

        var row = await server.RowAsync(row => row["state"]!.ToString() == "ended");
        Assert.Equal(8 * Megabyte, row["bytesSent"]!.GetValue<long>());
        Assert.Equal(("VLC 3.0", "127.0.0.1", 0), (row["player"]!.ToString(), row["client"]!.ToString(), row["seeks"]!.GetValue<int>()));
        Assert.Equal(("film.mkv", path), (row["file"]!["name"]!.ToString(), "content/" + row["file"]!["path"]));
        Assert.Equal(8, (await server.Api.GetAsync($"streams/{row["id"]}"))["requests"]!.GetValue<int>());

        // The same file by its id and by a link; the first read is a seek.
        var viewer = server.Player(StreamServer.Vlc);
        var id = row["file"]!["id"]!.ToString();
        await StreamServer.ReadAsync(viewer, $".ids/{string.Join('/', id.Take(5))}/{id}", 18 * Megabyte, (18 * Megabyte) + 999);
        await StreamServer.ReadAsync(viewer, "view/" + path, (18 * Megabyte) + 1000, (18 * Megabyte) + 1999);
        var detail = await server.Api.GetAsync($"streams/{row["id"]}");
        Assert.Equal((1, 10), (detail["item"]!["seeks"]!.GetValue<int>(), detail["requests"]!.GetValue<int>()));
        var seek = Assert.Single(detail["seeks"]!.AsArray())!;
        Assert.Equal(18 * Megabyte, seek["offset"]!.GetValue<long>());
        Assert.InRange(seek["firstByteMs"]!.GetValue<double>(), 0, double.MaxValue);
        Assert.NotNull(detail["item"]!["firstByteMs"]);
    }

    [Fact]
    public async Task Log_lines_of_a_playback_are_found_by_its_id()
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(Film());
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, (5 * Megabyte) - 1);
        var id = (await server.RowAsync())["id"]!.ToString();
        server.Mock.ChangeMissing(ArticleSelection.All);

        using (var cut = await StreamServer.OpenAsync(server.Player(StreamServer.Vlc), path, 15 * Megabyte))
            await Assert.ThrowsAnyAsync<Exception>(() => cut.EnsureSuccessStatusCode().Content.ReadAsByteArrayAsync(Token));

        var lines = await server.Api.GetAsync($"logs?stream={id}");
        Assert.Contains(lines["items"]!.AsArray(), line => line!["source"]!.ToString() == "WebDav" && line["stream"]!.ToString() == id);
        // Lines of other sources have no stream.
        Assert.Contains((await server.Api.GetAsync("logs"))["items"]!.AsArray(), line => line!["stream"] is null);
    }

    [Fact]
    public async Task Short_reads_by_a_scanner_are_grouped_as_one_scan()
    {
        await using var server = await StreamServer.StartAsync();
        string[] paths = [await server.PublishAsync(Film(1, 3)), await server.PublishAsync(Film(2, 3)), await server.PublishAsync(Film(3, 3))];
        var scanner = server.Player("PlexScanner/1.40");
        foreach (var path in paths)
            await StreamServer.ReadAsync(scanner, "content/" + path, 0, 16_383);
        await StreamServer.ReadAsync(server.Player("curl/8.5.0"), "content/" + paths[0], 0, 99);

        var rows = await server.Api.GetAsync("streams");

        Assert.Empty(rows["items"]!.AsArray());
        Assert.Equal(
            """[{"client":"127.0.0.1","player":"PlexScanner 1.40","files":3,"bytesSent":49152},{"client":"127.0.0.1","player":"curl 8.5","files":1,"bytesSent":100}]""",
            rows["scans"]!.ToJsonString());

        // Scans are listed for one minute.
        server.Clock.Advance(TimeSpan.FromSeconds(60));
        Assert.Empty((await server.Api.GetAsync("streams"))["scans"]!.AsArray());
    }

    [Fact]
    public async Task Each_pair_of_client_and_player_is_a_separate_playback()
    {
        await using var server = await StreamServer.StartAsync(new() { ["SLUICE_CONFIG__GENERAL__TRUSTED_PROXIES"] = "127.0.0.0/8" });
        var path = "content/" + await server.PublishAsync(Film());
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, (5 * Megabyte) - 1);
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc, "192.0.2.7"), path, 0, (5 * Megabyte) - 1);
        await StreamServer.ReadAsync(server.Player("Mozilla/5.0 (X11) Gecko/20100101 Firefox/140.0", "192.0.2.7"), path, 0, (5 * Megabyte) - 1);

        var rows = await server.RowsAsync();

        Assert.Equal(
            ["127.0.0.1 VLC 3.0", "192.0.2.7 Firefox 140.0", "192.0.2.7 VLC 3.0"],
            rows.Select(row => $"{row!["client"]} {row["player"]}").Order());
        Assert.Equal(3, rows.Select(row => row!["id"]!.ToString()).Distinct().Count());
    }

    [Fact]
    public async Task Playback_is_kept_for_a_minute_after_its_last_read()
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(Film());
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, (5 * Megabyte) - 1);
        var id = (await server.RowAsync(row => row["state"]!.ToString() == "ended"))["id"]!.ToString();

        server.Clock.Advance(TimeSpan.FromSeconds(59));
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 5 * Megabyte, (5 * Megabyte) + 99);
        Assert.Equal(id, (await server.RowAsync(row => row["state"]!.ToString() == "ended"))["id"]!.ToString());
        server.Clock.Advance(TimeSpan.FromSeconds(59));
        Assert.Single(await server.RowsAsync());
        server.Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Empty(await server.RowsAsync());
        await server.Api.SendAsync(HttpMethod.Get, $"streams/{id}", null, HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Player_reading_nothing_is_shown_as_paused()
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(Film(1, 800));
        using var answer = await StreamServer.OpenAsync(server.Player(StreamServer.Vlc), path, 0);
        server.Clock.Advance(TimeSpan.FromSeconds(5));

        var detail = await server.WaitForAsync("VLC", "player-slow");
        Assert.Equal("ms", detail["wait"]!["unit"]!.ToString());
        Assert.InRange(detail["wait"]!["value"]!.GetValue<double>(), 1000, double.MaxValue);
        server.Clock.Advance(TimeSpan.FromMinutes(10));

        var row = await server.RowAsync();
        Assert.Equal("paused", row["state"]!.ToString());
        Assert.InRange(row["aheadBytes"]!.GetValue<long>(), 0, row["file"]!["bytes"]!.GetValue<long>() - row["position"]!.GetValue<long>());
    }

    [Fact]
    public async Task Stopped_playback_is_aborted_and_the_client_may_return()
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(Film(1, 800));
        var player = server.Player(StreamServer.Vlc);
        using var answer = await StreamServer.OpenAsync(player, path, 0);
        await using var body = await answer.Content.ReadAsStreamAsync(Token);
        await body.ReadExactlyAsync(new byte[5 * Megabyte], Token);
        var id = (await server.RowAsync())["id"]!.ToString();

        await server.Api.SendAsync(HttpMethod.Delete, $"streams/{id}", null, HttpStatusCode.NoContent);

        await Assert.ThrowsAnyAsync<Exception>(async () => await body.CopyToAsync(Stream.Null, Token));
        await server.Api.SendAsync(HttpMethod.Delete, $"streams/{id}", null, HttpStatusCode.NotFound);
        await StreamServer.ReadAsync(player, path, 0, (5 * Megabyte) - 1);
        Assert.NotEqual(id, (await server.RowAsync())["id"]!.ToString());
    }

    [Fact]
    public async Task Map_shows_cells_on_disk_in_memory_in_flight_or_missing()
    {
        const int OnDisk = 0;
        const int InMemory = 100;
        const int OnTheWay = 150;
        const int Missing = 170;
        await using var server = await StreamServer.StartAsync();
        var film = Film();
        var path = "content/" + await server.PublishAsync(film);
        var player = server.Player(StreamServer.Vlc);
        var id = await ShowAsync(server, player, path);

        // Bytes read at the edge of the file are written to disk too, and stay there when the memory budget changes.
        await StreamServer.ReadAsync(player, path, OnDisk * ArticleSize, (OnDisk * ArticleSize) + 999);
        await MapAsync(server, id, map => map["diskBytes"]!.GetValue<long>() > 0);
        await server.Api.SaveAsync(HttpStatusCode.OK, ("usenet.in-flight-article-budget-mb", "77"));
        await StreamServer.ReadAsync(player, path, InMemory * ArticleSize, (InMemory * ArticleSize) + 999);
        server.Mock.ChangeMissing(ArticleSelection.Article(film.MessageId(0, Missing + 1)));
        using (var gone = await StreamServer.OpenAsync(player, path, Missing * ArticleSize, (Missing * ArticleSize) + 999))
            Assert.Equal(HttpStatusCode.Gone, gone.StatusCode);
        server.Mock.ChangeFaults([new MockFault { Kind = FaultKind.CommandSlow, Duration = TimeSpan.Zero, Articles = ArticleSelection.Article(film.MessageId(0, OnTheWay + 1)) }]);
        var coming = StreamServer.ReadAsync(player, path, OnTheWay * ArticleSize, (OnTheWay * ArticleSize) + 999);
        var detail = await MapAsync(server, id, map => map["inFlight"]!.GetValue<int>() > 0);

        var expected = new char[Articles];
        Array.Fill(expected, '-');
        (expected[OnDisk], expected[InMemory], expected[OnTheWay], expected[Missing]) = ('d', 'm', 'f', 'x');
        Assert.Equal(new string(expected), detail["map"]!["cells"]!.ToString());
        Assert.Equal(ArticleSize, detail["map"]!["memoryBytes"]!.GetValue<long>());
        Assert.Equal((1, 1), (detail["map"]!["inFlight"]!.GetValue<int>(), detail["map"]!["missing"]!.GetValue<int>()));
        var article = Assert.Single(detail["articles"]!.AsArray())!;
        Assert.Equal(("loopback-0", OnTheWay * ArticleSize), (article["provider"]!.ToString(), article["offset"]!.GetValue<int>()));
        Assert.Equal(0, article["bytes"]!.GetValue<long>());
        Assert.Contains(article["state"]!.ToString(), (string[])["asked", "late"]);
        server.Mock.ChangeFaults([]);
        await server.Mock.DropConnectionsAsync();
        await coming;
    }

    [Fact]
    public async Task Stream_calls_need_a_key_and_stopping_needs_full_access()
    {
        await using var server = await StreamServer.StartAsync();
        using var stranger = new HttpClient { BaseAddress = server.Api.Server.Address };
        foreach (var call in (string[])["streams", "streams/abc", "stats"])
        {
            using var answer = await stranger.GetAsync(new Uri("api/" + call, UriKind.Relative), Token);
            Assert.Equal(HttpStatusCode.Unauthorized, answer.StatusCode);
        }

        var (_, reading) = await server.Api.Server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("eyes", hasFullAccess: false, Token);
        stranger.DefaultRequestHeaders.Add("X-Api-Key", reading);
        using var read = await stranger.GetAsync(new Uri("api/streams", UriKind.Relative), Token);
        using var stop = await stranger.DeleteAsync(new Uri("api/streams/abc", UriKind.Relative), Token);
        Assert.Equal((HttpStatusCode.OK, HttpStatusCode.Forbidden), (read.StatusCode, stop.StatusCode));
        await server.Api.SendAsync(HttpMethod.Get, "stats?window=nonsense", null, HttpStatusCode.BadRequest);
    }

    private static MockRelease Film(ulong seed = 1, int articles = Articles) => MockRelease.Plain(seed, (long)articles * ArticleSize, articleSize: ArticleSize);

    /// <summary>Makes a playback visible by a request of some seconds, without reading bytes that the test checks later.</summary>
    private static async Task<string> ShowAsync(StreamServer server, HttpClient player, string path)
    {
        server.Mock.ChangeFaults([new MockFault { Kind = FaultKind.CommandSlow, Duration = TimeSpan.Zero, Verb = "BODY" }]);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(path, UriKind.Relative)) { Headers = { Range = new(0, 99) } };
        var waiting = player.SendAsync(request, enough.Token);
        await server.WaitForAsync("VLC", "article-retry");
        var id = (await server.RowAsync())["id"]!.ToString();
        await enough.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await waiting);
        server.Mock.ChangeFaults([]);
        await server.Mock.DropConnectionsAsync();
        await MapAsync(server, id, map => map["inFlight"]!.GetValue<int>() == 0);
        return id;
    }

    /// <summary>Returns the detail of a playback once its map meets the condition.</summary>
    private static async Task<JsonNode> MapAsync(StreamServer server, string id, Func<JsonNode, bool> condition)
    {
        var detail = new JsonObject() as JsonNode;
        for (var tries = 0; tries < 1000; tries++)
        {
            detail = await server.Api.GetAsync($"streams/{id}");
            if (condition(detail["map"]!))
                return detail;
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        }

        throw new InvalidOperationException(string.Create(CultureInfo.InvariantCulture, $"{detail}"));
    }
}
