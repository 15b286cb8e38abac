using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Changes of the history by clients, and their limits (SAB-40 to SAB-46, SAB-94).</summary>
public sealed class HistoryChangeTests : IDisposable
{
    private const int Releases = 100;

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task SAB_94_Releases_still_play_after_history_delete_with_files()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock, null, ("SLUICE_CONFIG__QUEUE__WORKER_COUNT", "4"));
        var films = Enumerable.Range(0, Releases)
            .Select(at => (Name: $"Rel.{at}", Release: new MockRelease($"r{at}", (ulong)at, [new MockFile { Name = "film.mkv", Size = 1000 + at, ArticleSize = 900 }])))
            .ToList();
        var ids = new List<string>();
        foreach (var (name, release) in films)
            ids.AddRange(await host.AddAsync(release.ToNzb(), name + ".nzb", Token, "&cat=tv"));
        foreach (var id in ids)
            Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());

        // As Sonarr does after an import, and then with each other parameter.
        foreach (var id in ids.Take(Releases / 2))
            await DeleteAsync(host, $"value={id}&del_files=1&archive=1");
        await DeleteAsync(host, $"value={string.Join(',', ids.Skip(Releases / 2).Take(Releases / 4))}&del_files=1&archive=0");
        await DeleteAsync(host, "value=completed&del_files=1&del_completed_files=1");
        await DeleteAsync(host, "value=all&del_files=1&del_completed_files=1&archive=0");

        Assert.Equal(0, await CountAsync(host, ""));
        Assert.Equal(0, await CountAsync(host, "&archive=1"));
        foreach (var (name, release) in films)
        {
            using var answer = await host.SendAsync(HttpMethod.Get, $"/content/tv/{name}/film.mkv", null, Token);
            Assert.Equal(SumOf(release), Convert.ToHexStringLower(SHA256.HashData(await answer.Content.ReadAsByteArrayAsync(Token))));
        }
    }

    [Fact]
    public async Task Deleted_item_is_archived_and_hidden_only_with_archive_0()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var id = await ImportAsync(host, "Rel");
        var counter = await CounterAsync(host);
        Assert.Equal(HttpStatusCode.OK, await LookAsync(host, "/completed-symlinks/tv/Rel/film.mkv.rclonelink"));

        await DeleteAsync(host, $"value={id}");

        Assert.Equal(counter + 1, await CounterAsync(host));
        Assert.Equal(0, await CountAsync(host, ""));
        var archived = Assert.Single((await ListAsync(host, "&archive=1")).EnumerateArray());
        Assert.Equal((id, true, "Completed"), (archived.GetProperty("nzo_id").GetString(), archived.GetProperty("archive").GetBoolean(), archived.GetProperty("status").GetString()));
        Assert.Equal(HttpStatusCode.NotFound, await LookAsync(host, "/completed-symlinks/tv/Rel/film.mkv.rclonelink"));
        Assert.Equal(HttpStatusCode.OK, await LookAsync(host, "/content/tv/Rel/film.mkv"));

        // A call without an effect does not count as a change.
        await DeleteAsync(host, $"value={id}");
        await DeleteAsync(host, "value=unknown");
        Assert.Equal(counter + 1, await CounterAsync(host));

        await DeleteAsync(host, $"value={id}&archive=0");

        Assert.Equal(counter + 2, await CounterAsync(host));
        Assert.Equal(0, await CountAsync(host, "&archive=1"));
        Assert.Equal(0, await CountAsync(host, $"&nzo_ids={id}"));
        Assert.Equal("item does not exist", (await host.CallAsync($"mode=history&name=mark_as_completed&value={id}", Token)).GetProperty("error").GetString());
        Assert.Equal(ClientView.Nowhere, (await host.Get<HistoryStore>().FindAsync(id, Token))!.View);
        Assert.Equal(HttpStatusCode.OK, await LookAsync(host, "/content/tv/Rel/film.mkv"));
    }

    [Theory]
    [InlineData("value=all", "", "1 2 3 4")]
    [InlineData("value=failed", "1 3", "2 4")]
    [InlineData("value=completed", "2 4", "1 3")]
    [InlineData("value=all&search=name+1", "2 3 4", "1")]
    [InlineData("value=1&value=2", "3 4", "1 2")]
    [InlineData("value=1,3,unknown", "2 4", "1 3")]
    [InlineData("value=all,1", "2 3 4", "1")]
    public async Task Value_parameter_selects_the_items_to_delete(string query, string left, string archived)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        for (var i = 1; i <= 4; i++)
            await host.Get<SluiceDatabase>().InsertAsync(HistoryStore.Insert, Item($"{i}") with { Name = $"Name {i}", Reason = i % 2 == 0 ? "DeadPost" : null });

        await DeleteAsync(host, query);

        Assert.Equal(left, await IdsAsync(host, ""));
        Assert.Equal(archived, await IdsAsync(host, "&archive=1"));
    }

    [Fact]
    public async Task Stored_NZB_of_a_failed_item_is_deleted_with_item_or_files()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var ids = new List<string>();
        for (var i = 0; i < 3; i++)
            ids.AddRange(await host.AddAsync([.. NzbText.Of(), .. Encoding.UTF8.GetBytes($"<!--{i}-->")], $"{i}.nzb", Token));
        foreach (var id in ids)
            Assert.True((await host.WaitForHistoryAsync(id, Token)).GetProperty("retry").GetBoolean());
        Assert.Equal(3, Blobs());

        await DeleteAsync(host, $"value={ids[0]}");
        Assert.Equal(3, Blobs());
        await DeleteAsync(host, $"value={ids[0]},{ids[1]}&del_files=1");
        Assert.Equal(1, Blobs());
        await DeleteAsync(host, $"value={ids[2]}&archive=0");
        Assert.Equal(0, Blobs());

        var left = await ListAsync(host, "&archive=1");
        Assert.Equal(2, left.GetArrayLength());
        Assert.All(left.EnumerateArray(), slot => Assert.False(slot.GetProperty("retry").GetBoolean()));
        Assert.Equal("item does not exist", (await host.CallAsync($"mode=retry&value={ids[0]}", Token)).GetProperty("error").GetString());
    }

    [Fact]
    public async Task Delete_completed_files_request_logs_a_warning()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("LOG_LEVEL", "warning"));
        await host.CallAsync("mode=warnings&name=clear", Token);

        await DeleteAsync(host, "value=all&del_completed_files=1");

        var warning = Assert.Single((await host.CallAsync("mode=warnings", Token)).GetProperty("warnings").EnumerateArray());
        Assert.Equal("WARNING", warning.GetProperty("type").GetString());
        Assert.Contains("stay mounted", warning.GetProperty("text").GetString(), StringComparison.Ordinal);
        Assert.Equal("1", (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("have_warnings").GetString());
    }

    [Fact]
    public async Task Retried_item_keeps_its_id_and_disappears_from_history()
    {
        // The item waits in the queue, because there is no provider.
        await using var host = await ProductHost.StartAsync(_folder);
        var nzb = NzbText.Of("film.mkv");
        var id = Assert.Single(await host.AddAsync(nzb, "Rel.nzb", Token, "&cat=tv&priority=1&password=first&pp=2&script=s.py"));
        await FailAsync(host, id);
        var counter = await CounterAsync(host);

        var answer = await host.CallAsync($"mode=retry&value={id}&password=second", Token);

        Assert.Equal($$"""{"status":true,"nzo_id":"{{id}}"}""", answer.ToString());
        Assert.Equal(counter + 1, await CounterAsync(host));
        Assert.Equal(0, await CountAsync(host, ""));
        var item = await host.Get<QueueStore>().FindAsync(id, Token);
        Assert.Equal(
            ("Rel", "Rel.nzb", "tv", "second", QueuePriority.High, 2, "s.py", (long)nzb.Length, false),
            (item!.Name, item.NzbName, item.Category, host.Get<ItemPasswords>().Open(item), item.Priority, item.PostProcessing, item.Script, item.NzbLength, item.Paused));
        Assert.Equal("item does not exist", (await host.CallAsync($"mode=retry&value={id}", Token)).GetProperty("error").GetString());
    }

    [Fact]
    public async Task Retry_with_an_upload_replaces_the_stored_NZB()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var id = Assert.Single(await host.AddAsync(NzbText.Of(), "Rel.nzb", Token));
        await host.WaitForHistoryAsync(id, Token);
        var better = NzbText.Of("film.mkv");

        using var answer = await RetryAsync(host, id, NzbText.Gzip(better));

        Assert.Equal($$"""{"status":true,"nzo_id":"{{id}}"}""", await answer.Content.ReadAsStringAsync(Token));
        var item = await host.Get<QueueStore>().FindAsync(id, Token);
        Assert.Equal((Convert.ToHexStringLower(SHA256.HashData(better)), (long)better.Length), (item!.NzbHash, item.NzbLength));
        Assert.Equal(1, Blobs());
    }

    [Fact]
    public async Task Retry_with_an_invalid_upload_fails_under_the_same_id()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        // Nothing of the upload is stored, so there is nothing to retry.
        byte[] damaged = [.. "BZh9"u8, .. new byte[200]];
        var id = Assert.Single(await host.AddAsync(damaged, "Rel.nzb", Token));
        await host.WaitForHistoryAsync(id, Token);
        Assert.Equal("item does not exist", (await host.CallAsync($"mode=retry&value={id}", Token)).GetProperty("error").GetString());

        using var answer = await RetryAsync(host, id, NzbText.Zip());

        Assert.Equal($$"""{"status":true,"nzo_id":"{{id}}"}""", await answer.Content.ReadAsStringAsync(Token));
        Assert.Equal("The file is not an NZB (a zip without files).", (await host.WaitForHistoryAsync(id, Token)).GetProperty("fail_message").GetString());
        Assert.Equal(1, await CountAsync(host, ""));
    }

    [Fact]
    public async Task Completed_item_or_lost_NZB_cannot_be_retried()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var completed = await ImportAsync(host, "Rel");
        var lost = Assert.Single(await host.AddAsync(NzbText.Of(), "Lost.nzb", Token));
        var nzb = (await host.WaitForHistoryAsync(lost, Token), await host.Get<HistoryStore>().FindAsync(lost, Token)).Item2!.NzbHash!;
        File.Delete(Path.Combine(_folder.Folder.Blobs, nzb + ".nzb.br"));

        foreach (var id in new[] { completed, lost, "unknown" })
            Assert.Equal("item does not exist", (await host.CallAsync($"mode=retry&value={id}", Token)).GetProperty("error").GetString());
        Assert.Equal("""{"status":[]}""", (await host.CallAsync("mode=retry_all", Token)).ToString());
        Assert.Equal(2, await CountAsync(host, ""));
    }

    [Fact]
    public async Task Retry_measures_an_NZB_stored_without_its_length()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var nzb = NzbText.Of("film.mkv");
        var id = Assert.Single(await host.AddAsync(nzb, "Rel.nzb", Token));
        await FailAsync(host, id);
        await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("UPDATE history_item SET nzb_length = 0"), Token);

        await host.CallAsync($"mode=retry&value={id}", Token);

        Assert.Equal(nzb.Length, (await host.Get<QueueStore>().FindAsync(id, Token))!.NzbLength);
    }

    [Fact]
    public async Task Full_queue_refuses_retries()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("SLUICE_CONFIG__QUEUE__MAX_ITEMS", "1"));
        var first = Assert.Single(await host.AddAsync(NzbText.Of("a.mkv"), "1.nzb", Token));
        await FailAsync(host, first);
        await host.AddAsync(NzbText.Of("b.mkv"), "2.nzb", Token);

        Assert.Equal("Queue is full", (await host.CallAsync($"mode=retry&value={first}", Token)).GetProperty("error").GetString());
        Assert.Equal("""{"status":[]}""", (await host.CallAsync("mode=retry_all", Token)).ToString());
        Assert.Equal(1, await CountAsync(host, ""));
    }

    [Fact]
    public async Task Failed_item_with_a_release_can_be_marked_completed()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var id = await ImportAsync(host, "Rel");
        await host.Get<SluiceDatabase>().WriteAsync(
            connection => connection.Execute("UPDATE history_item SET reason = 'DeadPost', fail_message = 'x'"), Token);
        var counter = await CounterAsync(host);

        var answer = await host.CallAsync($"mode=history&name=mark_as_completed&value=unknown,{id}", Token);

        Assert.Equal("""{"status":true}""", answer.ToString());
        var slot = Assert.Single((await ListAsync(host, "")).EnumerateArray());
        Assert.Equal(("Completed", ""), (slot.GetProperty("status").GetString(), slot.GetProperty("fail_message").GetString()));
        Assert.Equal(counter + 1, await CounterAsync(host));
    }

    [Theory]
    [InlineData("90", "old-completed new-archived new-failed new-completed")]
    [InlineData("0", "old-archived old-failed old-completed new-archived new-failed new-completed")]
    public async Task Retention_removes_only_old_archived_and_failed_items(string days, string left)
    {
        var time = new ManualTimeProvider();
        await using var host = await ProductHost.StartAsync(
            _folder, null, services => services.AddSingleton<TimeProvider>(time), ("SLUICE_CONFIG__DATABASE__HISTORY_RETENTION_DAYS", days));
        var database = host.Get<SluiceDatabase>();
        foreach (var (age, name) in new[] { (91, "old"), (89, "new") })
        {
            var at = time.GetUtcNow().AddDays(-age);
            await database.InsertAsync(
                HistoryStore.Insert,
                Item($"{name}-archived") with { CompletedAt = at },
                Item($"{name}-failed") with { CompletedAt = at, Reason = "DeadPost" },
                Item($"{name}-completed") with { CompletedAt = at });
        }

        await DeleteAsync(host, "value=old-archived,new-archived");
        time.Advance(HistoryRetentionWorker.Pause);

        while (days != "0" && await database.ReadAsync(connection => connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM history_item WHERE id = 'old-failed')"), Token))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        Assert.Equal(
            left,
            string.Join(' ', await database.ReadAsync(connection => connection.Query<string>("SELECT id FROM history_item ORDER BY number").ToList(), Token)));
    }

    [Fact]
    public async Task Change_counter_survives_a_restart()
    {
        await using (var host = await ProductHost.StartAsync(_folder))
        {
            await host.Get<SluiceDatabase>().InsertAsync(HistoryStore.Insert, Item("1"), Item("2"));
            await DeleteAsync(host, "value=all&archive=0");
            Assert.Equal(3, await CounterAsync(host));
        }

        await using var next = await ProductHost.StartAsync(_folder);
        Assert.Equal(3, await CounterAsync(next));
        Assert.Equal("""{"history":false}""", (await next.CallAsync("mode=history&last_history_update=3", Token)).ToString());
    }

    private static async Task<string> ImportAsync(ProductHost host, string name)
    {
        var release = new MockRelease(name, 1, [new MockFile { Name = "film.mkv", Size = 5000, ArticleSize = 900 }]);
        var id = Assert.Single(await host.AddAsync(release.ToNzb(), name + ".nzb", Token, "&cat=tv"));
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
        return id;
    }

    /// <summary>Moves a waiting item to the history, like a failed import.</summary>
    private static async Task FailAsync(ProductHost host, string id)
    {
        await host.WaitForWaitingAsync(id, Token);
        await host.Get<SluiceDatabase>().WriteAsync(
            connection =>
            {
                var item = QueueStore.Remove(connection, id)!;
                HistoryStore.Insert(connection, FailedItem.Of(item, ImportFailure.NoMedia(), [], TimeProvider.System.GetUtcNow()));
                return true;
            },
            Token);
        host.Get<QueueSchedule>().Forget(id);
    }

    private static async Task DeleteAsync(ProductHost host, string query) =>
        Assert.Equal("""{"status":true}""", (await host.CallAsync("mode=history&name=delete&" + query, Token)).ToString());

    private static async Task<HttpResponseMessage> RetryAsync(ProductHost host, string id, byte[] content)
    {
        using var form = new MultipartFormDataContent { { new ByteArrayContent(content), "nzbfile", "again.nzb" } };
        return await host.Client.PostAsync(new Uri($"/api?mode=retry&value={id}&apikey={ProductHost.Key}", UriKind.Relative), form, Token);
    }

    private static async Task<HttpStatusCode> LookAsync(ProductHost host, string path)
    {
        using var answer = await host.SendAsync(HttpMethod.Get, path, null, Token);
        return answer.StatusCode;
    }

    private static async Task<JsonElement> ListAsync(ProductHost host, string query) =>
        (await host.CallAsync("mode=history&limit=1000" + query, Token)).GetProperty("history").GetProperty("slots");

    private static async Task<int> CountAsync(ProductHost host, string query) => (await ListAsync(host, query)).GetArrayLength();

    private static async Task<string> IdsAsync(ProductHost host, string query) =>
        string.Join(' ', (await ListAsync(host, query)).EnumerateArray().Select(slot => slot.GetProperty("nzo_id").GetString()).Order());

    private static async Task<long> CounterAsync(ProductHost host) =>
        (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("last_history_update").GetInt64();

    private static string SumOf(MockRelease release)
    {
        var bytes = new byte[release.Files[0].Size];
        release.Fill(0, 0, bytes);
        return Convert.ToHexStringLower(SHA256.HashData(bytes));
    }

    private int Blobs() => Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br").Length;

    private static HistoryItem Item(string id) => new()
    {
        Id = id,
        Name = id,
        NzbName = id + ".nzb",
        Category = "movies",
        Folder = "movies",
        CompletedAt = TimeProvider.System.GetUtcNow(),
    };
}
