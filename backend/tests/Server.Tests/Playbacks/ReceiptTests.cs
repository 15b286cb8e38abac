using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Tests.AdminApi;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Server.Tests.Playbacks;

/// <summary>Each playback leaves a receipt, scans leave one per client and hour, and all add up to the bytes of the providers (OPS-43).</summary>
public sealed class ReceiptTests
{
    private const int ArticleSize = 100_000;
    private const int FilmSize = 20_000_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Playback_leaves_a_receipt()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, 1);
        var player = server.Player(StreamServer.Vlc);
        await StreamServer.ReadAsync(player, path, 0, 4_999_999);
        await StreamServer.ReadAsync(player, path, 15_000_000, 15_999_999);
        await server.QuietAsync();

        var open = Assert.Single(await SavedAsync(server))!;
        Assert.True(open["open"]!.GetValue<bool>());
        await ForgetAsync(server);
        var row = Assert.Single(await SavedAsync(server))!;

        Assert.False(row["open"]!.GetValue<bool>());
        Assert.Equal(open["id"]!.ToString(), row["id"]!.ToString());
        Assert.Equal(("playback", "admin", "VLC 3.0", 1), (row["kind"]!.ToString(), row["login"]!.ToString(), row["player"]!.ToString(), row["files"]!.GetValue<int>()));
        Assert.Equal(("movies/film-1/film.mkv", "film.mkv"), (row["file"]!["path"]!.ToString(), row["file"]!["name"]!.ToString()));
        Assert.Equal((6_000_000, 1, 0, 0), (Number(row, "bytesSent"), Number(row, "seeks"), Number(row, "gaps"), Number(row, "waits")));
        Assert.InRange(Number(row, "bytesFromProviders"), 5_900_000, server.Mock.Stats.Bytes);
        var share = Assert.Single(row["providers"]!.AsArray())!;
        Assert.Equal(("loopback-0", Number(row, "bytesFromProviders")), (share["name"]!.ToString(), Number(share, "bytes")));
        Assert.NotNull(row["firstByteMs"]);
        Assert.Equal(server.Clock.GetUtcNow().AddSeconds(-61), row["endedAt"]!.GetValue<DateTimeOffset>());
    }

    [Fact]
    public async Task Repeated_bytes_are_counted_as_memory()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, 1);
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, 4_999_999);
        await server.QuietAsync();
        var cost = Number(Assert.Single(await SavedAsync(server))!, "bytesFromProviders");

        await StreamServer.ReadAsync(server.Player("mpv/0.38"), path, 0, 4_499_999);
        await server.QuietAsync();

        var rows = await SavedAsync(server);
        var (first, second) = (Of(rows, "VLC 3.0"), Of(rows, "mpv 0.38"));
        Assert.Equal((cost, 0), (Number(first, "bytesFromProviders"), Number(second, "bytesFromProviders")));
        Assert.InRange(Number(second, "bytesFromMemory"), 4_400_000, 4_500_000 + ArticleSize);
        Assert.Empty(second["providers"]!.AsArray());
    }

    [Fact]
    public async Task Scans_of_a_client_share_a_row_for_an_hour()
    {
        await using var server = await StreamServer.StartAsync();
        string[] films = [await PublishAsync(server, 1), await PublishAsync(server, 2), await PublishAsync(server, 3)];
        foreach (var film in films)
            await StreamServer.ReadAsync(server.Player("Scanner/1.0"), film, 1_000_000, 1_065_535);
        await StreamServer.ReadAsync(server.Player("Other/2.0"), films[0], 8_000_000, 8_065_535);
        await ForgetAsync(server);
        var rows = await SavedAsync(server);
        Assert.Equal(2, rows.Count);
        Assert.Equal(("scan", 3, 3 * 65_536), Shape(Of(rows, "Scanner 1.0")));
        Assert.Null(Of(rows, "Scanner 1.0")["file"]);

        await StreamServer.ReadAsync(server.Player("Scanner/1.0"), films[0], 12_000_000, 12_065_535);
        await ForgetAsync(server);
        Assert.Equal(("scan", 4, 4 * 65_536), Shape(Of(await SavedAsync(server), "Scanner 1.0")));

        server.Clock.SetWallClock(TimeSpan.FromHours(1));
        await StreamServer.ReadAsync(server.Player("Scanner/1.0"), films[0], 16_000_000, 16_065_535);
        await ForgetAsync(server);
        rows = await SavedAsync(server);
        Assert.Equal(3, rows.Count);
        Assert.Equal(("scan", 1, 65_536), Shape(rows[0]!));
        Assert.Equal(LaneBytes(server).Scans, rows.Sum(static row => Number(row!, "bytesFromProviders")));

        static (string, int, int) Shape(JsonNode row) => (row["kind"]!.ToString(), (int)Number(row, "files"), (int)Number(row, "bytesSent"));
    }

    [Fact]
    public async Task Receipts_add_up_to_the_lanes_and_lanes_to_the_bytes()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, 1, size: 40_000_000);
        server.LeaveNothingUnread();
        var importing = server.PublishAsync(MockRelease.Plain(2, FilmSize, articleSize: ArticleSize));
        // Two readers of one film, readers that leave in the middle, a scan and a read of the tracks, beside an import.
        await Task.WhenAll(
            StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, 39_999_999),
            StreamServer.ReadAsync(server.Player("mpv/0.38"), path, 2_000_000, 30_000_000),
            LeaveAsync(server, path),
            importing);
        var film = (await server.Api.GetAsync("files?path=movies/film-2"))["items"]!.AsArray().Single()!["id"];
        await server.Api.GetAsync($"files/{film}/tracks");
        await StreamServer.ReadAsync(server.Player("Scanner/1.0"), "content/" + await importing, 9_000_000, 9_065_535);
        await server.CountedAsync();
        await ForgetAsync(server);

        var rows = await SavedAsync(server);
        var lanes = LaneBytes(server);
        Assert.Equal(0, lanes.Undecided);
        Assert.Equal(lanes.Playback, Sum("playback"));
        Assert.Equal(lanes.Scans, Sum("scan"));
        // The readers that leave read too little to be playbacks, and pay for the articles that they requested first.
        Assert.True(lanes is { Playback: > 30_000_000, Scans: > ArticleSize, Import: > ArticleSize, Other: > ArticleSize }, lanes.ToString());
        Assert.True(lanes.Playback + lanes.Scans > 40_000_000, lanes.ToString());
        Assert.InRange((double)lanes.Total, server.Mock.Stats.Bytes * 0.999, server.Mock.Stats.Bytes * 1.001);

        long Sum(string kind) => rows.Where(row => row!["kind"]!.ToString() == kind).Sum(static row => Number(row!, "bytesFromProviders"));
    }

    [Fact]
    public async Task Receipt_counts_waits_and_gaps()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, 1);
        // Each read waits, because articles take half a second.
        server.Mock.Change(0, static provider => provider with { ConnectionBandwidth = 200_000 });
        using (var answer = await StreamServer.OpenAsync(server.Player(StreamServer.Vlc), path, 0))
        {
            var body = await answer.Content.ReadAsStreamAsync(Token);
            await body.ReadExactlyAsync(new byte[1_000], Token);
            var reading = body.CopyToAsync(Stream.Null, Token);
            while (Playbacks(server).List() is not [var played] || played.ToReceipt().Waits.Count == 0)
            {
                server.Clock.Advance(TimeSpan.FromSeconds(2));
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
            }

            server.Mock.ChangeMissing(ArticleSelection.All);
            await Assert.ThrowsAnyAsync<Exception>(() => reading);
        }

        await ForgetAsync(server);
        var row = Assert.Single(await SavedAsync(server))!;
        Assert.Equal(1, Number(row, "gaps"));
        Assert.InRange(Number(row, "longestWaitMs"), 2_000, Number(row, "waitedMs"));
        Assert.InRange(Number(row, "waits"), 1, Number(row, "waitedMs") / 1_000);
    }

    [Fact]
    public async Task Unchanged_receipts_are_not_written_again()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, 1);
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, 4_999_999);
        await server.QuietAsync();
        Assert.Single(await SavedAsync(server));
        await Get<SluiceDatabase>(server).WriteAsync(static connection => connection.Execute("UPDATE receipt SET sent = 1"), Token);
        server.Clock.Advance(TimeSpan.FromSeconds(30));

        Assert.Equal(1, Number(Assert.Single(await SavedAsync(server))!, "bytesSent"));
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 5_000_000, 5_999_999);
        await server.QuietAsync();
        Assert.Equal(6_000_000, Number(Assert.Single(await SavedAsync(server))!, "bytesSent"));
    }

    [Fact]
    public async Task Shutdown_ends_playbacks_and_scans_for_the_last_save()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, 1);
        await StreamServer.ReadAsync(server.Player("Scanner/1.0"), path, 1_000_000, 1_065_535);
        await server.QuietAsync();
        Assert.Empty(await SavedAsync(server));

        await Get<IEnumerable<IWorker>>(server).OfType<Receipts>().Single().FinishAsync(Token);

        var row = Assert.Single(await SavedAsync(server))!;
        Assert.Equal((LaneBytes(server).Scans, 0), (Number(row, "bytesFromProviders"), LaneBytes(server).Undecided));
    }

    [Fact]
    public async Task Receipts_are_deleted_after_their_retention()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, 1);
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, 4_999_999);
        await ForgetAsync(server);
        Assert.Single(await SavedAsync(server));

        server.Clock.SetWallClock(TimeSpan.FromDays(399));
        Assert.Single(await SavedAsync(server));
        server.Clock.SetWallClock(TimeSpan.FromDays(2));
        Assert.Empty(await SavedAsync(server));

        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 6_000_000, 10_999_999);
        await ForgetAsync(server);
        Assert.Single(await SavedAsync(server));
        await server.Api.SaveAsync(HttpStatusCode.OK, ("receipts.retention-days", "0"));
        Assert.Empty(await SavedAsync(server));
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 12_000_000, 16_999_999);
        await ForgetAsync(server);
        Assert.Empty(await SavedAsync(server));
    }

    [Fact]
    public async Task List_is_filtered_and_paged()
    {
        await using var server = await StreamServer.StartAsync();
        string[] films = [await PublishAsync(server, 1), await PublishAsync(server, 2), await PublishAsync(server, 3)];
        foreach (var film in films)
        {
            await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), film, 0, 4_999_999);
            await ForgetAsync(server);
            server.Clock.SetWallClock(TimeSpan.FromDays(20));
        }

        // 3 and 23 January, 12 February 2026.
        var all = await SavedAsync(server);
        Assert.Equal(["movies/film-3/film.mkv", "movies/film-2/film.mkv", "movies/film-1/film.mkv"], all.Select(static row => row!["file"]!["path"]!.ToString()));

        var page = await server.Api.GetAsync("receipts?limit=2");
        Assert.Equal((2, 3), (page["items"]!.AsArray().Count, page["total"]!.GetValue<int>()));
        var next = await server.Api.GetAsync($"receipts?limit=2&cursor={page["next"]}");
        Assert.Equal(all[2]!["id"]!.ToString(), Assert.Single(next["items"]!.AsArray())!["id"]!.ToString());
        Assert.Null(next["next"]);
        Assert.Equal(all[1]!["id"]!.ToString(), await OnlyAsync("from=2026-01-10&to=2026-02-01"));
        Assert.Equal(all[0]!["id"]!.ToString(), await OnlyAsync("from=2026-02-01T00:00:00%2B01:00"));
        Assert.Equal(all[2]!["id"]!.ToString(), await OnlyAsync($"file={all[2]!["file"]!["id"]}&login=admin"));
        Assert.Empty((await server.Api.GetAsync("receipts?login=nobody"))["items"]!.AsArray());

        var errors = (await server.Api.SendAsync(HttpMethod.Get, "receipts?from=soon&to=x&file=y&cursor=z&limit=0", expected: HttpStatusCode.BadRequest))["errors"]!.AsObject();
        Assert.Equal(["cursor", "file", "from", "limit", "to"], errors.Select(static error => error.Key).Order());

        async Task<string> OnlyAsync(string query) => Assert.Single((await server.Api.GetAsync($"receipts?{query}"))["items"]!.AsArray())!["id"]!.ToString();
    }

    [Fact]
    public async Task Sums_are_by_provider_or_month()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, 1);
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, 4_999_999);
        await StreamServer.ReadAsync(server.Player("Scanner/1.0"), path, 15_000_000, 15_065_535);
        await ForgetAsync(server);
        server.Clock.SetWallClock(TimeSpan.FromDays(40));
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 6_000_000, 10_999_999);
        await ForgetAsync(server);
        await SavedAsync(server);
        var lanes = LaneBytes(server);

        var provider = Assert.Single((await server.Api.GetAsync("receipts/sums?by=provider"))["items"]!.AsArray())!;
        var months = (await server.Api.GetAsync("receipts/sums?by=month"))["items"]!.AsArray();

        Assert.Equal(("loopback-0", 2), (provider["name"]!.ToString(), Number(provider, "playbacks")));
        Assert.Equal((lanes.Playback, lanes.Scans), (Number(provider, "playbackBytes"), Number(provider, "scanBytes")));
        Assert.Equal(["2026-02", "2026-01"], months.Select(static month => month!["key"]!.ToString()));
        Assert.Equal([1, 1], months.Select(static month => Number(month!, "playbacks")));
        Assert.Equal(lanes.Playback, months.Sum(static month => Number(month!, "playbackBytes")));
        Assert.Equal([0, lanes.Scans], months.Select(static month => Number(month!, "scanBytes")));
        var january = Assert.Single((await server.Api.GetAsync("receipts/sums?to=2026-02-01"))["items"]!.AsArray())!;
        Assert.Equal(Number(months[1]!, "playbackBytes"), Number(january, "playbackBytes"));
        await server.Api.SendAsync(HttpMethod.Get, "receipts/sums?by=week", expected: HttpStatusCode.BadRequest);
    }

    private static async Task<string> PublishAsync(StreamServer server, ulong seed, long size = FilmSize) =>
        "content/" + await server.PublishAsync(MockRelease.Plain(seed, size, articleSize: ArticleSize));

    /// <summary>Lets all playbacks end and be forgotten.</summary>
    private static async Task ForgetAsync(StreamServer server)
    {
        await server.QuietAsync();
        server.Clock.Advance(TimeSpan.FromSeconds(61));
        Assert.Empty(Playbacks(server).List());
    }

    private static async Task<JsonArray> SavedAsync(StreamServer server)
    {
        await Get<Receipts>(server).SaveAsync(Token);
        return (await server.Api.GetAsync("receipts"))["items"]!.AsArray();
    }

    private static async Task LeaveAsync(StreamServer server, string path)
    {
        for (var from = 1_000_000; from < 40_000_000; from += 5_000_000)
        {
            using var answer = await StreamServer.OpenAsync(server.Player("Infuse/7"), path, from);
            await (await answer.Content.ReadAsStreamAsync(Token)).ReadExactlyAsync(new byte[1_000], Token);
        }
    }

    private static LaneBytes LaneBytes(StreamServer server) => Assert.Single(Get<ProviderHost>(server).Uses).Value.Lanes;

    private static PlaybackRegistry Playbacks(StreamServer server) => Get<PlaybackRegistry>(server);

    private static T Get<T>(StreamServer server)
        where T : notnull => server.Api.Server.Services.GetRequiredService<T>();

    private static JsonNode Of(JsonArray rows, string player) => rows.Single(row => row!["player"]!.ToString() == player)!;

    private static long Number(JsonNode row, string field) => row[field]!.GetValue<long>();
}
