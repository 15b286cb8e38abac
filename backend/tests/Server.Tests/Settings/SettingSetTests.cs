using Dapper;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Settings;

/// <summary>The last ten sets, and the set that is blamed for a failed start (CFG-12).</summary>
public sealed class SettingSetTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Ten_sets_are_kept_and_any_can_be_restored()
    {
        await using var host = new SettingsHost(_temporary);
        for (var workers = 1; workers <= 10; workers++)
            await SaveAsync(host, ("queue.worker-count", workers.ToString(System.Globalization.CultureInfo.InvariantCulture)), ("api.key", $"canary-canary-{workers:00}"));
        await SaveAsync(host, ("webdav.user", "me"));

        var sets = await host.Store.SetsAsync(Token);
        Assert.Equal(SettingSets.MaxSets, sets.Count);
        Assert.Equal(["webdav.user"], sets[0].Changed);
        Assert.DoesNotContain(sets, set => set.Content.Values.Any(value => value.Contains("canary", StringComparison.Ordinal)));

        Assert.Empty((await host.Store.RestoreAsync(sets[^1].Id, Token))!);

        Assert.Equal(("2", "canary-canary-02", "admin"), (host.Current.Text("queue.worker-count"), host.Current.Text("api.key"), host.Current.Text("webdav.user")));
        Assert.Null(await host.Store.RestoreAsync(sets[^1].Id - 5, Token));
    }

    [Fact]
    public async Task Queue_state_creates_no_settings_set_and_survives_a_restore()
    {
        await using var host = new SettingsHost(_temporary);
        await SaveAsync(host, ("queue.worker-count", "3"));
        await SaveAsync(host, ("queue.paused", "true"));
        await SaveAsync(host, ("queue.worker-count", "4"));

        var sets = await host.Store.SetsAsync(Token);
        Assert.Equal(2, sets.Count);
        Assert.Empty((await host.Store.RestoreAsync(sets[^1].Id, Token))!);

        Assert.Equal(("3", true), (host.Current.Text("queue.worker-count"), host.Current.Boolean("queue.paused")));
    }

    [Fact]
    public async Task Restore_keeps_the_current_WebDAV_password()
    {
        await using var host = new SettingsHost(_temporary);
        await SaveAsync(host, ("queue.worker-count", "3"), ("webdav.pass", "first long password"));
        var first = host.Current.Text("webdav.pass");
        await SaveAsync(host, ("webdav.pass", "second long password"));
        await SaveAsync(host, ("queue.worker-count", "4"));
        var second = host.Current.Text("webdav.pass");
        // The format of earlier versions.
        await host.Database.WriteAsync(connection => connection.Execute("""UPDATE setting_set SET content = json_set(content, '$."webdav.pass"', @first)""", new { first }), Token);

        var sets = await host.Store.SetsAsync(Token);
        Assert.Equal(["queue.worker-count", "queue.worker-count"], sets.SelectMany(set => set.Changed));
        Assert.Empty((await host.Store.RestoreAsync(sets[^1].Id, Token))!);

        Assert.NotEqual(first, second);
        Assert.Equal(("3", second), (host.Current.Text("queue.worker-count"), host.Current.Text("webdav.pass")));
    }

    [Fact]
    public async Task Failed_startup_keeps_the_newest_WebDAV_password()
    {
        await StartAsync(async host => await SaveAsync(host, ("queue.worker-count", "3"), ("webdav.pass", "first long password")));
        var second = "";
        await StartAsync(async host =>
        {
            await host.Store.NoteStartedAsync(Token);
            await SaveAsync(host, ("queue.worker-count", "7"), ("webdav.pass", "second long password"));
            second = host.Current.Text("webdav.pass");
        });
        await StartAsync(host =>
        {
            host.Trial.Accuse();
            return Task.CompletedTask;
        });

        foreach (var start in (string[])["the one that loads the earlier set", "the next"])
        {
            await StartAsync(async host =>
            {
                await host.Store.NoteStartedAsync(Token);
                Assert.Equal((start, "3", second), (start, host.Current.Text("queue.worker-count"), host.Current.Text("webdav.pass")));
            });
        }
    }

    [Fact]
    public async Task Settings_saved_before_sets_existed_become_the_first_set()
    {
        await using var host = new SettingsHost(_temporary);
        await host.Database.WriteAsync(connection => connection.Execute("INSERT INTO setting (key, value, secret) VALUES ('queue.worker-count', '5', 0)"), Token);
        await host.Store.LoadAsync(Token);

        await SaveAsync(host, ("queue.worker-count", "6"));

        var sets = await host.Store.SetsAsync(Token);
        Assert.Equal(["6", "5"], sets.Select(set => set.Content["queue.worker-count"]));
        Assert.Equal([false, true], sets.Select(set => set.Proven));
    }

    [Fact]
    public async Task Settings_set_from_a_failed_startup_is_not_loaded_again()
    {
        await StartAsync(async host =>
        {
            await SaveAsync(host, ("queue.worker-count", "3"), ("queue.paused", "true"));
            await host.Store.NoteStartedAsync(Token);
        });
        // One successful start verifies the set.
        await StartAsync(host => host.Store.NoteStartedAsync(Token));
        await StartAsync(async host =>
        {
            await host.Store.NoteStartedAsync(Token);
            await SaveAsync(host, ("queue.worker-count", "7"));
        });

        // This start fails early.
        await StartAsync(host =>
        {
            Assert.Equal("7", host.Current.Text("queue.worker-count"));
            host.Trial.Accuse();
            return Task.CompletedTask;
        });
        await StartAsync(async host =>
        {
            Assert.Equal(("3", true), (host.Current.Text("queue.worker-count"), host.Current.Boolean("queue.paused")));
            await host.Store.NoteStartedAsync(Token);
            Assert.True((await host.Store.SetsAsync(Token))[0].Failed);
        });
        await StartAsync(async host =>
        {
            Assert.Equal(("3", true), (host.Current.Text("queue.worker-count"), host.Current.Boolean("queue.paused")));
            // The next save creates a set of its own, which is used again.
            await host.Store.NoteStartedAsync(Token);
            await SaveAsync(host, ("queue.worker-count", "4"));
        });
        await StartAsync(host =>
        {
            Assert.Equal("4", host.Current.Text("queue.worker-count"));
            return Task.CompletedTask;
        });
    }

    [Fact]
    public async Task Value_saved_while_running_on_fallback_settings_is_kept()
    {
        await StartAsync(async host =>
        {
            await SaveAsync(host, ("queue.worker-count", "3"));
            await host.Store.NoteStartedAsync(Token);
        });
        await StartAsync(async host =>
        {
            await host.Store.NoteStartedAsync(Token);
            await SaveAsync(host, ("queue.worker-count", "7"));
        });
        await StartAsync(host =>
        {
            host.Trial.Accuse();
            return Task.CompletedTask;
        });

        await StartAsync(async host =>
        {
            // A start saves generated secrets before it is known to succeed.
            await SaveAsync(host, ("webdav.user", "me"));
            await host.Store.NoteStartedAsync(Token);
        });

        await StartAsync(host =>
        {
            Assert.Equal(("3", "me"), (host.Current.Text("queue.worker-count"), host.Current.Text("webdav.user")));
            return Task.CompletedTask;
        });
    }

    [Fact]
    public async Task Two_failing_sets_fall_back_to_the_last_working_set()
    {
        await StartAsync(async host => await SaveAsync(host, ("queue.worker-count", "3")));
        await StartAsync(async host =>
        {
            await host.Store.NoteStartedAsync(Token);
            await SaveAsync(host, ("queue.worker-count", "7"));
            await SaveAsync(host, ("queue.worker-count", "8"));
        });

        foreach (var expected in (string[])["8", "7", "3", "3"])
        {
            await StartAsync(host =>
            {
                Assert.Equal(expected, host.Current.Text("queue.worker-count"));
                host.Trial.Accuse();
                return Task.CompletedTask;
            });
        }
    }

    [Fact]
    public async Task Settings_set_is_rejected_after_two_killed_startups_in_a_row()
    {
        await StartAsync(async host => await SaveAsync(host, ("queue.worker-count", "3")));
        await StartAsync(async host =>
        {
            await host.Store.NoteStartedAsync(Token);
            await SaveAsync(host, ("queue.worker-count", "7"));
        });

        foreach (var expected in (string[])["7", "7", "3", "3"])
        {
            // A killed start reports neither success nor failure.
            await StartAsync(host =>
            {
                Assert.Equal(expected, host.Current.Text("queue.worker-count"));
                return Task.CompletedTask;
            });
        }
    }

    [Fact]
    public async Task Settings_set_is_kept_after_a_single_killed_startup()
    {
        await StartAsync(async host => await SaveAsync(host, ("queue.worker-count", "3")));
        await StartAsync(async host =>
        {
            await host.Store.NoteStartedAsync(Token);
            await SaveAsync(host, ("queue.worker-count", "7"));
        });
        await StartAsync(_ => Task.CompletedTask);

        await StartAsync(async host =>
        {
            Assert.Equal("7", host.Current.Text("queue.worker-count"));
            await host.Store.NoteStartedAsync(Token);
        });

        await StartAsync(async host =>
        {
            Assert.Equal("7", host.Current.Text("queue.worker-count"));
            Assert.True((await host.Store.SetsAsync(Token))[0].Proven);
        });
    }

    [Fact]
    public async Task Settings_set_is_kept_after_a_canceled_startup()
    {
        await StartAsync(async host => await SaveAsync(host, ("queue.worker-count", "3")));
        await StartAsync(async host =>
        {
            await host.Store.NoteStartedAsync(Token);
            await SaveAsync(host, ("queue.worker-count", "7"));
        });

        for (var i = 0; i < 2; i++)
        {
            await StartAsync(host =>
            {
                Assert.Equal("7", host.Current.Text("queue.worker-count"));
                host.Trial.Withdraw();
                return Task.CompletedTask;
            });
        }
    }

    private async Task StartAsync(Func<SettingsHost, Task> run)
    {
        await using var host = new SettingsHost(_temporary);
        await host.Store.LoadAsync(Token);
        await run(host);
    }

    private static async Task SaveAsync(SettingsHost host, params (string Key, string Value)[] values) =>
        Assert.Empty(await host.Store.SaveAsync(values.ToDictionary(value => value.Key, value => (string?)value.Value), Token));
}
