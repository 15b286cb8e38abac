using System.Globalization;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>Playlists of folders over the wire: DAV-86.</summary>
public sealed class PlaylistTests : IAsyncLifetime
{
    private const string Later = "4102444800";

    private TreeServer _server = null!;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _server = await TreeServer.StartAsync();
        await PublishAsync("movies", "Harbour.Lights.2019.1080p.WEB-GRP", 0, "film & more.mkv", "film.nfo");
        await PublishAsync("tv", "Tide.Pool.S01.720p.WEB-GRP", 2, "Tide.Pool.S01E02.mkv", "Tide.Pool.S01E01.mkv", "subs/Tide.Pool.S01E01.srt", "extras/making.mkv");
        await PublishAsync("tv", "8f14e45fceea167a5a36dedd4bea2543", 1, "plain.mp3");
        await _server.Database.WriteAsync(
            connection => connection.Execute("INSERT INTO file_media (file_id, duration) SELECT id, 5400499 FROM library_file WHERE path_key = 'film & more.mkv'"), Token);
    }

    public async ValueTask DisposeAsync() => await _server.DisposeAsync();

    [Fact]
    public async Task Library_playlist_lists_the_newest_release_first()
    {
        var answer = await _server.SendAnonymouslyAsync($"GET {LinkOf("playlists.m3u")}");

        Assert.Equal((200, "audio/x-mpegurl; charset=utf-8", "private, no-store"), (answer.Status, answer["Content-Type"], answer["Cache-Control"]));
        Assert.Equal("inline; filename=Sluice.m3u; filename*=UTF-8''Sluice.m3u", answer["Content-Disposition"]);
        Assert.StartsWith("#EXTM3U\n", answer.Text, StringComparison.Ordinal);
        Assert.Equal(["-1,Tide Pool S01E01", "-1,Tide Pool S01E02", "-1,making.mkv"], TitlesOf(answer)[..3].Order(StringComparer.Ordinal));
        Assert.Equal(["-1,plain.mp3", "5400,Harbour Lights (2019)"], TitlesOf(answer)[3..]);
    }

    [Theory]
    [InlineData("playlists/movies.m3u", 1)]
    [InlineData("playlists/tv.m3u", 4)]
    [InlineData("playlists/tv/Tide.Pool.S01.720p.WEB-GRP.m3u", 3)]
    [InlineData("playlists/tv/Tide.Pool.S01.720p.WEB-GRP/extras.m3u", 1)]
    [InlineData("playlists/tv/Tide.Pool.S01.720p.WEB-GRP/subs.m3u", 0)]
    [InlineData("playlists/demo.m3u", 1)]
    public async Task Folder_playlist_lists_the_playable_files_below_it(string path, int count) =>
        Assert.Equal(count, TitlesOf(await _server.SendAnonymouslyAsync($"GET {LinkOf(path)}")).Count);

    [Fact]
    public async Task Playlist_links_open_their_files_for_a_day()
    {
        var before = TimeProvider.System.GetUtcNow().ToUnixTimeSeconds();
        var answer = await _server.SendAnonymouslyAsync($"GET {LinkOf("playlists/movies.m3u")}", "Host: nas.test:8080");

        var address = new Uri(answer.Text.Split('\n').Single(line => line.StartsWith("http", StringComparison.Ordinal)));
        Assert.Equal("nas.test:8080", address.Authority);
        Assert.StartsWith("/view/content/movies/Harbour.Lights.2019.1080p.WEB-GRP/film%20%26%20more.mkv?", address.PathAndQuery, StringComparison.Ordinal);
        Assert.InRange(long.Parse(address.Query.Split("expires=")[1], CultureInfo.InvariantCulture) - before, 86_399, 86_460);
        var film = await _server.SendAnonymouslyAsync($"HEAD {address.PathAndQuery}");
        Assert.Equal((200, "1000"), (film.Status, film["Content-Length"]));
    }

    [Fact]
    public async Task Wrong_expired_or_missing_signature_gets_no_body()
    {
        var right = ViewKey.Sign(TreeServer.Key, "playlists/movies.m3u", Later);
        var past = TimeProvider.System.GetUtcNow().AddMinutes(-1).ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture);
        var strm = _server.Services.GetRequiredService<Microsoft.Extensions.Options.IOptionsMonitor<ApiOptions>>().CurrentValue.StrmKey;

        foreach (var (path, query, status) in new[]
                 {
                     ("playlists/movies.m3u", "", 401),
                     ("playlists/movies.m3u", $"?downloadKey={right}", 401),
                     ("playlists/movies.m3u", $"?downloadKey={right}&expires=4102444801", 401),
                     ("playlists/movies.m3u", $"?downloadKey={right}&downloadKey={right}&expires={Later}", 401),
                     ("playlists/tv.m3u", $"?downloadKey={right}&expires={Later}", 401),
                     ("playlists.m3u", $"?downloadKey={right}&expires={Later}", 401),
                     ("content/movies/Harbour.Lights.2019.1080p.WEB-GRP/film%20%26%20more.mkv", $"?downloadKey={right}&expires={Later}", 401),
                     ("playlists/movies.m3u", $"?downloadKey={ViewKey.Sign("another key", "playlists/movies.m3u", Later)}&expires={Later}", 401),
                     ("playlists/movies.m3u", $"?downloadKey={ViewKey.Sign(strm, "playlists/movies.m3u", Later)}&expires={Later}", 401),
                     ("playlists/movies.m3u", $"?downloadKey={ViewKey.Sign(TreeServer.Key, "content/movies", Later)}&expires={Later}", 401),
                     ("playlists/movies.m3u", $"?downloadKey={ViewKey.Sign(TreeServer.Key, "playlists/movies.m3u", past)}&expires={past}", 403),
                 })
        {
            var answer = await _server.SendAnonymouslyAsync($"GET /view/{path}{query}");
            Assert.Equal((query, status, 0), (query, answer.Status, answer.Body.Length));
        }

        Assert.Equal(200, (await _server.SendAsync("GET /view/playlists/movies.m3u")).Status);
    }

    [Theory]
    [InlineData("playlists/none.m3u")]
    [InlineData("playlists/.m3u")]
    [InlineData("playlists")]
    [InlineData("playlists/movies")]
    [InlineData("playlists/movies.m3u8")]
    [InlineData("playlists/movies/Harbour.Lights.2019.1080p.WEB-GRP/film & more.mkv.m3u")]
    public async Task Unknown_playlist_is_not_found(string path) => Assert.Equal(404, (await _server.SendAnonymouslyAsync($"GET {LinkOf(path)}")).Status);

    [Fact]
    public async Task Playlist_supports_GET_and_HEAD_only()
    {
        var head = await _server.SendAnonymouslyAsync($"HEAD {LinkOf("playlists/movies.m3u")}");

        Assert.Equal((200, 0), (head.Status, head.Body.Length));
        Assert.NotEqual("0", head["Content-Length"]);
        foreach (var verb in new[] { "PROPFIND", "PUT", "DELETE", "POST" })
            Assert.Equal($"{verb} 404", $"{verb} {(await _server.SendAsync($"{verb} /view/playlists/movies.m3u", "Content-Length: 0")).Status}");
    }

    [Fact]
    public async Task Long_playlist_ends_after_a_thousand_files()
    {
        await PublishAsync("tv", "Many", 3, [.. Enumerable.Range(0, PlaylistStore.Most + 5).Select(i => $"{i:0000}.mkv")]);

        var titles = TitlesOf(await _server.SendAnonymouslyAsync($"GET {LinkOf("playlists.m3u")}"));

        Assert.Equal((PlaylistStore.Most, "-1,0000.mkv", "-1,0999.mkv"), (titles.Count, titles[0], titles[^1]));
    }

    [Theory]
    [InlineData(PlaylistStore.Everything)]
    [InlineData("r.category = @Category")]
    public async Task Playlist_is_read_in_index_order(string condition)
    {
        var plan = await _server.Database.ReadAsync(
            connection => connection.Query($"EXPLAIN QUERY PLAN {PlaylistStore.SqlOf(condition)}", new { Category = "tv", most = 1 }).Select(row => (string)row.detail).ToList(), Token);

        Assert.DoesNotContain(plan, step => step.Contains("TEMP B-TREE FOR ORDER BY", StringComparison.Ordinal) || step.StartsWith("SCAN f", StringComparison.Ordinal));
    }

    private static string LinkOf(string path)
    {
        var address = string.Join('/', path.Split('/').Select(Uri.EscapeDataString));
        return $"/view/{address}?downloadKey={ViewKey.Sign(TreeServer.Key, path, Later)}&expires={Later}";
    }

    private static List<string> TitlesOf(RawAnswer answer) =>
        [.. answer.Text.Split('\n').Where(line => line.StartsWith("#EXTINF:", StringComparison.Ordinal)).Select(line => line["#EXTINF:".Length..])];

    private Task<long> PublishAsync(string category, string name, int day, params string[] paths) => _server.Database.WriteAsync(
        connection => LibraryStore.Insert(
            connection,
            new NewRelease(
                category, name, new string('a', 64),
                [new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000))],
                [.. paths.Select(path => new NewLibraryFile(Guid.NewGuid(), path, null, 1000, $"tag-{path.Length}", new FileContent([new ContentExtent(0, 0, 1000)])))]),
            TreeServer.Published.AddDays(day)),
        Token);
}
