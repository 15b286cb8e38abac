using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.AdminApi;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The home page through the API.</summary>
public sealed class HomeResourceTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Failed_imports_are_grouped_until_handled_or_seen()
    {
        await using var server = await JobServer.StartAsync(_folder);
        var first = await FailAsync(server, "Empty.One.2019.1080p.WEB.h264-GRP");
        var second = await FailAsync(server, "Empty.Two.2020.1080p.WEB.h264-GRP");

        var need = Assert.Single(await NeedsAsync(server));
        Assert.Equal(("import-failed", "nzb-empty", 2), (need["kind"]!.ToString(), need["reason"]!.ToString(), need["count"]!.GetValue<int>()));
        Assert.Equal(2, (await server.GetAsync("home/failed"))["count"]!.GetValue<int>());
        Assert.Equal(("Empty.Two.2020.1080p.WEB.h264-GRP", "Empty Two"), (need["name"]!.ToString(), need["film"]!["title"]!.ToString()));

        await server.SendAsync(HttpMethod.Delete, $"history/{second}");
        Assert.Equal(1, Assert.Single(await NeedsAsync(server))["count"]!.GetValue<int>());
        await SeeAsync(server, Assert.Single(await NeedsAsync(server)));
        Assert.Empty(await NeedsAsync(server));
        Assert.Equal(0, (await server.GetAsync("home/failed"))["count"]!.GetValue<int>());

        // A later failure of the same kind is shown again, and a retry in the paused queue removes it.
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        await server.Host.Get<SluiceDatabase>().WriteAsync(
            connection => connection.Execute("UPDATE history_item SET completed_at = completed_at + 1 WHERE id = @first", new { first }), Token);
        Assert.Equal("Empty.One.2019.1080p.WEB.h264-GRP", Assert.Single(await NeedsAsync(server))["name"]!.ToString());
        await server.SendAsync(HttpMethod.Post, $"history/{first}/retry", new JsonObject());
        Assert.Empty(await NeedsAsync(server));
        await server.SendAsync(HttpMethod.Post, "home/seen", new JsonObject { ["id"] = "nothing", ["at"] = "2026-01-01T00:00:00Z" }, HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Failed_imports_are_hidden_after_a_week_or_client_deletion()
    {
        await using var server = await JobServer.StartAsync(_folder);
        var database = server.Host.Get<SluiceDatabase>();
        var week = (long)HomeViews.NeedWindow.TotalMilliseconds;
        var id = await FailAsync(server, "Empty");

        await database.WriteAsync(connection => connection.Execute("UPDATE history_item SET completed_at = completed_at - @week + 60000", new { week }), Token);
        Assert.Single(await NeedsAsync(server));
        await database.WriteAsync(connection => connection.Execute("UPDATE history_item SET completed_at = completed_at - 60000"), Token);
        Assert.Empty(await NeedsAsync(server));
        await database.WriteAsync(connection => connection.Execute("UPDATE history_item SET completed_at = completed_at + @week", new { week }), Token);
        Assert.Single(await NeedsAsync(server));
        await server.Host.CallAsync($"mode=history&name=delete&value={id}", Token);
        Assert.Empty(await NeedsAsync(server));
    }

    [Fact]
    public async Task Damaged_film_is_listed_until_seen()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        const string name = "Paper.Moon.2021.1080p.WEB.h264-GRP";
        var release = new ReleaseBuilder("gaps", 128, 20_000).AddFile(name + ".mkv", 64 * 20_000).Build();
        mock.Post(release);
        mock.ChangeMissing(ArticleSelection.Parts([.. Enumerable.Range(8, 3)]));
        await server.WaitForHistoryAsync((await server.UploadAsync(release.ToNzb(), name + ".nzb"))["ids"]![0]!.GetValue<string>());

        var home = await server.GetAsync("home");

        var need = Assert.Single(home["needs"]!.AsArray())!;
        Assert.Equal(("gaps", "Paper Moon", $"uncategorized/{name}"), (need["kind"]!.ToString(), need["film"]!["title"]!.ToString(), need["path"]!.ToString()));
        Assert.InRange(need["missingShare"]!.GetValue<double>(), 0.04, 0.05);
        Assert.Equal(need["missingShare"]!.ToString(), home["recent"]![0]!["missingShare"]!.ToString());
        await SeeAsync(server, need);
        Assert.Empty(await NeedsAsync(server));
    }

    [Fact]
    public async Task Film_stopping_at_a_gap_is_listed_as_a_problem()
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(MockRelease.Plain(1, 20_000_000, articleSize: 100_000));
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, 6_000_000);
        server.Mock.ChangeMissing(ArticleSelection.All);

        using (var cut = await StreamServer.OpenAsync(server.Player(StreamServer.Vlc), path, 15_000_000))
            await Assert.ThrowsAnyAsync<Exception>(() => cut.EnsureSuccessStatusCode().Content.ReadAsByteArrayAsync(Token));

        var home = await server.Api.GetAsync("home");
        var problem = Assert.Single(home["problems"]!.AsArray(), row => row!["kind"]!.ToString() == "film")!;
        Assert.Equal("film.mkv stopped at 75%: articles are missing on all providers.", problem["sentence"]!.ToString());
        Assert.Equal(home["playing"]![0]!["file"]!["id"]!.ToString(), problem["target"]!.ToString());
        Assert.DoesNotContain((await server.Api.GetAsync("stats"))["attention"]!.AsArray(), row => row!["sentence"]!.ToString().Contains("Aborted", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Media_header_is_stored_when_it_is_first_read()
    {
        byte[] clip;
        using (var folder = new TemporaryFolder())
        await using (var alone = await ResourceServer.StartAsync(folder))
        {
            using var client = new HttpClient { BaseAddress = alone.Server.Address };
            client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
            clip = await client.GetByteArrayAsync(new Uri("content/demo/sluice-demo.mp4", UriKind.Relative), Token);
        }

        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var nzb = new MockRelease("clip", 5, [new MockFile { Name = "Clip.2024.mp4", Size = clip.Length, ArticleSize = 20_000, Content = MediaContent.FromBytes("Clip.2024.mp4", clip) }]);
        mock.Post(nzb);
        await server.WaitForHistoryAsync((await server.UploadAsync(nzb.ToNzb(), "Clip.2024.nzb"))["ids"]![0]!.GetValue<string>());
        var film = (await server.GetAsync("home"))["recent"]![0]!;
        Assert.Null(film["media"]);

        await server.GetAsync($"files/{film["filmId"]}/tracks");

        const string details = """{"durationMs":12000,"width":640,"height":360,"video":"H.264","audio":"AAC mono"}""";
        Assert.Equal(details, (await server.GetAsync("home"))["recent"]![0]!["media"]!.ToJsonString());
        foreach (var list in new[] { "files?path=uncategorized", "files?path=uncategorized/Clip.2024", "files?q=clip" })
            Assert.Equal(details, Assert.Single(await server.ListAsync(list))["details"]!.ToJsonString());
    }

    [Fact]
    public async Task Home_page_is_small_and_reads_only_indexes()
    {
        await using var server = await ResourceServer.StartAsync(_folder);
        var database = server.Server.Services.GetRequiredService<SluiceDatabase>();
        var long12 = string.Join('.', Enumerable.Repeat("Long", 12));
        for (var i = 0; i < 20; i++)
            await PublishAsync(database, $"The.{long12}.Way.Home.{2000 + i}.2160p.UHD.BluRay.REMUX.HDR.HEVC.Atmos-GROUP");
        await database.InsertAsync(HistoryStore.Insert, Enum.GetValues<FailureReason>().Select(reason => new HistoryItem
        {
            Id = $"SABnzbd_nzo_{reason}",
            Name = "The.Long.Way.Home.2019.1080p.WEB.h264-GROUP",
            NzbName = "x.nzb",
            Category = "tv",
            Folder = "tv",
            Reason = reason.ToString(),
            CompletedAt = TimeProvider.System.GetUtcNow(),
        }));

        var home = await server.GetAsync("home");

        Assert.Equal((12, Enum.GetValues<FailureReason>().Length, 60), (home["recent"]!.AsArray().Count, home["needs"]!.AsArray().Count, home["strip"]!["toPlayers"]!.AsArray().Count));
        Assert.InRange(home["recent"]!.ToJsonString().Length + home["strip"]!.ToJsonString().Length, 1, 6 << 10);
        var plan = await database.ExplainAsync(FailedImports.GroupSql, new { reason = "x", since = 0L });
        Assert.Contains(plan, step => step.Contains("history_item_failed (reason=? AND completed_at>?)", StringComparison.Ordinal));
        plan = await database.ExplainAsync(HomeViews.NewestSql, new { most = 12 });
        Assert.Contains(plan, step => step.Contains("USING INDEX release_published", StringComparison.Ordinal));
        plan = await database.ExplainAsync(HomeViews.GapsSql, new { since = 0L, most = 12 });
        Assert.Contains(plan, step => step.Contains("INDEX release_gaps", StringComparison.Ordinal));
    }

    private static Task<long> PublishAsync(SluiceDatabase database, string name) => database.WriteAsync(
        connection => LibraryStore.Insert(
            connection,
            new NewRelease("movies", name, new string('a', 64), [], [new NewLibraryFile(Guid.NewGuid(), name + ".mkv", null, 1000, "tag", new FileContent([new ContentExtent(0, 0, 1000)]))]),
            TimeProvider.System.GetUtcNow()),
        Token);

    private static async Task<string> FailAsync(JobServer server, string name)
    {
        var id = (await server.UploadAsync("<nzb></nzb>"u8.ToArray(), name + ".nzb"))["ids"]![0]!.GetValue<string>();
        await server.WaitForHistoryAsync(id);
        return id;
    }

    private static async Task<List<JsonNode>> NeedsAsync(JobServer server) => [.. (await server.GetAsync("home"))["needs"]!.AsArray().Select(need => need!)];

    private static Task<JsonNode> SeeAsync(JobServer server, JsonNode need) =>
        server.SendAsync(HttpMethod.Post, "home/seen", new JsonObject { ["id"] = need["id"]!.ToString(), ["at"] = need["at"]!.ToString() }, HttpStatusCode.NoContent);
}
