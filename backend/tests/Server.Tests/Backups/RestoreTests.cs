using System.Net;
using Sluice.Server.Auth;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>A restored backup plays its films, and later NZBs are not lost (OPS-10 to OPS-13).</summary>
public sealed class RestoreTests
{
    private const int Later = 20;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task OPS_12_Later_nzbs_are_listed_and_queued_again()
    {
        await using var films = await PublishedFilms.CreateAsync(3);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.AddAsync(Later);
        var stored = films.StoredNzbs;

        var report = await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore", new { requeue = false });
        // The restart begins when the response is complete, which the client may see first.
        await films.UntilAsync(() => Task.FromResult(films.Host.Get<ProcessRestart>().IsRequested));
        Assert.Equal((Later, 3), (report["later"]!.GetValue<int>(), report["files"]!.GetValue<int>()));
        await films.StopAsync();
        films.Age();

        // Two starts, because the first check of an older database once treated the later NZBs as orphans.
        for (var start = 0; start < 2; start++)
        {
            await films.StartAsync();
            Assert.False(await films.IsSafeModeAsync());
            await films.UntilAsync(() => Task.FromResult(films.Host.Get<IntegrityWorker>().CheckedAt is not null));
            for (var film = 0; film < 3; film++)
                await films.AssertPlaysAsync(film);
            using (var absent = await films.Host.Client.GetAsync(new Uri("content/movies/Film 4/film.mkv", UriKind.Relative), Token))
                Assert.Equal(HttpStatusCode.NotFound, absent.StatusCode);
            var listed = await films.Host.AskAsync(HttpMethod.Get, "backups/later");
            Assert.Equal(Later, listed["total"]!.GetValue<int>());
            Assert.Equal(
                Enumerable.Range(4, Later).Select(number => $"Film {number}").Order(StringComparer.Ordinal),
                listed["items"]!.AsArray().Select(nzb => nzb!["name"]!.ToString()).Order(StringComparer.Ordinal));
            Assert.All(listed["items"]!.AsArray(), nzb => Assert.Equal("movies", nzb!["category"]!.ToString()));
            Assert.Equal(stored, films.StoredNzbs);
            Assert.Empty(films.Quarantined);
            await films.StopAsync();
        }

        await films.StartAsync();
        Assert.Equal(Later, (await films.Host.AskAsync(HttpMethod.Post, "backups/later/requeue", new { }))["count"]!.GetValue<int>());
        await UntilImportedAsync(films);
        await films.AssertPlayAsync();
        Assert.Equal(0, (await films.Host.AskAsync(HttpMethod.Get, "backups/later"))["total"]!.GetValue<int>());
    }

    [Fact]
    public async Task OPS_12_Requested_requeue_needs_no_confirmation()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.AddAsync(2);
        await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore", new { requeue = true });
        await films.StopAsync();

        await films.StartAsync();
        await UntilImportedAsync(films);

        await films.AssertPlayAsync();
        Assert.False(File.Exists(Path.Combine(films.Root, RestoreSteps.RequeueMark)));
        Assert.Single(Directory.GetDirectories(Path.Combine(films.Root, "replaced")));
    }

    [Fact]
    public async Task OPS_10_Dry_run_reports_the_losses_and_changes_nothing()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.AddAsync(1);
        Assert.Empty((await films.Host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["queue.worker-count"] = "3", ["api.nzb-key"] = new string('k', 20) }, Token)));
        var admins = films.Host.Get<AdminStore>();
        await admins.OpenSessionAsync(new SessionPlace("192.0.2.1", "browser"), Token);

        var cost = await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore?dryRun=true", new { });

        Assert.Equal(
            (1, 2, 1, 2),
            (cost["later"]!.GetValue<int>(), cost["settings"]!.GetValue<int>(), cost["logins"]!.GetValue<int>(), cost["files"]!.GetValue<int>()));
        Assert.Equal(
            "The backup is 0 minutes old; you lose 2 changed settings and 1 login. 2 files play by it. 1 NZB came after it, and can be queued again.",
            cost["sentence"]!.ToString());
        Assert.False(films.Host.Get<ProcessRestart>().IsRequested);
        Assert.False(File.Exists(Path.Combine(films.Root, "restore.json")));
    }

    [Fact]
    public async Task OPS_10_Dry_run_names_secrets_of_another_key()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        Assert.Empty((await films.Host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["api.nzb-key"] = new string('k', 20) }, Token)));
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.StopAsync();
        await File.WriteAllBytesAsync(Path.Combine(films.Root, "keys", "secret.key"), new byte[32], Token);

        await films.StartAsync();
        var cost = await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore?dryRun=true", new { });

        Assert.Contains("api.nzb-key", cost["locked"]!.AsArray().Select(key => key!.ToString()));
    }

    [Theory]
    [InlineData("sluice.db")]
    [InlineData("blobs.keys")]
    [InlineData("manifest.json")]
    public async Task OPS_11_Damaged_backup_replaces_nothing(string part)
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.AddAsync(1);
        await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore", new { });
        await films.StopAsync();
        var path = Path.Combine(films.Root, "backups", id, part);
        var bytes = await File.ReadAllBytesAsync(path, Token);
        bytes[^3] ^= 1;
        await File.WriteAllBytesAsync(path, bytes, Token);

        await films.StartAsync();

        await films.AssertPlayAsync();
        Assert.Contains(films.Log, line => line.StartsWith("Error", StringComparison.Ordinal) && line.Contains("Could not restore", StringComparison.Ordinal));
        Assert.False(File.Exists(Path.Combine(films.Root, "restore.json")));
        Assert.False(Directory.Exists(Path.Combine(films.Root, "replaced")));
        using var refused = await films.Host.CallAsync(HttpMethod.Post, $"backups/{id}/restore", new { });
        Assert.Equal(part == "manifest.json" ? HttpStatusCode.NotFound : HttpStatusCode.UnprocessableEntity, refused.StatusCode);
    }

    [Fact]
    public async Task OPS_11_Replaced_database_put_back_enters_safe_mode()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.AddAsync(1);
        await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore", new { });
        await films.StopAsync();
        await films.StartAsync();
        await films.StopAsync();
        var replaced = Directory.GetFiles(Path.Combine(films.Root, "replaced"), "sluice.db", SearchOption.AllDirectories).Single();

        films.PutDatabase(await File.ReadAllBytesAsync(replaced, Token));
        await films.StartAsync();

        Assert.True(await films.IsSafeModeAsync());
    }

    [Fact]
    public async Task OPS_11_Removed_film_is_restored_from_the_quarantine()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.StopAsync();
        films.Execute("DELETE FROM history_item WHERE name = 'Film 1'; DELETE FROM release WHERE name = 'Film 1'");
        films.Age();
        await films.StartAsync();
        await films.UntilAsync(() => Task.FromResult(films.Quarantined.Count == 1));
        await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore", new { });
        await films.StopAsync();

        await films.StartAsync();

        await films.AssertPlayAsync();
    }

    [Fact]
    public async Task OPS_11_Damaged_database_is_replaced_too()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.StopAsync();
        films.PutDatabase(new byte[8192]);
        await films.StartAsync();
        Assert.True(await films.IsSafeModeAsync());
        var plan = films.Host.Get<RestorePlan>();
        var backup = films.Host.Get<BackupFolder>().Find(id)!;
        Assert.Null(plan.FindObstacle(backup, Token));
        Assert.Equal((null, null), (plan.Estimate(backup).Settings, plan.Estimate(backup).Logins));
        plan.Request(backup, "test", requeue: false);
        await films.StopAsync();

        await films.StartAsync();

        await films.AssertPlayAsync();
        Assert.False(await films.IsSafeModeAsync());
    }

    [Fact]
    public async Task Unreadable_restore_request_is_dropped()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await File.WriteAllTextAsync(Path.Combine(films.Root, "restore.json"), "{", Token);

        await films.StartAsync();

        await films.AssertPlayAsync();
        Assert.False(File.Exists(Path.Combine(films.Root, "restore.json")));
    }

    // The queue is also empty before the NZBs are queued again, so it is asked second.
    private static Task UntilImportedAsync(PublishedFilms films) => films.UntilAsync(async () =>
        (await films.Host.AskAsync(HttpMethod.Get, "backups/later"))["total"]!.GetValue<int>() == 0
        && (await films.Host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("noofslots_total").GetInt32() == 0);
}
