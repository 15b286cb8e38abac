using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

public sealed class HistoryResourceTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Import_details_show_steps_files_and_NZB()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var files = Enumerable.Range(0, 105).Select(i => new MockFile { Name = $"film{i:000}.mkv", Size = 20_000, ArticleSize = 20_000 });
        var nzb = new MockRelease("rel", 11, [.. files]).ToNzb();

        var id = (await server.UploadAsync(NzbText.Gzip(nzb), "Some.Release.nzb.gz", HttpStatusCode.OK, ("category", "tv")))["ids"]![0]!.GetValue<string>();
        var row = await server.WaitForHistoryAsync(id);
        var detail = await server.GetAsync($"history/{id}");
        var download = await server.DownloadAsync($"history/{id}/nzb");

        Assert.Equal((id, "Some.Release", "tv", "completed"), (Text(row, "id"), Text(row, "name"), Text(row, "category"), Text(row, "result")));
        Assert.Equal((null, null, "tv/Some.Release", false), (row["reason"], row["sentence"], Text(row, "path"), row["canRetry"]!.GetValue<bool>()));
        Assert.Equal(105 * 20_000, row["bytes"]!.GetValue<long>());
        Assert.Equal(row.ToJsonString(), Assert.Single(await server.ListAsync("history")).ToJsonString());
        Assert.Equal(
            ["read", "heads", "names", "archives", "availability", "publish"],
            detail["steps"]!.AsArray().Where(step => Text(step!, "state") == "done").Select(step => Text(step!, "step")));
        Assert.Equal((105, 100, "film000.mkv", true), (
            detail["fileCount"]!.GetValue<int>(), detail["files"]!.AsArray().Count, Text(detail["files"]![0]!, "path"), detail["hasNzb"]!.GetValue<bool>()));
        Assert.True(detail["addedAt"]!.GetValue<DateTimeOffset>() <= detail["startedAt"]!.GetValue<DateTimeOffset>());
        // The download is the uncompressed NZB, byte for byte (IMP-6).
        Assert.Equal(nzb, download.Body);
        Assert.Equal(("application/x-nzb", "Some.Release.nzb"), (download.Type?.MediaType, download.FileName));
    }

    [Fact]
    public async Task Encrypted_import_fails_then_succeeds_with_a_password()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var release = new ReleaseBuilder("pass", 125, 20_000)
            .AddArchive(new ArchiveLayout { Format = LayoutFormat.Rar5, Entries = [new LayoutEntry("film.mkv", 300_000)], Volumes = 4, Password = "correct horse", EncryptsHeaders = true })
            .Build();
        mock.Post(release);
        var id = (await server.UploadAsync(release.ToNzb(), "Locked.nzb"))["ids"]![0]!.GetValue<string>();

        var failed = await server.WaitForHistoryAsync(id);
        var detail = await server.GetAsync($"history/{id}");
        var again = await server.SendAsync(HttpMethod.Post, $"history/{id}/retry", new JsonObject { ["password"] = "correct horse" });
        var completed = await server.WaitForHistoryAsync(id);
        while (Text(completed, "result") != "completed")
        {
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
            completed = await server.WaitForHistoryAsync(id);
        }

        Assert.Equal(
            ("failed", "encrypted-no-password", "The archive is encrypted and no password was given.", true),
            (Text(failed, "result"), Text(failed, "reason"), Text(failed, "sentence"), failed["canRetry"]!.GetValue<bool>()));
        Assert.Equal("archives", Text(detail["steps"]!.AsArray().Single(step => Text(step!, "state") == "failed")!, "step"));
        Assert.Equal((id, "Locked"), (again["ids"]![0]!.GetValue<string>(), again["names"]![0]!.GetValue<string>()));
        await server.SendAsync(HttpMethod.Post, $"history/{id}/retry", new JsonObject(), HttpStatusCode.Conflict);
    }

    [Fact]
    public async Task Retry_ignoring_health_publishes_a_damaged_import()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var release = new ReleaseBuilder("Severe", 126, 20_000).AddFile("Severe.mkv", 64 * 20_000).Build();
        mock.Post(release);
        mock.ChangeMissing(ArticleSelection.Parts([.. Enumerable.Range(2, 62)]));
        var id = (await server.UploadAsync(release.ToNzb(), "Severe.nzb"))["ids"]![0]!.GetValue<string>();

        var first = await server.WaitForHistoryAsync(id);
        var second = await RetryAsync(server, id, new JsonObject());
        var third = await RetryAsync(server, id, new JsonObject { ["ignoreHealth"] = true });

        Assert.Equal(("severe-damage", "severe-damage", "completed"), (Text(first, "reason"), Text(second, "reason"), Text(third, "result")));
    }

    [Fact]
    public async Task Damaged_import_reports_how_much_is_missing()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        const string name = "Paper.Moon.2021.1080p.WEB.h264-GRP";
        var release = new ReleaseBuilder("gaps", 128, 20_000).AddFile(name + ".mkv", 64 * 20_000).Build();
        mock.Post(release);
        // The sample covers every article, so its first batch includes a missing one.
        mock.ChangeMissing(ArticleSelection.Parts([.. Enumerable.Range(8, 3)]));
        var id = (await server.UploadAsync(release.ToNzb(), name + ".nzb"))["ids"]![0]!.GetValue<string>();

        var row = await server.WaitForHistoryAsync(id);

        var share = row["missingShare"]!.GetValue<double>();
        Assert.Equal(("completed", "Paper Moon"), (Text(row, "result"), row["film"]!["title"]!.GetValue<string>()));
        Assert.InRange(share, 0.04, 0.05);
        Assert.Equal(row.ToJsonString(), Assert.Single(await server.ListAsync("history?withGaps=true")).ToJsonString());
        Assert.Equal(share, Assert.Single(await server.ListAsync("files?path=uncategorized"))["missingShare"]!.GetValue<double>());
    }

    [Fact]
    public async Task Retry_on_all_providers_finds_articles_posted_since()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var release = new ReleaseBuilder("Late", 127, 20_000).AddFile("Late.mkv", 9 * 20_000).Build();
        mock.Post(release);
        mock.ChangeMissing(ArticleSelection.All);
        var id = (await server.UploadAsync(release.ToNzb(), "Late.nzb"))["ids"]![0]!.GetValue<string>();
        var first = await server.WaitForHistoryAsync(id);
        mock.ChangeMissing(ArticleSelection.None);

        // A plain retry fails again, because a provider's miss is remembered for an hour.
        var second = await RetryAsync(server, id, new JsonObject());
        var third = await RetryAsync(server, id, new JsonObject { ["otherProviders"] = true });

        Assert.Equal(("dead-post", "dead-post", "completed"), (Text(first, "reason"), Text(second, "reason"), Text(third, "result")));
    }

    [Fact]
    public async Task Retry_all_skips_imports_without_a_stored_NZB()
    {
        await using var server = await JobServer.StartAsync(_folder);
        var odd = (await server.UploadAsync(NzbText.DamagedZip(), "Odd.nzb"))["ids"]![0]!.GetValue<string>();
        var empty = new[] { await FailAsync("Empty.One"), await FailAsync("Empty.Two") };
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());

        var count = await server.SendAsync(HttpMethod.Post, "history/retry", new JsonObject { ["filter"] = new JsonObject { ["result"] = "failed" } });

        Assert.Equal(2, count["count"]!.GetValue<int>());
        Assert.Equal(empty.Order(), (await server.ListAsync("queue")).Select(row => Text(row, "id")).Order());
        Assert.Equal([odd], (await server.ListAsync("history")).Select(row => Text(row, "id")));
        Assert.Equal("wrong-state", Text(await server.SendAsync(HttpMethod.Post, $"history/{odd}/retry", new JsonObject(), HttpStatusCode.Conflict), "type"));
        await server.SendAsync(HttpMethod.Get, $"history/{odd}/nzb", null, HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Post, "history/retry", new JsonObject(), HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Post, $"history/{odd}/retry", new JsonObject { ["colour"] = "red" }, HttpStatusCode.BadRequest);

        async Task<string> FailAsync(string name)
        {
            var id = (await server.UploadAsync("<nzb></nzb>"u8.ToArray(), name + ".nzb"))["ids"]![0]!.GetValue<string>();
            await server.WaitForHistoryAsync(id);
            return id;
        }
    }

    [Theory]
    [InlineData("history/unknown")]
    [InlineData("history/unknown/nzb")]
    public async Task Unknown_item_is_not_found(string path)
    {
        await using var server = await JobServer.StartAsync(_folder);

        await server.SendAsync(HttpMethod.Get, path, null, HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Delete, "history/unknown", null, HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Post, "history/unknown/retry", new JsonObject(), HttpStatusCode.NotFound);
    }

    /// <summary>Retries an item and waits until it is in the history again.</summary>
    private static async Task<JsonNode> RetryAsync(JobServer server, string id, JsonObject body)
    {
        await server.SendAsync(HttpMethod.Post, $"history/{id}/retry", body);
        return await server.WaitForHistoryAsync(id);
    }

    private static string Text(JsonNode node, string name) => node[name]!.GetValue<string>();
}
