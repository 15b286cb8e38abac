using System.Net;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Settings through the API (CFG-11, CFG-12, CFG-16).</summary>
public sealed class SettingsResourceTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Schema_lists_every_key_with_its_form_metadata()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        var fields = (await server.GetAsync("settings/schema"))["items"]!.AsArray();

        Assert.Equal(SettingSchema.All.Select(definition => definition.Key), fields.Select(field => field!["key"]!.ToString()));
        var workers = fields.Single(field => field!["key"]!.ToString() == "queue.worker-count")!;
        Assert.Equal(
            """{"key":"queue.worker-count","group":"download-client","title":"Parallel imports","help":"How many NZBs are imported at once.","type":"integer","unit":"imports","min":1,"max":10,"choices":null,"default":"2","restart":false,"secret":false,"advanced":true,"basic":false,"aliases":[],"overrideName":"SLUICE_CONFIG__QUEUE__WORKER_COUNT","zeroMeans":null}""",
            workers.ToJsonString());
        string[] groups = ["providers", "streaming", "library", "download-client", "arr", "health", "backups", "system"];
        string[] types = ["bool", "integer", "text", "list", "choice", "url", "path", "secret", "secret-list", "json", "minutes"];
        Assert.All(fields, field => Assert.Contains(field!["group"]!.ToString(), groups));
        Assert.All(fields, field => Assert.Contains(field!["type"]!.ToString(), types));
    }

    [Fact]
    public async Task Save_returns_all_errors_at_once_and_saves_nothing()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new() { ["SLUICE_CONFIG__WEBDAV__USER"] = "locked" });

        var errors = (await server.SaveAsync(
            HttpStatusCode.BadRequest,
            ("queue.worker-count", "11"),
            ("no.such", "1"),
            ("webdav.user", "me"),
            ("usenet.read-ahead-mb", "64"),
            ("usenet.providers", """{"Providers":[{"Host":"two words"}]}"""),
            ("rclone.mount-dir", "relative")))!;

        Assert.Equal(["no.such", "queue.worker-count", "rclone.mount-dir", "usenet.providers", "webdav.user"], errors.Select(error => error.Key).Order());
        Assert.Equal("Must be a whole number from 1 to 10.", errors["queue.worker-count"]![0]!.ToString());
        Assert.Equal("element 0 is left out: Host must be a host name or an address.", errors["usenet.providers"]![0]!.ToString());
        Assert.Contains("SLUICE_CONFIG__WEBDAV__USER", errors["webdav.user"]![0]!.ToString(), StringComparison.Ordinal);
        Assert.Equal("128", (await server.ValueAsync("usenet.read-ahead-mb"))["value"]!.ToString());
    }

    [Fact]
    public async Task Automatic_values_report_the_effective_number()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await server.SaveAsync(HttpStatusCode.OK, ("usenet.providers", """{"Providers":[{"Host":"127.0.0.1","Port":1,"MaxConnections":7,"UseSsl":false},{"Host":"127.0.0.2","Port":1,"MaxConnections":5,"UseSsl":false,"Type":0}]}"""));

        Assert.Equal("7", (await server.ValueAsync("usenet.max-download-connections"))["effective"]!.ToString());
        Assert.True(long.Parse((await server.ValueAsync("usenet.in-flight-article-budget-mb"))["effective"]!.ToString(), System.Globalization.CultureInfo.InvariantCulture) > 0);
        Assert.Equal(_temporary.Folder.Segments, (await server.ValueAsync("usenet.segment-cache.path"))["effective"]!.ToString());
        await server.SaveAsync(HttpStatusCode.OK, ("usenet.max-download-connections", "3"));
        Assert.Null((await server.ValueAsync("usenet.max-download-connections"))["effective"]);
    }

    [Fact]
    public async Task Sets_are_listed_and_restored()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await server.SaveAsync(HttpStatusCode.OK, ("queue.worker-count", "3"));
        await server.SaveAsync(HttpStatusCode.OK, ("queue.worker-count", "4"), ("webdav.user", "me"));

        var sets = (await server.GetAsync("settings/sets"))["items"]!.AsArray();
        Assert.Equal(["queue.worker-count", "webdav.user"], sets[0]!["keys"]!.AsArray().Select(key => key!.ToString()).Order());
        await server.SendAsync(HttpMethod.Post, $"settings/sets/{sets[1]!["id"]}/restore");

        Assert.Equal("3", (await server.ValueAsync("queue.worker-count"))["value"]!.ToString());
        Assert.Equal("default", (await server.ValueAsync("webdav.user"))["source"]!.ToString());
        await server.SendAsync(HttpMethod.Post, "settings/sets/999/restore", null, HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Export_can_be_imported_on_another_server()
    {
        await using (var server = await ResourceServer.StartAsync(_temporary))
        {
            await server.SaveAsync(HttpStatusCode.OK, ("queue.worker-count", "5"), ("usenet.bandwidth-schedule", "[\n{\"days\":\"mon\",\"from\":\"08:00\",\"to\":\"09:00\",\"mbps\":5}]"), ("api.nzb-key", "canary-canary-canary"));
        }

        string export;
        await using (var server = await ResourceServer.StartAsync(_temporary))
            export = await server.SendTextAsync(HttpMethod.Get, "settings/export", null, "", HttpStatusCode.OK);
        Assert.DoesNotContain("canary", export, StringComparison.Ordinal);

        using var other = new TemporaryFolder();
        await using var fresh = await ResourceServer.StartAsync(other);
        await fresh.SendTextAsync(HttpMethod.Post, "settings/import", export, "text/plain", HttpStatusCode.OK);
        Assert.Equal("5", (await fresh.ValueAsync("queue.worker-count"))["value"]!.ToString());
        Assert.Equal(export, await fresh.SendTextAsync(HttpMethod.Get, "settings/export", null, "", HttpStatusCode.OK));
        var problem = await fresh.SendTextAsync(HttpMethod.Post, "settings/import", "queue.worker-count=99\nnonsense", "text/plain", HttpStatusCode.BadRequest);
        Assert.Contains("line 2", problem, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Masked_secret_is_kept_and_never_returned()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        const string providers = """{"Providers":[{"Host":"127.0.0.1","Port":1,"UseSsl":false,"User":"canary-user","Pass":"canary-pass"}]}""";
        await server.SaveAsync(
            HttpStatusCode.OK, ("usenet.providers", providers), ("rclone.host", "http://rclone:5572"), ("rclone.pass", "canary-rclone"), ("api.archive-passwords", "canary-archive"));

        await server.SaveAsync(HttpStatusCode.OK, ("usenet.providers", "********"), ("rclone.pass", "********"), ("webdav.user", "me"));
        var partly = await server.SaveAsync(HttpStatusCode.BadRequest, ("usenet.providers", providers.Replace("canary-pass", "********", StringComparison.Ordinal)));
        var moved = await server.SaveAsync(HttpStatusCode.BadRequest, ("rclone.host", "http://elsewhere:5572"));

        Assert.Contains("enter the secret itself", partly!["usenet.providers"]![0]!.ToString(), StringComparison.Ordinal);
        Assert.Contains("Enter the password again", moved!["rclone.pass"]![0]!.ToString(), StringComparison.Ordinal);
        var all = string.Concat(
            (await server.GetAsync("settings")).ToJsonString(),
            (await server.GetAsync("settings/sets")).ToJsonString(),
            partly.ToJsonString(),
            await server.SendTextAsync(HttpMethod.Get, "settings/export", null, "", HttpStatusCode.OK));
        Assert.DoesNotContain("canary", all, StringComparison.Ordinal);
        Assert.True((await server.ValueAsync("rclone.pass"))["isSet"]!.GetValue<bool>());
        Assert.False((await server.ValueAsync("api.nzb-key"))["isSet"]!.GetValue<bool>());
    }

    [Fact]
    public async Task Reset_restores_the_default()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await server.SaveAsync(HttpStatusCode.OK, ("queue.worker-count", "5"));

        Assert.Equal("2", (await server.SendAsync(HttpMethod.Delete, "settings/queue.worker-count"))["value"]!.ToString());
        await server.SendAsync(HttpMethod.Delete, "settings/no.such", null, HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Delete, "settings/api.key", null, HttpStatusCode.Conflict);
    }

    [Fact]
    public async Task New_WebDAV_password_is_shown_with_the_locked_out_clients()
    {
        await using var server = await ResourceServer.StartAsync(_temporary, new() { ["SLUICE_CONFIG__WEBDAV__PASS"] = "" });
        var first = await server.GetAsync("setup/webdav");
        Assert.Equal(HttpStatusCode.MultiStatus, await PropfindAsync(first["password"]!.ToString()));

        var second = await server.SendAsync(HttpMethod.Post, "settings/webdav-password");

        Assert.Equal(["davfs2/1.6 at 127.0.0.1"], second["lockedOut"]!.AsArray().Select(client => client!.ToString()));
        Assert.Equal(second["password"]!.ToString(), (await server.GetAsync("setup/webdav"))["password"]!.ToString());
        Assert.Equal(HttpStatusCode.Unauthorized, await PropfindAsync(first["password"]!.ToString()));
        Assert.Equal(HttpStatusCode.MultiStatus, await PropfindAsync(second["password"]!.ToString()));
        Assert.Equal(("http://localhost:3000/", "admin"), (second["url"]!.ToString(), second["user"]!.ToString()));

        async Task<HttpStatusCode> PropfindAsync(string password)
        {
            using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), server.Server.Address);
            request.Headers.Authorization = RunningServer.Basic("admin", password);
            request.Headers.TryAddWithoutValidation("User-Agent", "davfs2/1.6");
            request.Headers.TryAddWithoutValidation("Depth", "0");
            using var answer = await server.Server.Client.SendAsync(request, TestContext.Current.CancellationToken);
            return answer.StatusCode;
        }
    }

    [Fact]
    public async Task Password_set_by_the_environment_is_hidden_and_fixed()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);

        Assert.Null((await server.GetAsync("setup/webdav"))["password"]);
        var problem = await server.SendAsync(HttpMethod.Post, "settings/webdav-password", null, HttpStatusCode.Conflict);
        Assert.Equal("wrong-state", problem["type"]!.ToString());
    }
}
