using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Usenet.Media.Titles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Where a viewer stopped, and what comes next, by the API.</summary>
public sealed class WatchResourceTests : IDisposable
{
    private const long Hour = 3_600_000;

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Position_survives_a_restart_and_is_shown_in_lists()
    {
        string id;
        await using (var server = await ResourceServer.StartAsync(_temporary))
        {
            await FileResourceTests.PublishAsync(server, "movies", "Harbour.Lights.2019.1080p.BluRay.x264-GRP", 0, "film.mkv");
            id = await IdAsync(server, "movies/Harbour.Lights.2019.1080p.BluRay.x264-GRP/film.mkv");
            await SaveAsync(server, id, Hour, 2 * Hour);
            await SaveAsync(server, id, Hour / 2, 2 * Hour);
        }

        await using var again = await ResourceServer.StartAsync(_temporary);
        Assert.Equal(Hour / 2, (await again.GetAsync($"files/{id}"))["positionMs"]!.GetValue<long>());
        Assert.Equal(0.25, (await again.GetAsync("files?path=movies"))["items"]![0]!["watchedShare"]!.GetValue<double>());
        Assert.Equal(0.25, (await again.GetAsync("files?q=film"))["items"]![0]!["watchedShare"]!.GetValue<double>());
        Assert.Equal(0.25, (await again.GetAsync("files?path=movies/Harbour.Lights.2019.1080p.BluRay.x264-GRP"))["items"]![0]!["watchedShare"]!.GetValue<double>());
        Assert.Equal(0.25, (await again.GetAsync("home"))["recent"]![0]!["watchedShare"]!.GetValue<double>());
    }

    [Theory]
    [InlineData(0, 2 * Hour)]
    [InlineData(29_000, 2 * Hour)]
    [InlineData(2 * Hour - 300_000, 2 * Hour)]
    [InlineData(2 * Hour, 2 * Hour)]
    [InlineData(10_000, null)]
    public async Task Position_at_the_beginning_or_in_the_credits_is_dropped(long position, long? duration)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await FileResourceTests.PublishAsync(server, "movies", "Film", 0, "film.mkv");
        var id = await IdAsync(server, "movies/Film/film.mkv");
        await SaveAsync(server, id, Hour, 2 * Hour);

        await SaveAsync(server, id, position, duration);

        Assert.Null((await server.GetAsync($"files/{id}"))["positionMs"]);
        Assert.Null((await server.GetAsync("files?q=film"))["items"]![0]!["watchedShare"]);
    }

    [Theory]
    [InlineData("""{"positionMs":-1}""")]
    [InlineData("""{"positionMs":604800001}""")]
    [InlineData("""{"positionMs":1,"durationMs":0}""")]
    [InlineData("""{"positionMs":1,"durationMs":604800001}""")]
    [InlineData("""{"positionMs":"1"}""")]
    [InlineData("""{"positionMs":1,"more":1}""")]
    [InlineData("null")]
    public async Task Invalid_position_returns_400(string body)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await FileResourceTests.PublishAsync(server, "movies", "Film", 0, "film.mkv");
        var id = await IdAsync(server, "movies/Film/film.mkv");

        await server.SendTextAsync(HttpMethod.Put, $"files/{id}/position", body, "application/json", HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task Position_of_an_unknown_file_or_the_clip_is_not_saved()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var clip = new BuiltInClip().File.Id;

        await SaveAsync(server, Guid.NewGuid().ToString(), Hour, 2 * Hour, HttpStatusCode.NotFound);
        await SaveAsync(server, clip.ToString(), 6_000, 12_000);

        Assert.Null((await server.GetAsync($"files/{clip}"))["positionMs"]);
        Assert.Equal(0, await CountAsync(server));
    }

    [Fact]
    public async Task Position_is_removed_with_its_file()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var release = await FileResourceTests.PublishAsync(server, "movies", "Film", 0, "film.mkv");
        await SaveAsync(server, await IdAsync(server, "movies/Film/film.mkv"), Hour, 2 * Hour);

        await Database(server).WriteAsync(connection => connection.Execute("DELETE FROM release WHERE id = @release", new { release }), Token);

        Assert.Equal(0, await CountAsync(server));
    }

    [Fact]
    public async Task Positions_above_the_limit_or_a_year_old_are_dropped()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await FileResourceTests.PublishAsync(server, "movies", "Many", 0, [.. Enumerable.Range(0, PositionStore.Most + 1).Select(i => $"{i:00000}.mkv")]);
        await FileResourceTests.PublishAsync(server, "movies", "Film", 1, "film.mkv");
        // Position i is i ms younger than the oldest one that is kept.
        var oldest = (TimeProvider.System.GetUtcNow() - PositionStore.MaxAge).ToUnixTimeMilliseconds() + Hour;
        await Database(server).WriteAsync(
            connection => connection.Execute(
                """
                INSERT INTO file_position (file_id, at, duration, saved_at)
                SELECT f.id, 100000, NULL, @oldest + CAST(substr(f.path_key, 1, 5) AS INTEGER) FROM library_file f JOIN release r ON r.id = f.release_id
                WHERE r.name = 'Many' AND f.path_key < '10000'
                """,
                new { oldest }),
            Token);
        Assert.Equal(PositionStore.Most, await CountAsync(server));
        var film = await IdAsync(server, "movies/Film/film.mkv");

        await SaveAsync(server, film, Hour, 2 * Hour);
        Assert.Equal(PositionStore.Most, await CountAsync(server));
        Assert.Null((await server.GetAsync($"files/{await IdAsync(server, "movies/Many/00000.mkv")}"))["positionMs"]);
        Assert.NotNull((await server.GetAsync($"files/{await IdAsync(server, "movies/Many/00001.mkv")}"))["positionMs"]);

        await Database(server).WriteAsync(connection => connection.Execute("UPDATE file_position SET saved_at = saved_at - @Hour * 2 WHERE at = 100000", new { Hour }), Token);
        await SaveAsync(server, film, Hour + 1, 2 * Hour);
        Assert.Equal(1, await CountAsync(server));
    }

    [Fact]
    public async Task Unchanged_position_writes_nothing()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await FileResourceTests.PublishAsync(server, "movies", "Film", 0, "film.mkv");
        var id = await IdAsync(server, "movies/Film/film.mkv");
        await SaveAsync(server, id, Hour, 2 * Hour);
        var saved = await SavedAtAsync();

        for (var i = 0; i < 5; i++)
            await SaveAsync(server, id, Hour, 2 * Hour);
        Assert.Equal(saved, await SavedAtAsync());
        await SaveAsync(server, id, Hour + 1, 2 * Hour);
        Assert.NotEqual(saved, await SavedAtAsync());

        Task<long> SavedAtAsync() => Database(server).ReadAsync(connection => connection.ExecuteScalar<long>("SELECT saved_at FROM file_position"), Token);
    }

    [Theory]
    [InlineData("Tide.Pool.S01E01.1080p.WEB-GRP/a.mkv", "Tide.Pool.S01E02.1080p.WEB-GRP/a.mkv")]
    [InlineData("Tide.Pool.S01E02.1080p.WEB-GRP/a.mkv", "Tide.Pool.S01E03-E04.720p.WEB-GRP/a.mkv")]
    [InlineData("Tide.Pool.S01E03-E04.720p.WEB-GRP/a.mkv", "tide.pool.S02.720p.WEB-GRP/Tide.Pool.S02E01.mkv")]
    [InlineData("tide.pool.S02.720p.WEB-GRP/Tide.Pool.S02E01.mkv", "tide.pool.S02.720p.WEB-GRP/Tide.Pool.S02E02.mkv")]
    [InlineData("tide.pool.S02.720p.WEB-GRP/Tide.Pool.S02E02.mkv", null)]
    [InlineData("Evening.News.2026.01.02.WEB-GRP/a.mkv", "Evening.News.2026.01.05.WEB-GRP/a.mkv")]
    [InlineData("[Team] Sky Ship - 07 [1080p]/a.mkv", "[Team] Sky Ship - 08 [1080p]/a.mkv")]
    [InlineData("Gap.Show.S01E01.WEB-GRP/a.mkv", null)]
    [InlineData("Harbour.Lights.2019.1080p.WEB-GRP/a.mkv", null)]
    [InlineData("8f14e45fceea167a5a36dedd4bea2543/a.mkv", null)]
    public async Task Next_episode_is_in_the_same_series_and_library(string path, string? next)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        foreach (var name in new[]
                 {
                     "Tide.Pool.S01E01.1080p.WEB-GRP", "Tide.Pool.S01E02.720p.WEB-GRP", "Tide.Pool.S01E02.1080p.WEB-GRP", "Tide.Pool.S01E03-E04.720p.WEB-GRP",
                     "Evening.News.2026.01.02.WEB-GRP", "Evening.News.2026.01.05.WEB-GRP", "Evening.News.2026.01.09.WEB-GRP",
                     "[Team] Sky Ship - 07 [1080p]", "[Team] Sky Ship - 08 [1080p]", "Gap.Show.S01E01.WEB-GRP", "Gap.Show.S01E03.WEB-GRP", "Gap.Show.S02E01.WEB-GRP",
                     "Harbour.Lights.2019.1080p.WEB-GRP", "Harbour.Lights.2020.1080p.WEB-GRP", "8f14e45fceea167a5a36dedd4bea2543",
                 })
            await FileResourceTests.PublishAsync(server, "tv", name, 0, "a.mkv");
        await FileResourceTests.PublishAsync(server, "tv", "tide.pool.S02.720p.WEB-GRP", 0, "Tide.Pool.S02E01.mkv", "Tide.Pool.S02E01.srt", "Tide.Pool.S02E02.mkv");
        await FileResourceTests.PublishAsync(server, "kids", "Tide.Pool.S02E03.1080p.WEB-GRP", 0, "a.mkv");
        await FileResourceTests.PublishAsync(server, "tv", "Gap.Show.S01E02.WEB-GRP", 0, "a.srt");

        var detail = await server.GetAsync($"files/{await IdAsync(server, $"tv/{path}")}");

        Assert.Equal(next is null ? null : $"tv/{next}", (string?)detail["next"]?["path"]);
        if (next is not null)
            Assert.Equal(await IdAsync(server, $"tv/{next}"), detail["next"]!["id"]!.ToString());
    }

    [Fact]
    public async Task Playlist_link_opens_only_the_playlist_of_its_folder()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await FileResourceTests.PublishAsync(server, "movies", "Harbour.Lights.2019.1080p.WEB-GRP", 0, "film.mkv");

        var library = await server.GetAsync("playlists?hours=2");
        var folder = await server.GetAsync("playlists?path=movies/Harbour.Lights.2019.1080p.WEB-GRP");

        using var anonymous = new HttpClient();
        Assert.Contains("film.mkv?", await anonymous.GetStringAsync(new Uri(library["signed"]!.ToString()), Token), StringComparison.Ordinal);
        Assert.Contains("Harbour Lights (2019)", await anonymous.GetStringAsync(new Uri(folder["signed"]!.ToString()), Token), StringComparison.Ordinal);
        using var foreign = await anonymous.GetAsync(new Uri(library["signed"]!.ToString().Replace("playlists.m3u", "playlists/movies.m3u", StringComparison.Ordinal)), Token);
        Assert.Equal(HttpStatusCode.Unauthorized, foreign.StatusCode);
        await server.SendAsync(HttpMethod.Get, "playlists?path=none", expected: HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Get, "playlists?path=movies/Harbour.Lights.2019.1080p.WEB-GRP/film.mkv", expected: HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Get, "playlists?hours=0", expected: HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Get, "playlists?hours=721", expected: HttpStatusCode.BadRequest);
    }

    [Theory]
    [InlineData("Show.S01E02", "1/2-2")]
    [InlineData("Show.S01E02-E04", "1/2-4")]
    [InlineData("Show.S01", "")]
    [InlineData("Show.S01-S03", "")]
    [InlineData("Film.2019.1080p", "")]
    [InlineData("", "")]
    public void Season_and_episodes_are_parsed_from_a_title(string name, string expected) =>
        Assert.Equal(expected, EpisodePlace.Of(ReleaseTitle.Parse(name)) is { } place ? $"{place.Season}/{place.First}-{place.Last}" : "");

    private static SluiceDatabase Database(ResourceServer server) => server.Server.Services.GetRequiredService<SluiceDatabase>();

    private static Task<long> CountAsync(ResourceServer server) =>
        Database(server).ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(*) FROM file_position"), Token);

    private static Task<JsonNode> SaveAsync(ResourceServer server, string id, long position, long? duration, HttpStatusCode expected = HttpStatusCode.NoContent) =>
        server.SendAsync(HttpMethod.Put, $"files/{id}/position", new JsonObject { ["positionMs"] = position, ["durationMs"] = duration }, expected);

    private static async Task<string> IdAsync(ResourceServer server, string path)
    {
        var folder = path[..path.LastIndexOf('/')];
        var rows = (await server.GetAsync($"files?path={Uri.EscapeDataString(folder)}&limit=500"))["items"]!.AsArray();
        return rows.Single(row => row!["path"]!.ToString() == path)!["id"]!.ToString();
    }
}
