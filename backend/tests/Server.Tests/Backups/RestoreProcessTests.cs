using System.Globalization;
using System.Net.Http.Json;
using Microsoft.Data.Sqlite;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>The restore of a whole process: the server restarts itself, or the command line restores while it is stopped (OPS-8, OPS-11, OPS-15, OPS-21).</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class RestoreProcessTests
{
    private static readonly Dictionary<string, string> Settings = OwnerSession.Settings;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Restore_restarts_the_process_and_plays_the_backup()
    {
        await using var set = await MockedServer.StartAsync(new MockOptions(), Settings, Token);
        SyntheticFilm[] films = [.. Enumerable.Range(34, 3).Select(seed => new SyntheticFilm((ulong)seed, 60_000, 30_000))];
        await ImportAsync(set, films[0]);
        using var browser = await LogInAsync(set);
        var id = await BackUpAsync(browser);
        await ImportAsync(set, films[1]);
        await ImportAsync(set, films[2]);
        var process = set.Server.Id;

        using (var restored = await browser.PostAsJsonAsync($"api/backups/{id}/restore", new { requeue = true, password = OwnerSession.Password }, Token))
            Assert.True(restored.IsSuccessStatusCode, await restored.Content.ReadAsStringAsync(Token));

        await set.Server.LineAsync(line => line.Contains("as requested from the web UI", StringComparison.Ordinal), Token);
        await OwnerSession.ReadyAsync(browser);
        foreach (var film in films)
            await set.Client.PublishedAsync(film.Name, Token);
        Assert.Equal((process, false), (set.Server.Id, set.Server.HasEnded));
        Assert.Equal(0, await set.Server.StopAsync(Token));
    }

    [Fact]
    public async Task Command_line_verifies_and_restores_a_backup()
    {
        await using var set = await MockedServer.StartAsync(new MockOptions(), Settings, Token);
        SyntheticFilm[] films = [.. Enumerable.Range(37, 2).Select(seed => new SyntheticFilm((ulong)seed, 60_000, 30_000))];
        await ImportAsync(set, films[0]);
        string id;
        using (var browser = await LogInAsync(set))
            id = await BackUpAsync(browser);
        await ImportAsync(set, films[1]);

        await AssertEndsAsync(set, 0, "is sound", "--verify", id);
        await AssertEndsAsync(set, 75, "another Sluice is using", "--restore", id, "--yes");
        Assert.Equal(0, await set.Server.StopAsync(Token));
        await AssertEndsAsync(set, 64, "nothing was restored", "--restore", id);
        await AssertEndsAsync(set, 65, "is no backup", "--restore", "2026-01-01T000000Z-v1", "--yes");
        await AssertEndsAsync(set, 64, "use --verify", "--restore");
        await AssertEndsAsync(set, 0, "1 NZB came after it", "--restore", id, "--requeue", "--yes");
        await set.RestartAsync(Settings, Token);
        foreach (var film in films)
            await set.Client.PublishedAsync(film.Name, Token);

        var path = Path.Combine(set.Data, "backups", id, "sluice.db");
        var bytes = await File.ReadAllBytesAsync(path, Token);
        bytes[bytes.Length / 2] ^= 4;
        await File.WriteAllBytesAsync(path, bytes, Token);
        await AssertEndsAsync(set, 65, "sluice.db is damaged", "--verify", Path.GetDirectoryName(path)!);
    }

    [Fact]
    public async Task Command_line_restores_a_tar_file_on_an_empty_machine()
    {
        const string passphrase = "a-passphrase-of-the-backups";
        var settings = new Dictionary<string, string>(Settings) { ["SLUICE_CONFIG__BACKUP__PASSPHRASE"] = passphrase };
        await using var set = await MockedServer.StartAsync(new MockOptions(), settings, Token);
        var film = new SyntheticFilm(39, 60_000, 30_000);
        await ImportAsync(set, film);
        var tar = Path.Combine(Path.GetDirectoryName(set.Data)!, "backup.tar");
        var (right, wrong) = (Path.Combine(Path.GetDirectoryName(set.Data)!, "right"), Path.Combine(Path.GetDirectoryName(set.Data)!, "wrong"));
        await File.WriteAllTextAsync(right, passphrase + "\n", Token);
        await File.WriteAllTextAsync(wrong, "another passphrase\n", Token);
        using (var browser = await LogInAsync(set))
            await File.WriteAllBytesAsync(tar, await browser.GetByteArrayAsync($"api/backups/{await BackUpAsync(browser)}", Token), Token);
        Assert.Equal(0, await set.Server.StopAsync(Token));
        var key = await File.ReadAllBytesAsync(Path.Combine(set.Data, "keys", "secret.key"), Token);
        Directory.Delete(set.Data, recursive: true);
        Directory.CreateDirectory(set.Data);

        await AssertEndsAsync(set, 0, "is sound", "--verify", tar);
        await AssertEndsAsync(set, 65, "does not contain the passphrase", "--restore", tar, "--passphrase-file", wrong, "--yes");
        await AssertEndsAsync(set, 64, "cannot be read", "--restore", tar, "--passphrase-file", wrong + "-absent", "--yes");
        await AssertEndsAsync(set, 0, "1 file plays by it", "--restore", tar, "--passphrase-file", right, "--yes");

        Assert.Equal(key, await File.ReadAllBytesAsync(Path.Combine(set.Data, "keys", "secret.key"), Token));
        Assert.False(Directory.Exists(Path.Combine(set.Data, "unpacked")));
        await set.RestartAsync(settings, Token);
        await set.Client.PublishedAsync(film.Name, Token);

        var bytes = await File.ReadAllBytesAsync(tar, Token);
        await File.WriteAllBytesAsync(tar, bytes[..(bytes.Length / 2)], Token);
        await AssertEndsAsync(set, 65, "is no backup", "--verify", tar);
    }

    [Fact]
    public async Task Newer_database_is_refused_with_a_usable_restore_command()
    {
        await using var set = await MockedServer.StartAsync(new MockOptions(), Settings, Token);
        var film = new SyntheticFilm(40, 60_000, 30_000);
        await ImportAsync(set, film);
        string id;
        using (var browser = await LogInAsync(set))
            id = await BackUpAsync(browser);
        Assert.Equal(0, await set.Server.StopAsync(Token));
        var latest = Migration.LoadEmbedded().Count;
        MakeNewer(set, id, latest + 1);

        await AssertEndsAsync(set, 78, $"(version {latest + 1}, this one knows {latest}); install that one or restore the newest backup that this one can use: sluice --restore {id}");
        await AssertEndsAsync(set, 0, "1 file plays by it", "--restore", id, "--yes");

        await set.RestartAsync(Settings, Token);
        await set.Client.PublishedAsync(film.Name, Token);
    }

    /// <summary>Changes the database to what a newer program wrote, and adds a newer backup of it.</summary>
    private static void MakeNewer(MockedServer set, string id, int schema)
    {
        using (var connection = new SqliteConnection($"Data Source={Path.Combine(set.Data, "sluice.db")};Pooling=False"))
        {
            connection.Open();
            using var command = connection.CreateCommand();
            command.CommandText = string.Create(CultureInfo.InvariantCulture, $"PRAGMA user_version = {schema}; CREATE TABLE of_the_future (id INTEGER);");
            command.ExecuteNonQuery();
        }

        var folder = Path.Combine(set.Data, "backups", id);
        var manifest = BackupManifest.Read(folder)!;
        var at = manifest.At.AddHours(1);
        var newer = Directory.CreateDirectory(Path.Combine(set.Data, "backups", BackupFolder.NameOf(at, schema))).FullName;
        foreach (var file in Directory.GetFiles(folder))
            File.Copy(file, Path.Combine(newer, Path.GetFileName(file)));
        (manifest with { Id = Path.GetFileName(newer), At = at, Schema = schema }).Write(newer);
    }

    private static async Task ImportAsync(MockedServer set, SyntheticFilm film)
    {
        await set.Client.AddFileAsync("movies", film.Name, film.Nzb, Token);
        await set.Client.PublishedAsync(film.Name, Token);
    }

    private static Task<HttpClient> LogInAsync(MockedServer set) => OwnerSession.LogInAsync(set.Server.Port);

    private static async Task<string> BackUpAsync(HttpClient browser)
    {
        var list = await OwnerSession.BackUpAsync(browser);
        Assert.Null(list["failure"]);
        return list["items"]![0]!["id"]!.ToString();
    }

    private static async Task AssertEndsAsync(MockedServer set, int code, string text, params string[] arguments)
    {
        await using var command = ServerProcess.Launch(ServerProcess.Executable, arguments, set.Data, set.Server.Port, new Dictionary<string, string>());
        var ended = await command.EndAsync(Token);
        var output = string.Join('\n', command.Lines);
        Assert.True(ended == code && output.Contains(text, StringComparison.Ordinal), $"{ended}:\n{output}");
    }
}
