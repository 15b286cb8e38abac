using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Arr;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Arr;

/// <summary>Connects Sonarr and Radarr to this server as their download client, and reports which of its files they see.</summary>
public sealed class ArrConnectorTests : IDisposable
{
    private const string Unknown =
        "because rclone is older than 1.70.3, like the packages of Debian and Ubuntu, or runs without --links. Install a newer one from rclone.org, and mount with --links.";

    private const string Volume = "- /mnt/sluice:/mnt/sluice:rslave";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("Sonarr", "tv", "tvCategory")]
    [InlineData("Radarr", "movies", "movieCategory")]
    [InlineData("Lidarr", "audio", "musicCategory")]
    public async Task Connecting_twice_leaves_one_client_at_the_working_address(string name, string category, string field)
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync(name);
        replica.Names["sluice"] = "127.0.0.1";
        var connector = server.Services.GetRequiredService<ArrConnector>();
        OwnAddress[] addresses = [new("127.0.0.1", 1, false, ""), new("sluice", server.Address.Port, false, "")];

        var first = await connector.ConnectAsync(Target(replica, category), addresses, null, Token);
        var second = await connector.ConnectAsync(Target(replica, category), addresses, null, Token);

        Assert.Equal((ArrAction.Add, ArrAction.Keep), (first.Plan.Action, second.Plan.Action));
        Assert.Equal(addresses[1], second.Plan.Address);
        Assert.NotNull(first.Plan.Trials[0].Cause);
        Assert.DoesNotContain(replica.Calls, call => call.StartsWith("PUT", StringComparison.Ordinal));
        var client = Assert.Single(replica.Clients);
        Assert.Equal(("Sluice", category), (client["name"]!.ToString(), ArrServerReplica.Field(client, field)));
        Assert.Equal(RunningServer.ApiKey, ArrServerReplica.Field(client, "apiKey"));
        var saved = Assert.Single(server.Services.GetRequiredService<ArrStore>().All);
        Assert.Equal((replica.Url, ArrServerReplica.Key, category), (saved.Url, saved.Key, saved.Category));
    }

    [Fact]
    public async Task Existing_client_keeps_its_name_and_is_changed_if_confirmed()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        var connector = server.Services.GetRequiredService<ArrConnector>();
        OwnAddress[] addresses = [new("127.0.0.1", server.Address.Port, false, "")];
        await connector.ConnectAsync(Target(replica, "tv"), addresses, null, Token);
        replica.Change(0, client => client["name"] = "usenet");
        replica.Change(0, "host", "elsewhere");

        var (plan, saved) = await connector.ConnectAsync(Target(replica, "audio"), addresses, "another plan", Token);
        Assert.Null(saved);
        Assert.Equal((ArrAction.Change, "usenet"), (plan.Action, plan.Client));
        Assert.Equal([new ArrChange("host", "elsewhere", "127.0.0.1"), new ArrChange("tvCategory", "tv", "audio")], plan.Changes);
        Assert.Equal("elsewhere", ArrServerReplica.Field(Assert.Single(replica.Clients), "host"));

        (plan, saved) = await connector.ConnectAsync(Target(replica, "audio"), addresses, plan.Token, Token);
        Assert.NotNull(saved);
        var client = Assert.Single(replica.Clients);
        Assert.Equal(("usenet", "127.0.0.1", "audio"), (client["name"]!.ToString(), ArrServerReplica.Field(client, "host"), ArrServerReplica.Field(client, "tvCategory")));
    }

    [Fact]
    public async Task Client_at_this_address_is_adopted_after_confirmation()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        var connector = server.Services.GetRequiredService<ArrConnector>();
        OwnAddress[] addresses = [new("127.0.0.1", server.Address.Port, false, "")];
        replica.AddSabnzbd("by hand", "127.0.0.1", server.Address.Port, useSsl: false, "", "wrong key");

        var plan = await connector.PlanAsync(Target(replica, "tv"), addresses, Token);
        Assert.Equal((ArrAction.Change, "by hand"), (plan.Action, plan.Client));
        await connector.ConnectAsync(Target(replica, "tv"), addresses, plan.Token, Token);

        var client = Assert.Single(replica.Clients);
        Assert.Equal(("by hand", RunningServer.ApiKey, "tv"), (client["name"]!.ToString(), ArrServerReplica.Field(client, "apiKey"), ArrServerReplica.Field(client, "tvCategory")));
    }

    [Theory]
    [InlineData("other-host", 0, false, "")]
    [InlineData("127.0.0.1", 1, false, "")]
    [InlineData("127.0.0.1", 0, true, "")]
    [InlineData("127.0.0.1", 0, false, "/sabnzbd")]
    public async Task Client_differing_in_one_field_is_not_changed(string host, int portBeyond, bool useSsl, string urlBase)
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        var connector = server.Services.GetRequiredService<ArrConnector>();
        replica.AddSabnzbd("SABnzbd (the real one)", host, server.Address.Port + portBeyond, useSsl, urlBase, "its own key");
        var before = replica.Clients[0].ToJsonString();

        var made = await connector.ConnectAsync(Target(replica, "tv"), [new("127.0.0.1", server.Address.Port, false, "")], null, Token);

        Assert.Equal(ArrAction.Add, made.Plan.Action);
        Assert.Equal(2, replica.Clients.Count);
        Assert.Equal(before, replica.Clients[0].ToJsonString());
        Assert.DoesNotContain(replica.Calls, call => call.StartsWith("PUT", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Client_name_used_by_another_host_needs_confirmation()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        var connector = server.Services.GetRequiredService<ArrConnector>();
        OwnAddress[] addresses = [new("127.0.0.1", server.Address.Port, false, "")];
        replica.AddSabnzbd("Sluice", "second-instance", 3000, useSsl: false, "", "its own key");
        var before = replica.Clients[0].ToJsonString();

        var (asked, saved) = await connector.ConnectAsync(Target(replica, "tv"), addresses, null, Token);
        Assert.Null(saved);
        Assert.Equal((ArrAction.Ask, "Sluice"), (asked.Action, asked.Client));
        Assert.Contains(new ArrChange("host", "second-instance", "127.0.0.1"), asked.Changes);
        var (added, _) = await connector.ConnectAsync(Target(replica, "tv"), addresses, ArrConnector.AddAnother, Token);

        Assert.Equal(ArrAction.Add, added.Action);
        Assert.Equal(before, replica.Clients[0].ToJsonString());
        Assert.Equal("Sluice 2", replica.Clients[1]["name"]!.ToString());
        // The server now knows the client by its id.
        Assert.Equal(ArrAction.Keep, (await connector.PlanAsync(Target(replica, "tv"), addresses, Token)).Action);
    }

    [Fact]
    public async Task Client_id_is_ignored_after_the_arr_is_reinstalled()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        var (connector, store) = (server.Services.GetRequiredService<ArrConnector>(), server.Services.GetRequiredService<ArrStore>());
        await store.SaveAsync(Target(replica, "tv") with { Key = "key of the installation before", ClientId = 1 }, Token);
        replica.AddSabnzbd("SABnzbd (the real one)", "sabnzbd", 8080, useSsl: false, "", "its own key");

        Assert.Equal(ArrAction.Add, (await connector.PlanAsync(Target(replica, "tv"), [new("127.0.0.1", server.Address.Port, false, "")], Token)).Action);
    }

    [Fact]
    public async Task Unreachable_address_fails_with_the_cause_and_saves_nothing()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");

        var failure = await Assert.ThrowsAsync<ArrException>(() => server.Services.GetRequiredService<ArrConnector>()
            .ConnectAsync(Target(replica, "tv"), [new("127.0.0.1", 1, false, "")], null, Token));

        Assert.Equal(
            "Sonarr cannot reach this server. At http://127.0.0.1:1: Unable to connect to SABnzbd, please check your settings.", failure.Message);
        Assert.Empty(replica.Clients);
        Assert.Empty(server.Services.GetRequiredService<ArrStore>().All);
    }

    [Fact]
    public async Task Each_kind_of_call_failure_has_its_own_message()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        var client = server.Services.GetRequiredService<ArrClient>();
        async Task<string> SentenceAsync(ArrServer target) =>
            (await Assert.ThrowsAsync<ArrException>(() => client.StatusAsync(target, Token))).Message;

        Assert.StartsWith("Sonarr refuses the API key.", await SentenceAsync(Target(replica, "tv") with { Key = "wrong" }), StringComparison.Ordinal);
        Assert.Equal($"At {replica.Url} is Sonarr, not Radarr.", await SentenceAsync(Target(replica, "tv") with { Kind = ArrKind.Radarr }));
        Assert.StartsWith("What answers at", await SentenceAsync(Target(replica, "tv") with { Kind = ArrKind.Lidarr }), StringComparison.Ordinal);
        Assert.StartsWith("Nothing listens at http://127.0.0.1:1.", await SentenceAsync(Target(replica, "tv") with { Url = "http://127.0.0.1:1" }), StringComparison.Ordinal);
        Assert.Equal("The name no-such-host.invalid is not known here.", await SentenceAsync(Target(replica, "tv") with { Url = "http://no-such-host.invalid:8989" }));
        Assert.Equal(
            "http://169.254.169.254 is not called: no program of a network has such an address.",
            await SentenceAsync(Target(replica, "tv") with { Url = "http://169.254.169.254" }));
        replica.IsBehindLogin = true;
        Assert.Contains("leads elsewhere", await SentenceAsync(Target(replica, "tv")), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/mnt/sluice", "", null, true, null, "Sonarr sees the links in /mnt/sluice/completed-symlinks, and the files behind them.")]
    [InlineData(null, "/mnt/sluice/", null, false, Volume, "Sonarr has the folder /mnt/sluice, but not the mount in it.")]
    [InlineData(null, "/mnt/sluice/completed-symlinks/tv/ /mnt/sluice/content/", null, false, Volume, "Sonarr has the folder /mnt/sluice, but not the mount in it.")]
    [InlineData(null, "/mnt/", null, false, Volume, "Sonarr can't see /mnt/sluice yet.")]
    [InlineData("/media/usenet", "", null, false, Volume, "Sonarr has the mount at /media/usenet, but the links lead to /mnt/sluice.")]
    [InlineData("/media/usenet", "", "/media/usenet/", false, Volume, "Sonarr sees the links in /media/usenet/completed-symlinks, but not /mnt/sluice, where they lead.")]
    [InlineData("/media/usenet /mnt/sluice", "", "/media/usenet/", true, null, "Sonarr sees the links in /media/usenet/completed-symlinks, and the files behind them.")]
    [InlineData(null, "/media/other/", "/media/usenet/", false, Volume, "Sonarr can't see /mnt/sluice yet.")]
    [InlineData(null, "/mnt/sluice/ /media/usenet/", "/media/usenet/", false, Volume, "Sonarr has the folder /mnt/sluice, but not the mount in it.")]
    [InlineData("/media/other", "", "/media/usenet/", false, Volume, "Sonarr has the mount at /media/other, but the links lead to /mnt/sluice.")]
    [InlineData("/mnt/sluice", "", "/media/usenet/", false, null, "A remote path mapping of Sonarr leads to /media/usenet/completed-symlinks, which has no links.")]
    public async Task Path_check_reports_links_and_the_fix(string? mounts, string folders, string? mappedTo, bool sees, string? volume, string sentence)
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        foreach (var mount in mounts?.Split(' ') ?? [])
            replica.AddMount(mount);
        foreach (var folder in folders.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            replica.AddFolder(folder);
        if (mappedTo is not null)
            replica.Mappings.Add(("127.0.0.1", "/mnt/sluice/", mappedTo));

        var finding = await CheckAsync(server, replica);

        Assert.Equal("/mnt/sluice/completed-symlinks", finding.OurPath);
        Assert.Equal((sees, volume), (finding.Sees, finding.VolumeLine));
        Assert.StartsWith(sentence, finding.Sentence, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("rclone/v1.60.1-DEV", "because rclone 1.60.1 is too old. Install rclone 1.70.3 or newer from rclone.org, and mount with --links.")]
    [InlineData("rclone/v1.70.3", "because rclone runs without --links. Add --links to the command that mounts, and start it again.")]
    [InlineData("rclone/", Unknown)]
    [InlineData("curl/8.7", Unknown)]
    [InlineData("rclone/v1.60.1-DEV rclone/v1.75.1", Unknown)]
    [InlineData("rclone/ rclone/v1.75.1", Unknown)]
    [InlineData("rclone/v1.60.1-DEV rclone/v1.65.0", Unknown)]
    [InlineData("rclone/v1.70.3 rclone/v1.75.1", "because rclone runs without --links. Add --links to the command that mounts, and start it again.")]
    public async Task Path_check_explains_why_rclone_shows_no_links(string agents, string cause)
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        replica.AddMount("/mnt/sluice", hasLinks: false);
        foreach (var agent in agents.Split(' '))
        {
            using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), new Uri(server.Address, "completed-symlinks/"));
            request.Headers.Authorization = RunningServer.Basic("admin", RunningServer.Password);
            request.Headers.TryAddWithoutValidation("User-Agent", agent);
            using var listed = await server.Client.SendAsync(request, Token);
        }

        var finding = await CheckAsync(server, replica);

        Assert.Equal((false, null), (finding.Sees, finding.VolumeLine));
        Assert.Equal($"Sonarr sees files that end in .rclonelink instead of links, {cause}", finding.Sentence);
    }

    [Fact]
    public async Task Mount_with_a_stale_listing_is_inconclusive()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        replica.AddMount("/mnt/sluice");
        replica.Files.Remove($"/mnt/sluice/{PathDoctor.ProbePath}");

        var old = await CheckAsync(server, replica);
        replica.Folders.RemoveWhere(folder => folder.Contains("completed-symlinks", StringComparison.Ordinal));
        var part = await CheckAsync(server, replica);

        Assert.StartsWith("Sonarr sees /mnt/sluice, but the probe link is missing in /mnt/sluice/completed-symlinks.", old.Sentence, StringComparison.Ordinal);
        Assert.StartsWith("Sonarr sees /mnt/sluice, but completed-symlinks is missing in it.", part.Sentence, StringComparison.Ordinal);
        Assert.Equal((false, false), (old.Sees, part.Sees));
    }

    [Fact]
    public async Task Strm_path_check_asks_to_mount_the_strm_folder()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["SLUICE_CONFIG__API__IMPORT_STRATEGY"] = "strm" });
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");

        var finding = await server.Services.GetRequiredService<PathDoctor>().CheckAsync(Target(replica, "tv"), Token);

        Assert.Equal((false, "- /data/completed-downloads:/data/completed-downloads"), (finding.Sees, finding.VolumeLine));
    }

    [Fact]
    public void Arr_instances_JSON_is_read_and_unknown_keys_are_kept()
    {
        const string json = """{"radarrInstances":[{"Name":"films","Host":"http://radarr:7878/","ApiKey":"k"},{"Host":"no address","ApiKey":"k"}],"QueueRules":[{"Message":"sample","Action":3}]}""";

        var server = Assert.Single(ArrJson.Read(json, out var warnings));
        var changed = ArrJson.With(json, server with { Name = "more films" });

        Assert.Equal(("films", "http://radarr:7878"), (server.Name, server.Url));
        Assert.Equal("element 1 of RadarrInstances is left out: Host must be an http or https URL", Assert.Single(warnings));
        Assert.Equal("more films", Assert.Single(ArrJson.Read(changed, out _)).Name);
        Assert.Contains("""{"Message":"sample","Action":3}""", changed, StringComparison.Ordinal);
        Assert.Empty(ArrJson.Read(ArrJson.Without(changed, server.Id), out _));
    }

    [Theory]
    [InlineData("", true)]
    [InlineData(""" "Enabled":null,""", true)]
    [InlineData(""" "enabled":false,""", false)]
    [InlineData(""" "Enabled":true,""", true)]
    public void Program_is_enabled_unless_it_is_turned_off(string enabled, bool expected)
    {
        var json = "{\"RadarrInstances\":[{" + enabled + "\"Host\":\"http://radarr:7878/\",\"ApiKey\":\"k\"}]}";

        var server = Assert.Single(ArrJson.Read(json, out _));

        Assert.Equal(expected, server.IsEnabled);
        Assert.Equal(expected, Assert.Single(ArrJson.Read(ArrJson.With(json, server), out _)).IsEnabled);
    }

    /// <summary>Connects, so that the server knows the mappings, and checks the paths.</summary>
    private static async Task<PathFinding> CheckAsync(RunningServer server, ArrServerReplica replica)
    {
        var connection = await server.Services.GetRequiredService<ArrConnector>()
            .ConnectAsync(Target(replica, "tv"), [new("127.0.0.1", server.Address.Port, false, "")], null, Token);
        return await server.Services.GetRequiredService<PathDoctor>().CheckAsync(connection.Server!, Token);
    }

    private static ArrServer Target(ArrServerReplica replica, string category) =>
        new("", Enum.Parse<ArrKind>(replica.Name), replica.Name, replica.Url, ArrServerReplica.Key, category);
}
