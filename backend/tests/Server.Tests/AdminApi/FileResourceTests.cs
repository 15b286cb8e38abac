using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Server.Tests.Startup;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The library through the API (ADM-4, ADM-91).</summary>
public sealed class FileResourceTests : IDisposable
{
    private static readonly DateTimeOffset Published = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Tree_is_listed_level_by_level()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await PublishAsync(server, "tv", "Rel", 0, "season 1/b.mkv", "season 1/a.srt", "c.mkv");

        Assert.Equal(["category demo", "category movies", "category tv"], (await ListAsync(server, "")).Where(row => row is "category demo" or "category movies" or "category tv"));
        Assert.Equal(["release Rel"], await ListAsync(server, "path=tv"));
        Assert.Equal(["file c.mkv", "folder season 1"], await ListAsync(server, "path=tv/Rel"));
        Assert.Equal(["file a.srt", "file b.mkv"], await ListAsync(server, "path=tv/Rel/season%201"));
        Assert.Equal(["file sluice-demo.mp4"], await ListAsync(server, "path=demo"));
        var rows = (await server.GetAsync("files?path=tv/Rel/season%201"))["items"]!.AsArray();
        Assert.Equal(("tv/Rel/season 1/a.srt", "subtitle", 1000L), (rows[0]!["path"]!.ToString(), rows[0]!["media"]!.ToString(), rows[0]!["bytes"]!.GetValue<long>()));
        Assert.Equal(3000, (await server.GetAsync("files?path=tv"))["items"]![0]!["bytes"]!.GetValue<long>());
        await server.SendAsync(HttpMethod.Get, "files?path=tv/None", expected: HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Get, "files?path=tv/Rel/c.mkv", expected: HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Releases_show_title_quality_count_and_film()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await PublishAsync(server, "movies", "Harbour.Lights.2019.1080p.BluRay.x264-GRP", 0, "Harbour.Lights.2019.1080p.BluRay.x264-GRP.mkv");
        await PublishAsync(server, "tv", "Tide.Pool.S02.720p.WEB.h264-GRP", 0, "Tide.Pool.S02E01.mkv", "subs/Tide.Pool.S02E01.srt");
        await PublishAsync(server, "tv", "8f14e45fceea167a5a36dedd4bea2543", 1, "a.srt");

        var film = (await server.GetAsync("files?path=movies"))["items"]![0]!;
        var series = (await server.GetAsync("files?path=tv"))["items"]!;
        var file = (await server.GetAsync("files?q=harbour"))["items"]![0]!;
        var episode = (await server.GetAsync("files?path=tv/Tide.Pool.S02.720p.WEB.h264-GRP&sort=size"))["items"]!.AsArray().Single(row => row!["kind"]!.ToString() == "file")!;
        var category = (await server.GetAsync("files"))["items"]!.AsArray().Single(row => row!["name"]!.ToString() == "tv")!;

        Assert.Equal("""{"title":"Harbour Lights","year":2019,"season":null,"episodes":null,"quality":"1080p Blu-ray"}""", film["film"]!.ToJsonString());
        Assert.Equal((1, file["id"]!.ToString()), (film["count"]!.GetValue<int>(), film["filmId"]!.ToString()));
        Assert.Equal(film["film"]!.ToJsonString(), file["film"]!.ToJsonString());
        Assert.Equal(film["film"]!.ToJsonString(), (await server.GetAsync($"files/{file["id"]}"))["item"]!["film"]!.ToJsonString());
        Assert.Null(series[0]!["film"]);
        Assert.Equal((2, null), (series[1]!["count"]!.GetValue<int>(), series[1]!["filmId"]));
        Assert.Equal("""{"title":"Tide Pool","year":null,"season":"2","episodes":"1","quality":"720p WEB"}""", episode["film"]!.ToJsonString());
        Assert.Equal((2, 3000L), (category["count"]!.GetValue<int>(), category["bytes"]!.GetValue<long>()));
    }

    [Fact]
    public async Task Titles_missing_after_an_upgrade_are_added_in_batches()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var database = server.Server.Services.GetRequiredService<SluiceDatabase>();
        for (var i = 0; i < 250; i++)
            await PublishAsync(server, "tv", $"Tide.Pool.S01E{i:000}.720p.WEB.h264-GRP", 0, "a.mkv");
        await database.WriteAsync(connection => connection.Execute("UPDATE release SET titled = 0, title = NULL"), Token);
        var titles = server.Server.Services.GetRequiredService<TitleStore>();

        Assert.True(await titles.FillAsync(Token));
        Assert.False(await titles.FillAsync(Token));
        Assert.Equal(250, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM release WHERE title = 'Tide Pool' AND titled = 1"), Token));
    }

    [Theory]
    [InlineData("big buck 1080", "Big.Buck_Bunny.2008.1080p.mkv")]
    [InlineData("1080 BUCK", "Big.Buck_Bunny.2008.1080p.mkv")]
    [InlineData("amelie", "fabuleux.mkv")]
    [InlineData("AMÉLIE", "fabuleux.mkv")]
    [InlineData("fabuleux-destin", "")]
    [InlineData("smorgasbord", "Smörgåsbord.mkv")]
    [InlineData("100%", "100%.mkv")]
    [InlineData("nothing like it", "")]
    public async Task Search_finds_all_words_in_any_order(string query, string expected)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await PublishAsync(server, "movies", "Big.Buck.Bunny-GRP", 0, "Big.Buck_Bunny.2008.1080p.mkv");
        await PublishAsync(server, "movies", "Am\u00e9lie", 1, "fabuleux.mkv");
        await PublishAsync(server, "tv", "Food", 2, "Smo\u0308rga\u030Asbord.mkv".Normalize(), "100%.mkv", "extra.par2");

        Assert.Equal(expected.Length == 0 ? [] : [$"file {expected.Normalize()}"], await ListAsync(server, $"q={Uri.EscapeDataString(query)}"));
    }

    [Fact]
    public async Task Search_with_a_path_finds_only_files_below_it()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await PublishAsync(server, "movies", "One", 0, "film.mkv", "extras/film 2.mkv");
        await PublishAsync(server, "tv", "Two", 1, "film.mkv", "hidden film.par2");

        Assert.Equal(3, (await server.GetAsync("files?q=film"))["total"]!.GetValue<int>());
        Assert.Equal(["file film 2.mkv", "file film.mkv"], (await ListAsync(server, "q=film&path=movies")).Order(StringComparer.Ordinal));
        Assert.Equal(["file film.mkv"], await ListAsync(server, "q=film&path=tv/Two"));
        Assert.Equal(["file film 2.mkv"], await ListAsync(server, "q=film&path=movies/One/extras"));
    }

    [Theory]
    [InlineData("name", "A B C")]
    [InlineData("newest", "B A C")]
    [InlineData("size", "C A B")]
    public async Task Releases_and_search_results_are_sorted(string sort, string expected)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await PublishAsync(server, "tv", "C", 0, 3000, "x.mkv");
        await PublishAsync(server, "tv", "B", 2, 1000, "x.mkv");
        await PublishAsync(server, "tv", "a", 1, 2000, "x.mkv");

        var releases = await ListAsync(server, $"path=tv&sort={sort}");
        var files = (await server.GetAsync($"files?q=x&sort={sort}"))["items"]!.AsArray().Select(row => row!["path"]!.ToString().Split('/')[1].ToUpperInvariant());

        Assert.Equal(expected, string.Join(' ', releases.Select(row => row.Split(' ')[1].ToUpperInvariant())));
        Assert.Equal(expected, string.Join(' ', files));
    }

    [Theory]
    [InlineData("path=tv", "name")]
    [InlineData("path=tv", "newest")]
    [InlineData("path=tv", "size")]
    [InlineData("path=tv/Rel", "name")]
    [InlineData("path=tv/Rel", "size")]
    [InlineData("q=mkv", "name")]
    [InlineData("q=mkv", "newest")]
    [InlineData("q=mkv", "size")]
    public async Task Concatenated_pages_equal_the_whole_list(string query, string sort)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await PublishAsync(server, "tv", "Rel", 0, [.. Enumerable.Range(0, 23).Select(i => $"f{i}.mkv")]);
        for (var i = 0; i < 23; i++)
            await PublishAsync(server, "tv", $"R{i}", i / 3, i / 4 * 1000, "a.mkv");
        var whole = await server.GetAsync($"files?{query}&sort={sort}&limit=500");

        var (rows, cursor) = (new List<string>(), "");
        do
        {
            var page = await server.GetAsync($"files?{query}&sort={sort}&limit=4{cursor}");
            Assert.Equal(whole["total"]!.GetValue<int>(), page["total"]!.GetValue<int>());
            rows.AddRange(page["items"]!.AsArray().Select(row => row!["path"]!.ToString()));
            cursor = page["next"] is { } next ? $"&cursor={next}" : "";
        }
        while (cursor.Length > 0);

        Assert.Equal(whole["items"]!.AsArray().Select(row => row!["path"]!.ToString()), rows);
        Assert.Equal(whole["total"]!.GetValue<int>(), rows.Distinct().Count());
    }

    [Theory]
    [InlineData("files?cursor=x")]
    [InlineData("files?cursor=1.2.!")]
    [InlineData("files?limit=0")]
    [InlineData("files?limit=501")]
    [InlineData("files?sort=colour")]
    public async Task Invalid_query_returns_400(string path)
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        await server.SendAsync(HttpMethod.Get, path, expected: HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task File_detail_returns_working_links()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new() { ["MOUNT_DIR"] = "/mnt/sluice/" });
        var film = (await server.GetAsync("files?path=demo"))["items"]![0]!;

        var detail = await server.GetAsync($"files/{film["id"]}?hours=2");

        var (webDav, signed) = (detail["links"]!["webDav"]!.ToString(), detail["links"]!["signed"]!.ToString());
        Assert.Equal($"{server.Server.Address}content/demo/sluice-demo.mp4", webDav);
        Assert.Null(detail["links"]!["arrPath"]);
        using var anonymous = new HttpClient();
        var bytes = await anonymous.GetByteArrayAsync(new Uri(signed), Token);
        Assert.Equal(film["bytes"]!.GetValue<long>(), bytes.Length);
        using var forged = await anonymous.GetAsync(new Uri(signed.Replace("expires=", "expires=1", StringComparison.Ordinal)), Token);
        Assert.Equal(HttpStatusCode.Unauthorized, forged.StatusCode);
        using var request = new HttpRequestMessage(HttpMethod.Head, webDav);
        request.Headers.Authorization = RunningServer.Basic("admin", RunningServer.Password);
        using var answer = await anonymous.SendAsync(request, Token);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        await server.SendAsync(HttpMethod.Get, $"files/{film["id"]}?hours=0", expected: HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Get, $"files/{Guid.NewGuid()}", expected: HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Get, "files/nothing", expected: HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Arr_path_is_in_the_storage_folder_from_history()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new() { ["MOUNT_DIR"] = "/mnt/sluice/" });
        var release = await PublishAsync(server, "tv", "Some Release", 0, "in/a b.mkv");
        await server.Server.Services.GetRequiredService<SluiceDatabase>().InsertAsync(
            HistoryStore.Insert,
            new HistoryItem { Id = "SABnzbd_nzo_1", Name = "Some Release", NzbName = "x.nzb", Category = "tv", Folder = "tv", ReleaseFolder = "Some Release", ReleaseId = release });
        var history = JsonNode.Parse(await server.Server.Client.GetStringAsync($"api?mode=history&output=json&apikey={RunningServer.ApiKey}", Token))!;
        var file = (await server.GetAsync("files?q=a+b"))["items"]![0]!;

        var detail = await server.GetAsync($"files/{file["id"]}");

        var storage = history["history"]!["slots"]![0]!["storage"]!.ToString();
        Assert.Equal("/mnt/sluice/completed-symlinks/tv/Some Release", storage);
        Assert.Equal($"{storage}/in/a b.mkv", detail["links"]!["arrPath"]!.ToString());
        Assert.EndsWith("/content/tv/Some%20Release/in/a%20b.mkv", detail["links"]!["webDav"]!.ToString(), StringComparison.Ordinal);
        Assert.Equal(("Some Release", "tv", 1, false), (detail["release"]!.ToString(), detail["category"]!.ToString(), detail["volumes"]!.GetValue<int>(), detail["hasNzb"]!.GetValue<bool>()));
        await server.SendAsync(HttpMethod.Get, $"files/{file["id"]}/nzb", expected: HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Arr_path_is_in_the_newest_item_folder()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new() { ["MOUNT_DIR"] = "/mnt/sluice" });
        var release = await PublishAsync(server, "tv", "Some Release", 0, "in/a b.mkv");
        var file = (await server.GetAsync("files?q=a+b"))["items"]![0]!;
        async Task<string?> PathAsync() => (string?)(await server.GetAsync($"files/{file["id"]}"))["links"]!["arrPath"];
        Task InsertAsync(string folder, string root, ClientView view) => server.Server.Services.GetRequiredService<SluiceDatabase>().InsertAsync(
            HistoryStore.Insert,
            new HistoryItem { Id = folder, Name = "x", NzbName = "x.nzb", Category = "tv", Folder = "tv", ReleaseFolder = folder, ReleaseId = release, StrmRoot = root, View = view, CompletedAt = TimeProvider.System.GetUtcNow() });

        Assert.Null(await PathAsync());
        await InsertAsync("Archived Links", "", ClientView.Archive);
        Assert.Null(await PathAsync());
        await InsertAsync("Files", "/strm", ClientView.Archive);
        Assert.Equal("/strm/tv/Files/in/a b.strm", await PathAsync());
        await InsertAsync("Links", "", ClientView.History);
        await InsertAsync("Newest Links", "", ClientView.History);
        await InsertAsync("Archived", "", ClientView.Archive);
        Assert.Equal("/mnt/sluice/completed-symlinks/tv/Newest Links/in/a b.mkv", await PathAsync());
    }

    [Fact]
    public async Task Links_use_the_request_host_and_the_url_base()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new() { ["URL_BASE"] = "/sub" });
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(server.Server.Address, $"sub/api/files/{new BuiltInClip().File.Id}"));
        request.Headers.Host = "nas.test:8080";

        using var answer = await server.Server.Client.SendAsync(request, Token);

        var links = JsonNode.Parse(await answer.Content.ReadAsStringAsync(Token))!["links"]!;
        Assert.Equal("http://nas.test:8080/sub/content/demo/sluice-demo.mp4", links["webDav"]!.ToString());
        Assert.StartsWith("http://nas.test:8080/sub/view/content/demo/sluice-demo.mp4?downloadKey=", links["signed"]!.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Downloaded_NZB_of_a_file_matches_the_original()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var bytes = NzbText.Of("1.mkv", "2.mkv");
        using var nzb = new MemoryStream(bytes);
        var blob = await server.Server.Services.GetRequiredService<BlobStore>().SaveNzbAsync(nzb, Token);
        await PublishNzbAsync(server, blob.Hash, "tv", "Rel", 0, 1000, "a.mkv");
        var file = (await server.GetAsync("files?path=tv/Rel"))["items"]![0]!;

        using var answer = await server.Server.Client.GetAsync(new Uri($"api/files/{file["id"]}/nzb", UriKind.Relative), Token);

        Assert.Equal(bytes, await answer.Content.ReadAsByteArrayAsync(Token));
        Assert.Equal(("application/x-nzb", "Rel.nzb"), (answer.Content.Headers.ContentType?.MediaType, answer.Content.Headers.ContentDisposition?.FileNameStar));
        Assert.True((await server.GetAsync($"files/{file["id"]}"))["hasNzb"]!.GetValue<bool>());
    }

    [Fact]
    public async Task Tracks_are_read_without_playback()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await PublishAsync(server, "tv", "Rel", 0, "a.mkv");

        var clip = await server.GetAsync($"files/{new BuiltInClip().File.Id}/tracks");
        var lost = (await server.GetAsync("files?path=tv/Rel"))["items"]![0]!["id"]!;

        Assert.Equal(("known", "MP4", 12_000L), (clip["state"]!.ToString(), clip["container"]!.ToString(), clip["durationMs"]!.GetValue<long>()));
        Assert.Equal(["H.264", "AAC mono"], clip["items"]!.AsArray().Select(track => track!["codec"]!.ToString()));
        Assert.Equal("unreadable", (await server.GetAsync($"files/{lost}/tracks"))["state"]!.ToString());
    }

    /// <summary>Lists a folder as kinds and names.</summary>
    private static async Task<List<string>> ListAsync(ResourceServer server, string query) =>
        [.. (await server.GetAsync($"files?{query}"))["items"]!.AsArray().Select(row => $"{row!["kind"]} {row["name"]}")];

    internal static Task<long> PublishAsync(ResourceServer server, string category, string name, int day, params string[] paths) =>
        PublishAsync(server, category, name, day, 1000, paths);

    private static Task<long> PublishAsync(ResourceServer server, string category, string name, int day, long length, params string[] paths) =>
        PublishNzbAsync(server, new string('a', 64), category, name, day, length, paths);

    private static Task<long> PublishNzbAsync(ResourceServer server, string nzbHash, string category, string name, int day, long length, params string[] paths)
    {
        var release = new NewRelease(
            category, name, nzbHash,
            [new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000))],
            [.. paths.Select(path => new NewLibraryFile(Guid.NewGuid(), path, null, length, $"tag-{path.Length}", new FileContent([new ContentExtent(0, 0, 1000)])))]);
        return server.Server.Services.GetRequiredService<SluiceDatabase>().WriteAsync(
            connection => LibraryStore.Insert(connection, release, Published.AddDays(day)), Token);
    }
}
