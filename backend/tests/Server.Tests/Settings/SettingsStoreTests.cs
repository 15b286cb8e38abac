using Dapper;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Settings;

public sealed class SettingsStoreTests : IDisposable
{
    private const string Providers = """{"Providers":[{"Host":"news.example.com","User":"canary-user","Pass":"canary-pass"}]}""";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Saved_value_applies_at_once_and_after_a_restart()
    {
        await using (var host = new SettingsHost(_temporary))
        {
            await host.Store.LoadAsync(Token);
            var seen = new List<int>();
            using var watch = host.Monitor<QueueOptions>().OnChange((options, _) => seen.Add(options.WorkerCount));

            Assert.Empty(await host.Store.SaveAsync(new Dictionary<string, string?> { ["queue.worker-count"] = "7" }, Token));

            Assert.Equal(7, host.Monitor<QueueOptions>().CurrentValue.WorkerCount);
            Assert.Equal([7], seen);
        }

        await using var again = new SettingsHost(_temporary);
        Assert.Equal(2, again.Monitor<QueueOptions>().CurrentValue.WorkerCount);
        await again.Store.LoadAsync(Token);
        Assert.Equal(7, again.Monitor<QueueOptions>().CurrentValue.WorkerCount);
        Assert.Equal(SettingOrigin.Saved, again.Current["queue.worker-count"].Origin);
    }

    [Fact]
    public async Task Secrets_stay_out_of_the_framework_configuration()
    {
        await using var host = new SettingsHost(_temporary);

        Assert.Empty(await host.Store.SaveAsync(new Dictionary<string, string?> { ["usenet.providers"] = Providers }, Token));

        Assert.Contains("canary-pass", host.Current.Text("usenet.providers"), StringComparison.Ordinal);
        Assert.DoesNotContain(host.Configuration, value => value.Value?.Contains("canary", StringComparison.Ordinal) == true);
    }

    [Fact]
    public async Task Override_wins_and_without_it_the_saved_value_returns()
    {
        await using (var host = new SettingsHost(_temporary, ("SLUICE_CONFIG__WEBDAV__USER", "locked")))
        {
            await host.Store.SaveAsync(new Dictionary<string, string?> { ["webdav.user"] = "saved" }, Token);
            Assert.Equal("locked", host.Monitor<WebDavOptions>().CurrentValue.User);
        }

        await using var again = new SettingsHost(_temporary);
        await again.Store.LoadAsync(Token);
        Assert.Equal("saved", again.Monitor<WebDavOptions>().CurrentValue.User);
    }

    [Fact]
    public async Task Removed_value_falls_back_to_the_default()
    {
        await using var host = new SettingsHost(_temporary);
        await host.Store.SaveAsync(new Dictionary<string, string?> { ["queue.worker-count"] = "7" }, Token);

        await host.Store.SaveAsync(new Dictionary<string, string?> { ["queue.worker-count"] = null }, Token);

        Assert.Equal(2, host.Monitor<QueueOptions>().CurrentValue.WorkerCount);
    }

    [Fact]
    public async Task All_errors_are_returned_together_and_nothing_is_saved()
    {
        await using var host = new SettingsHost(_temporary);

        var errors = await host.Store.SaveAsync(
            new Dictionary<string, string?> { ["queue.worker-count"] = "11", ["webdav.pass"] = "short", ["no.such"] = "1", ["webdav.user"] = "me" }, Token);

        Assert.Equal(["no.such", "queue.worker-count", "webdav.pass"], errors.Keys.Order());
        Assert.Equal(0, await host.Database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM setting"), Token));
        Assert.Equal("admin", host.Monitor<WebDavOptions>().CurrentValue.User);
    }

    [Fact]
    public async Task Contradictory_values_are_refused()
    {
        await using var host = new SettingsHost(_temporary);

        var errors = await host.Store.SaveAsync(
            new Dictionary<string, string?> { ["queue.max-items"] = "10", ["queue.resume-threshold"] = "11" }, Token);

        Assert.Equal(["queue.resume-threshold"], errors.Keys);
    }

    [Theory]
    [InlineData("USENET__CONNECT_TIMEOUT_SECONDS", "10", "usenet.connect-timeout-seconds", "20")]
    [InlineData("QUEUE__RESUME_THRESHOLD", "20", "queue.max-items", "10")]
    public async Task Contradictory_environment_blocks_only_the_affected_keys(
        string variable, string text, string key, string worse)
    {
        await using var host = new SettingsHost(_temporary, ("SLUICE_CONFIG__" + variable, text), ("SLUICE_CONFIG__QUEUE__MAX_ITEMS", "15"));

        Assert.Empty(await host.Store.SaveAsync(new Dictionary<string, string?> { ["webdav.pass"] = "made-at-first-start" }, Token));
        Assert.Single(await host.Store.SaveAsync(new Dictionary<string, string?> { [key] = worse }, Token));
    }

    [Theory]
    [InlineData("password")]
    [InlineData("ChangeMe")]
    [InlineData("")]
    public async Task Well_known_and_empty_passwords_are_refused(string password)
    {
        await using var host = new SettingsHost(_temporary);

        var errors = await host.Store.SaveAsync(new Dictionary<string, string?> { ["webdav.pass"] = password }, Token);

        Assert.Equal(["webdav.pass"], errors.Keys);
    }

    [Fact]
    public async Task Secrets_are_not_stored_as_plain_text()
    {
        await using var host = new SettingsHost(_temporary);

        Assert.Empty(await host.Store.SaveAsync(
            new Dictionary<string, string?> { ["usenet.providers"] = Providers, ["api.key"] = "canary-key-canary", ["webdav.pass"] = "canary-password" }, Token));

        var rows = await host.Database.ReadAsync(
            connection => connection.Query<(string Key, string Value, long Secret)>("SELECT key, value, secret FROM setting ORDER BY key").ToList(), Token);
        Assert.Equal(["api.key", "usenet.providers", "webdav.pass"], rows.Select(row => row.Key));
        Assert.All(rows, row => Assert.DoesNotContain("canary", row.Value, StringComparison.Ordinal));
        Assert.All(rows, row => Assert.Equal(1, row.Secret));
        Assert.All(rows[..2], row => Assert.StartsWith("enc:v1:", row.Value, StringComparison.Ordinal));
        Assert.True(PasswordHash.Parse(rows[2].Value)!.Verify("canary-password"));
        Assert.Equal(Providers, host.Monitor<UsenetOptions>().CurrentValue.Providers);
    }

    [Fact]
    public async Task Lost_key_file_locks_secrets_and_nothing_else()
    {
        await using (var host = new SettingsHost(_temporary))
        {
            await host.Store.SaveAsync(new Dictionary<string, string?> { ["api.key"] = "canary-key-canary", ["webdav.user"] = "me" }, Token);
        }

        File.Delete(Path.Combine(_temporary.Folder.Keys, "secret.key"));

        await using var again = new SettingsHost(_temporary);
        await again.Store.LoadAsync(Token);
        Assert.Equal(("", true), (again.Monitor<ApiOptions>().CurrentValue.Key, again.Monitor<ApiOptions>().CurrentValue.KeyIsLocked));
        Assert.Equal("me", again.Monitor<WebDavOptions>().CurrentValue.User);
    }

    [Theory]
    [InlineData("true", 1)]
    [InlineData("false", 0)]
    [InlineData("", 0)]
    public async Task Networks_without_login_need_both_settings(string disable, int expected)
    {
        await using var host = new SettingsHost(
            _temporary, ("DISABLE_WEBDAV_AUTH", disable), ("SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS", "10.0.0.0/8"));

        Assert.Equal(expected, host.Monitor<WebDavOptions>().CurrentValue.NoAuthNetworks.Count);
    }
}
