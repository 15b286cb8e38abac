using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Tests.Arr;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Connecting Sonarr and similar programs through the API.</summary>
public sealed class ArrResourceTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Connecting_twice_leaves_one_download_client()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        replica.AddMount("/mnt/sluice");

        var first = await server.SendAsync(HttpMethod.Post, "arr/connect", Request(replica, ArrServerReplica.Key));
        // Without a key in the request, the saved key is sent to the saved address.
        var second = await server.SendAsync(HttpMethod.Post, "arr/connect", Request(replica, null));

        Assert.True(first["created"]!.GetValue<bool>());
        Assert.False(second["created"]!.GetValue<bool>());
        Assert.Equal(server.Server.Address.ToString().TrimEnd('/'), second["address"]!.ToString());
        Assert.True(first["path"]!["ok"]!.GetValue<bool>());
        Assert.Single(replica.Clients);
        var instance = (await server.GetAsync("arr"))["items"]!.AsArray().Single()!;
        Assert.Equal(("sonarr", replica.Url, "tv", "ok"), (instance["kind"]!.ToString(), instance["url"]!.ToString(), instance["category"]!.ToString(), instance["state"]!.ToString()));
        Assert.DoesNotContain(ArrServerReplica.Key, first.ToJsonString() + second.ToJsonString() + instance.ToJsonString(), StringComparison.Ordinal);
        Assert.DoesNotContain(RunningServer.ApiKey, first.ToJsonString(), StringComparison.Ordinal);

        var check = await server.SendAsync(HttpMethod.Post, "arr/path-check", new JsonObject { ["id"] = instance["id"]!.ToString() });
        Assert.Equal("Sonarr sees the links in /mnt/sluice/completed-symlinks, and the files behind them.", check["sentence"]!.ToString());
        await server.SendAsync(HttpMethod.Delete, $"arr/{instance["id"]}", null, HttpStatusCode.NoContent);
        await server.SendAsync(HttpMethod.Delete, $"arr/{instance["id"]}", null, HttpStatusCode.NotFound);
        Assert.Empty((await server.GetAsync("arr"))["items"]!.AsArray());
    }

    [Fact]
    public async Task Changing_an_existing_client_needs_the_plan_token()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        await server.SendAsync(HttpMethod.Post, "arr/connect", Request(replica, ArrServerReplica.Key));
        var audio = Request(replica, null);
        audio["category"] = "audio";

        var plan = await server.SendAsync(HttpMethod.Post, "arr/plan", audio.DeepClone());
        var refused = await server.SendAsync(HttpMethod.Post, "arr/connect", audio.DeepClone(), HttpStatusCode.Conflict);
        Assert.Equal(("change", "Sluice"), (plan["action"]!.ToString(), plan["client"]!.ToString()));
        Assert.Equal("""[{"name":"tvCategory","from":"tv","to":"audio"}]""", plan["changes"]!.ToJsonString());
        Assert.StartsWith("Sonarr has a download client Sluice whose tvCategory would change.", refused["title"]!.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain(replica.Calls, call => call.StartsWith("PUT", StringComparison.Ordinal));

        audio["agreed"] = plan["token"]!.ToString();
        await server.SendAsync(HttpMethod.Post, "arr/connect", audio);
        Assert.Equal("audio", ArrServerReplica.Field(Assert.Single(replica.Clients), "tvCategory"));
    }

    [Fact]
    public async Task Saved_API_key_is_not_sent_to_another_address()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        await using var other = await ArrServerReplica.StartAsync("Sonarr");
        await server.SendAsync(HttpMethod.Post, "arr/connect", Request(replica, ArrServerReplica.Key));

        var problem = await server.SendAsync(HttpMethod.Post, "arr/test", Request(other, null), HttpStatusCode.BadRequest);

        Assert.StartsWith("Enter the API key.", problem["errors"]!["key"]![0]!.ToString(), StringComparison.Ordinal);
        Assert.Empty(other.Calls);
        Assert.Equal("4.0.9.2244", (await server.SendAsync(HttpMethod.Post, "arr/test", Request(replica, null)))["version"]!.ToString());
    }

    [Fact]
    public async Task Each_connection_failure_returns_a_readable_error()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Radarr");
        var wrong = await server.SendAsync(HttpMethod.Post, "arr/test", Request(replica, "wrong"), HttpStatusCode.UnprocessableEntity);
        var nowhere = Request(replica, "key");
        nowhere["url"] = "http://127.0.0.1:1";
        var absent = await server.SendAsync(HttpMethod.Post, "arr/connect", nowhere, HttpStatusCode.UnprocessableEntity);
        var strange = Request(replica, "key");
        strange["category"] = "no such";
        var category = await server.SendAsync(HttpMethod.Post, "arr/connect", strange, HttpStatusCode.BadRequest);

        Assert.Equal("test-failed", wrong["type"]!.ToString());
        Assert.StartsWith("Radarr refuses the API key.", wrong["title"]!.ToString(), StringComparison.Ordinal);
        Assert.StartsWith("Nothing listens at", absent["title"]!.ToString(), StringComparison.Ordinal);
        Assert.Equal("There is no category no such. Add it to the categories first.", category["title"]!.ToString());
        Assert.Empty((await server.GetAsync("arr"))["items"]!.AsArray());
    }

    [Fact]
    public async Task Instances_set_by_the_environment_are_listed_but_locked()
    {
        await using var server = await ResourceServer.StartAsync(
            _temporary, new() { ["SLUICE_CONFIG__ARR__INSTANCES"] = """{"SonarrInstances":[{"Name":"series","Host":"http://sonarr:8989","ApiKey":"canarycanary"}]}""" });

        var list = await server.GetAsync("arr");
        Assert.Equal("series", list["items"]![0]!["name"]!.ToString());
        Assert.DoesNotContain("canary", list.ToJsonString(), StringComparison.Ordinal);
        var problem = await server.SendAsync(HttpMethod.Delete, $"arr/{list["items"]![0]!["id"]}", null, HttpStatusCode.Conflict);
        Assert.Contains("SLUICE_CONFIG__ARR__INSTANCES", problem["title"]!.ToString(), StringComparison.Ordinal);
    }

    private static JsonObject Request(ArrServerReplica replica, string? key) =>
        new() { ["kind"] = replica.Name.ToLowerInvariant(), ["url"] = replica.Url + "/", ["key"] = key, ["category"] = null };
}
