using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Backups;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>The encrypted key file in backups, and what a machine with another key can open (OPS-7, OPS-16).</summary>
public sealed class PassphraseTests
{
    private const string Passphrase = "canary passphrase é";
    private const string Secret = "canary-secret-of-a-setting";
    private const string Setting = "SLUICE_CONFIG__BACKUP__SECOND_DIR";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static Dictionary<string, string?> Secrets => new() { ["api.nzb-key"] = Secret, ["backup.passphrase"] = Passphrase };

    [Fact]
    public async Task OPS_7_Passphrase_alone_opens_the_sealed_key()
    {
        await using var films = await StartAsync(1);
        Assert.Empty(await films.Host.Get<SettingsStore>().SaveAsync(Secrets, Token));
        var folder = Path.Combine(films.Root, "backups", (await films.BackUpAsync())["id"]!.ToString());
        var key = await File.ReadAllBytesAsync(KeyIn(films), Token);

        Assert.Equal(key, SealedKey.TryOpen(folder, Passphrase));
        // Another keyboard writes the accent as a character of its own.
        Assert.Equal(key, SealedKey.TryOpen(folder, "canary passphrase e\u0301"));
        Assert.Null(SealedKey.TryOpen(folder, "canary passphrase e"));
        foreach (var file in Directory.GetFiles(folder))
        {
            var bytes = await File.ReadAllBytesAsync(file, Token);
            Assert.True(bytes.AsSpan().IndexOf(key) < 0 && bytes.AsSpan().IndexOf("canary"u8) < 0, file);
        }

        var path = Path.Combine(folder, SealedKey.FileName);
        var damaged = await File.ReadAllBytesAsync(path, Token);
        damaged[damaged.Length / 2] ^= 1;
        await File.WriteAllBytesAsync(path, damaged, Token);
        Assert.Contains(SealedKey.FileName, films.Host.Get<BackupProof>().FindFlaw(folder, null, Token)!, StringComparison.Ordinal);
        Assert.Null(SealedKey.TryOpen(folder, Passphrase));
    }

    [Fact]
    public async Task OPS_7_Changed_passphrase_needs_a_new_backup()
    {
        await using var films = await StartAsync(1);
        Assert.Empty(await films.Host.Get<SettingsStore>().SaveAsync(Secrets, Token));
        var maker = films.Host.Get<BackupMaker>();
        var made = maker.Make(BackupKind.Daily, Token);
        Assert.True(maker.TryRenew(made));
        await films.StopAsync();

        // A variable changes the passphrase without a write to the database.
        await films.StartAsync(("SLUICE_CONFIG__BACKUP__PASSPHRASE", "another passphrase"));
        maker = films.Host.Get<BackupMaker>();
        var next = maker.Make(BackupKind.Daily, Token);

        Assert.True(maker.TryRenew(next));
        Assert.Null(SealedKey.TryOpen(next.Path, Passphrase));
        Assert.NotNull(SealedKey.TryOpen(next.Path, "another passphrase"));
    }

    [Fact]
    public async Task OPS_16_Passphrase_opens_the_secrets_on_another_machine()
    {
        await using var films = await StartAsync(2);
        var (id, key) = await MoveAsync(films);
        var other = await File.ReadAllBytesAsync(KeyIn(films), Token);

        var cost = await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore?dryRun=true", new { });
        Assert.True(cost["needsPassphrase"]!.GetValue<bool>());
        Assert.Contains("api.nzb-key", Locked(cost));
        using (var refused = await films.Host.CallAsync(HttpMethod.Post, $"backups/{id}/restore", new { passphrase = "not the passphrase" }))
            Assert.Equal(HttpStatusCode.BadRequest, refused.StatusCode);
        Assert.False(File.Exists(Path.Combine(films.Root, "restore.json")));
        Assert.Empty(Locked(await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore?dryRun=true", new { passphrase = Passphrase })));
        await RestoreAsync(films, id, Passphrase);

        Assert.Equal(key, await File.ReadAllBytesAsync(KeyIn(films), Token));
        Assert.Equal(other, await File.ReadAllBytesAsync(KeyIn(films) + ".former-1", Token));
        Assert.Equal(Secret, films.Host.Get<SettingsSource>().Current.Text("api.nzb-key"));
        Assert.DoesNotContain(films.Host.Get<SettingsSource>().Current.All, setting => setting.IsLocked);
        Assert.Single(Directory.GetFiles(Path.Combine(films.Root, "keys")), path => path.EndsWith("secret.key", StringComparison.Ordinal));
        await films.AssertPlayAsync();
    }

    [Fact]
    public async Task OPS_16_Secrets_stay_locked_without_the_passphrase()
    {
        await using var films = await StartAsync(2);
        var (id, key) = await MoveAsync(films);
        var other = await File.ReadAllBytesAsync(KeyIn(films), Token);

        await RestoreAsync(films, id, passphrase: null);

        Assert.Equal(other, await File.ReadAllBytesAsync(KeyIn(films), Token));
        var locked = films.Host.Get<SettingsSource>().Current.All.Where(setting => setting.IsLocked).Select(setting => setting.Definition.Key).ToList();
        Assert.Contains("api.nzb-key", locked);
        await films.AssertPlayAsync();
        await films.StopAsync();

        // The old key opens them again, so nothing was generated over them.
        await File.WriteAllBytesAsync(KeyIn(films), key, Token);
        await films.StartAsync((Setting, films.Second));
        Assert.Equal(Secret, films.Host.Get<SettingsSource>().Current.Text("api.nzb-key"));
        Assert.DoesNotContain(films.Host.Get<SettingsSource>().Current.All, setting => setting.IsLocked);
    }

    private static string KeyIn(PublishedFilms films) => Path.Combine(films.Root, "keys", "secret.key");

    private static IEnumerable<string> Locked(JsonNode cost) => cost["locked"]!.AsArray().Select(key => key!.ToString());

    private static async Task<PublishedFilms> StartAsync(int count)
    {
        var films = await PublishedFilms.CreateAsync(count);
        Directory.CreateDirectory(films.Second);
        await films.StartAsync((Setting, films.Second));
        return films;
    }

    /// <summary>Saves secrets, copies a backup, and starts a new machine on the second folder.</summary>
    /// <returns>The id of the backup, and the key of the old machine.</returns>
    private static async Task<(string Id, byte[] Key)> MoveAsync(PublishedFilms films)
    {
        Assert.Empty(await films.Host.Get<SettingsStore>().SaveAsync(Secrets, Token));
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.UntilAsync(() => Task.FromResult(Directory.Exists(Path.Combine(films.Second, id))));
        var key = await File.ReadAllBytesAsync(KeyIn(films), Token);
        await films.StopAsync();
        films.LoseData();
        await films.StartAsync((Setting, films.Second));
        return (id, key);
    }

    private static async Task RestoreAsync(PublishedFilms films, string id, string? passphrase)
    {
        await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore", new { passphrase });
        await films.UntilAsync(() => Task.FromResult(films.Host.Get<ProcessRestart>().IsRequested));
        await films.StopAsync();
        await films.StartAsync((Setting, films.Second));
    }
}
