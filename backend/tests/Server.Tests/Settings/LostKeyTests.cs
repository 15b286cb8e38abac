using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Server.Tests.AdminApi;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Settings;

/// <summary>The whole server over a data folder whose key file is lost, restored, or abandoned (CFG-53).</summary>
public sealed class LostKeyTests : IDisposable
{
    private const string Providers = """{"Providers":[{"Host":"127.0.0.1","Port":9,"User":"canary-user","Pass":"canary-pass"}]}""";
    private const string AdminPassword = "password-of-the-admin";
    private const string Link = ".ids/1/2/3/4/5/12345678-0000-0000-0000-000000000000";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string KeyFile => Path.Combine(_temporary.Folder.Keys, "secret.key");

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("missing")]
    [InlineData("damaged")]
    [InlineData("another key")]
    public async Task Lost_key_locks_secrets_until_it_is_restored(string fault)
    {
        var before = await FillAsync();
        var key = await LoseKeyAsync(fault);
        var files = Directory.GetFiles(_temporary.Folder.Keys).Order().ToArray();
        var rows = await RowsAsync();

        // Two starts, because the second one must not rely on anything that the first one left.
        for (var start = 0; start < 2; start++)
        {
            await using var server = await StartAsync();
            Assert.Equal(HttpStatusCode.ServiceUnavailable, (await CallAsync(server, before.Key)).Status);
            Assert.Equal(HttpStatusCode.ServiceUnavailable, (await ViewAsync(server, before.StrmKey)).Status);
            Assert.Empty(server.Server.Services.GetRequiredService<ProviderHost>().Providers);
            var value = await server.ValueAsync("usenet.providers");
            Assert.Equal((true, true, "saved"), (value["isLocked"]!.GetValue<bool>(), value["isSet"]!.GetValue<bool>(), value["source"]!.ToString()));
        }

        Assert.Equal(files, Directory.GetFiles(_temporary.Folder.Keys).Order());
        Assert.Equal(rows, await RowsAsync());

        await File.WriteAllBytesAsync(KeyFile, key, Token);
        await using var again = await StartAsync();
        Assert.Equal(before, Keys(again));
        Assert.Equal(HttpStatusCode.OK, (await CallAsync(again, before.Key)).Status);
        Assert.Equal(HttpStatusCode.NotFound, (await ViewAsync(again, before.StrmKey)).Status);
        Assert.Equal("canary-pass", Assert.Single(again.Server.Services.GetRequiredService<ProviderHost>().Providers).Options.Password);
        Assert.Equal(rows, await RowsAsync());
    }

    [Theory]
    [InlineData("missing", "keys/secret.key is missing")]
    [InlineData("damaged", "keys/secret.key is damaged")]
    [InlineData("another key", "keys/secret.key holds another key")]
    public async Task Every_API_names_the_lost_key_file(string fault, string cause)
    {
        var before = await FillAsync();
        await LoseKeyAsync(fault);
        await using var server = await StartAsync();

        Assert.Contains(cause, (await CallAsync(server, before.Key)).Text, StringComparison.Ordinal);
        Assert.Contains(cause, (await CallAsync(server, before.Key, "auth")).Text, StringComparison.Ordinal);
        Assert.Contains(cause, (await ViewAsync(server, before.StrmKey)).Text, StringComparison.Ordinal);
        var row = Assert.Single((await server.GetAsync("stats"))["attention"]!.AsArray(), row => row!["level"]!.ToString() == "error")!;
        Assert.Equal("secret-key", row["kind"]!.ToString());
        Assert.Contains(cause, row["sentence"]!.ToString(), StringComparison.Ordinal);
        var report = await server.GetAsync("settings/secret-key");
        Assert.Equal($"The key file {cause}.", report["sentence"]!.ToString());
    }

    [Fact]
    public async Task Wrong_API_keys_are_not_throttled_while_locked()
    {
        await FillAsync();
        await LoseKeyAsync("missing");
        await using var server = await StartAsync();

        for (var i = 0; i < 30; i++)
            Assert.Equal(HttpStatusCode.ServiceUnavailable, (await CallAsync(server, "not-the-key-at-all")).Status);
    }

    [Fact]
    public async Task Value_saved_while_locked_is_kept_once_the_key_is_restored()
    {
        const string chosen = "chosen-key-chosen-key";
        var before = await FillAsync();
        var key = await LoseKeyAsync("missing");
        await using (var server = await StartAsync())
        {
            Assert.Null(await server.SaveAsync(HttpStatusCode.OK, ("api.key", chosen)));

            Assert.Equal(HttpStatusCode.OK, (await CallAsync(server, chosen)).Status);
            Assert.False((await server.ValueAsync("api.key"))["isLocked"]!.GetValue<bool>());
            Assert.True((await server.ValueAsync("api.strm-key"))["isLocked"]!.GetValue<bool>());
        }

        Assert.False(File.Exists(KeyFile));
        Assert.DoesNotContain(await RowsAsync(), row => row.Value.Contains(chosen, StringComparison.Ordinal));
        await using (var server = await StartAsync())
            Assert.Equal(HttpStatusCode.OK, (await CallAsync(server, chosen)).Status);

        await File.WriteAllBytesAsync(KeyFile, key, Token);
        await using var again = await StartAsync();
        Assert.Equal(before with { Key = chosen }, Keys(again));
        Assert.Empty((await again.GetAsync("settings/secret-key"))["settings"]!.AsArray());
    }

    [Fact]
    public async Task Provider_change_never_overwrites_the_locked_list()
    {
        await FillAsync();
        await LoseKeyAsync("missing");
        var rows = await RowsAsync();
        await using var server = await StartAsync();

        var provider = new JsonObject
        {
            ["host"] = "127.0.0.1",
            ["port"] = 119,
            ["tls"] = false,
            ["user"] = "u",
            ["password"] = "p",
            ["maxConnections"] = 1,
        };
        var answer = await server.SendTextAsync(HttpMethod.Post, "providers", provider.ToJsonString(), "application/json", HttpStatusCode.Conflict);
        var set = (await server.GetAsync("settings/sets"))["items"]!.AsArray()[^1]!["id"]!.ToString();
        await server.SendAsync(HttpMethod.Post, $"settings/sets/{set}/restore");

        Assert.Contains("keys/secret.key is missing", answer, StringComparison.Ordinal);
        Assert.Equal(rows["usenet.providers"], (await RowsAsync())["usenet.providers"]);
    }

    [Fact]
    public async Task Locked_rclone_password_is_not_used_for_another_host()
    {
        await FillAsync(("rclone.host", "http://127.0.0.1:5572"), ("rclone.pass", "canary-rclone"));
        await LoseKeyAsync("missing");
        await using var server = await StartAsync();

        var errors = await server.SaveAsync(HttpStatusCode.BadRequest, ("rclone.host", "http://127.0.0.2:5572"));

        Assert.Equal(["rclone.pass"], errors!.Select(error => error.Key));
    }

    [Theory]
    [InlineData("missing")]
    [InlineData("damaged")]
    [InlineData("another key")]
    public async Task Discarding_the_lost_key_restores_a_working_server(string fault)
    {
        var before = await FillAsync();
        await LoseKeyAsync(fault);
        var files = Directory.GetFiles(_temporary.Folder.Keys).Length;
        (string Key, string StrmKey) made;
        await using (var server = await StartAsync())
        {
            var report = await server.GetAsync("settings/secret-key");
            Assert.Equal(["api.key", "api.strm-key", "usenet.providers"], report["settings"]!.AsArray().Select(setting => setting!["key"]!.ToString()));
            Assert.Equal([true, true, false], report["settings"]!.AsArray().Select(setting => setting!["isMadeAnew"]!.GetValue<bool>()));
            Assert.Equal(2, report["links"]!.AsArray().Count);

            await GiveUpAsync(server, report["id"]!.ToString(), "not-the-password", HttpStatusCode.BadRequest);
            await GiveUpAsync(server, "0123456789abcdef", AdminPassword, HttpStatusCode.Conflict);
            Assert.Equal(HttpStatusCode.ServiceUnavailable, (await CallAsync(server, before.Key)).Status);

            var left = await GiveUpAsync(server, report["id"]!.ToString(), AdminPassword, HttpStatusCode.OK);
            Assert.Equal(("usable", null), (left["state"]!.ToString(), left["sentence"]));
            Assert.Empty(left["settings"]!.AsArray());
            await GiveUpAsync(server, left["id"]!.ToString(), AdminPassword, HttpStatusCode.Conflict);
            made = Keys(server);
            Assert.Equal((32, 32), (made.Key.Length, made.StrmKey.Length));
            Assert.NotEqual(before.Key, made.Key);
            Assert.Equal(HttpStatusCode.OK, (await CallAsync(server, made.Key)).Status);
            Assert.Equal(HttpStatusCode.Forbidden, (await CallAsync(server, before.Key)).Status);
            Assert.Null(await server.SaveAsync(HttpStatusCode.OK, ("usenet.providers", Providers)));
        }

        // The replaced key file is kept, because it may still open secrets elsewhere.
        Assert.Equal(files + 1, Directory.GetFiles(_temporary.Folder.Keys).Length);
        await using var again = await StartAsync();
        Assert.Equal(made, Keys(again));
        Assert.Single(again.Server.Services.GetRequiredService<ProviderHost>().Providers);
    }

    [Fact]
    public async Task Passwords_of_imported_releases_count_as_lost()
    {
        const string sealedPassword = "enc:v1:of-the-lost-key";
        await FillAsync();
        await using (var database = _temporary.OpenDatabase())
        {
            await database.WriteAsync(
                connection =>
                {
                    // The second release has an item with the same password.
                    foreach (var name in new[] { "Alone", "With.Item" })
                    {
                        var release = LibraryStore.Insert(connection, new NewRelease("tv", name, new string('a', 64), [], []), DateTimeOffset.UnixEpoch);
                        ReleaseOpenings.Keep(connection, release, sealedPassword);
                        if (name == "With.Item")
                            HistoryStore.Insert(connection, new HistoryItem { Id = name, Name = name, NzbName = name, Category = "tv", Folder = "tv", ReleaseId = release, Password = sealedPassword });
                    }

                    return true;
                },
                Token);
        }

        await LoseKeyAsync("missing");
        await using var server = await StartAsync();

        var report = await server.GetAsync("settings/secret-key");
        Assert.Equal((1, 1), ((int)report["historyItems"]!, (int)report["releases"]!));
    }

    [Fact]
    public async Task New_key_file_unknown_to_the_database_changes_nothing()
    {
        await FillAsync();
        var key = await LoseKeyAsync("missing");
        // The state after a kill between writing the new key file and its transaction.
        Assert.NotNull(new SecretBox(_temporary.Folder).Seal("x", "y"));
        var rows = await RowsAsync();

        await using (var server = await StartAsync())
            Assert.Equal("other", (await server.GetAsync("settings/secret-key"))["state"]!.ToString());

        Assert.Equal(rows, await RowsAsync());
        await File.WriteAllBytesAsync(KeyFile, key, Token);
        await using var again = await StartAsync();
        Assert.Equal("usable", (await again.GetAsync("settings/secret-key"))["state"]!.ToString());
    }

    [Fact]
    public async Task Missing_key_fingerprint_is_restored_from_the_secrets()
    {
        var before = await FillAsync();
        await ForgetFingerprintAsync();
        await using (var server = await StartAsync())
            Assert.Equal(before, Keys(server));
        Assert.NotNull(await FingerprintAsync());

        await ForgetFingerprintAsync();
        await LoseKeyAsync("another key");
        await using var locked = await StartAsync();
        Assert.Equal("other", (await locked.GetAsync("settings/secret-key"))["state"]!.ToString());
    }

    [Fact]
    public async Task API_key_from_the_environment_works_while_locked()
    {
        const string given = "given-key-given-key-given";
        await FillAsync();
        await LoseKeyAsync("missing");
        await using var server = await StartAsync(("SLUICE_CONFIG__API__KEY", given));

        Assert.Equal(HttpStatusCode.OK, (await CallAsync(server, given)).Status);
        Assert.False((await server.ValueAsync("api.key"))["isLocked"]!.GetValue<bool>());
    }

    private static (string Key, string StrmKey) Keys(ResourceServer server)
    {
        var options = server.Server.Services.GetRequiredService<IOptionsMonitor<ApiOptions>>().CurrentValue;
        return (options.Key, options.StrmKey);
    }

    private static async Task<(HttpStatusCode Status, string Text)> CallAsync(ResourceServer server, string key, string mode = "queue")
    {
        using var client = new HttpClient();
        using var answer = await client.GetAsync(new Uri(server.Server.Address, $"/api?mode={mode}&apikey={key}"), Token);
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync(Token));
    }

    private static async Task<(HttpStatusCode Status, string Text)> ViewAsync(ResourceServer server, string strmKey)
    {
        using var client = new HttpClient();
        using var answer = await client.GetAsync(new Uri(server.Server.Address, $"/view/{Link}?downloadKey={ViewKey.Sign(strmKey, Link, null)}"), Token);
        return (answer.StatusCode, await answer.Content.ReadAsStringAsync(Token));
    }

    private static Task<JsonNode> GiveUpAsync(ResourceServer server, string id, string password, HttpStatusCode expected) =>
        server.SendAsync(HttpMethod.Post, "settings/secret-key/give-up", new JsonObject { ["id"] = id, ["password"] = password }, expected);

    private Task<ResourceServer> StartAsync(params (string Name, string Value)[] variables)
    {
        var all = new Dictionary<string, string> { ["SLUICE_CONFIG__API__KEY"] = "", ["SLUICE_ADMIN_PASSWORD"] = QuickHash.Of(AdminPassword) };
        foreach (var (name, value) in variables)
            all[name] = value;
        return ResourceServer.StartAsync(_temporary, all);
    }

    /// <summary>Runs a first start, and saves a provider and other settings.</summary>
    private async Task<(string Key, string StrmKey)> FillAsync(params (string Key, string? Value)[] more)
    {
        await using var server = await StartAsync();
        Assert.Null(await server.SaveAsync(HttpStatusCode.OK, [("usenet.providers", Providers), .. more]));
        return Keys(server);
    }

    private async Task<byte[]> LoseKeyAsync(string fault)
    {
        var key = await File.ReadAllBytesAsync(KeyFile, Token);
        if (fault == "missing")
            File.Delete(KeyFile);
        else
            await File.WriteAllBytesAsync(KeyFile, fault == "damaged" ? key[..31] : [.. key.Select(part => (byte)(part ^ 1))], Token);
        return key;
    }

    private async Task<Dictionary<string, string>> RowsAsync()
    {
        await using var database = _temporary.OpenDatabase();
        return await database.ReadAsync(
            connection => connection.Query<(string Key, string Value)>("SELECT key, value FROM setting").ToDictionary(row => row.Key, row => row.Value), Token);
    }

    private async Task<string?> FingerprintAsync()
    {
        await using var database = _temporary.OpenDatabase();
        return await database.ReadAsync(SettingKeyStore.Find, Token);
    }

    private async Task ForgetFingerprintAsync()
    {
        await using var database = _temporary.OpenDatabase();
        await database.WriteAsync(connection => connection.Execute("DELETE FROM secret_key"), Token);
    }
}
