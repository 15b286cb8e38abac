using System.Globalization;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>After a kill at any step of a backup or restore, the next start has a sound database and every NZB (OPS-95).</summary>
public sealed class BackupKillTests : IDisposable
{
    private const int RandomKills = 100;
    private const int Seed = 20261130;
    private const string Passphrase = "a-passphrase-of-the-backups";
    private const string AdminPassword = "a-password-of-an-administrator";

    private static readonly string[] OfBackup = ["backup-begun", "backup-copied", "backup-described", "backup-proved", "backup-named"];

    private static readonly string[] OfRestore =
        ["restore-requested", "restore-copied", "restore-begun", "restore-moved", "restore-named", "restore-key-placed", "restore-raised", "restore-adopted"];

    // Only reached if the key file is replaced.
    private const string KeyStep = "restore-key-aside";

    // In the order in which a copy reaches them. The last one comes once a day.
    private static readonly string[] OfSecondFolder =
        ["second-begun", "second-nzb-named", "second-nzbs-copied", "second-folder-copied", "second-proved", "second-named", "second-pruned"];

    private readonly ScratchFolder _folder = new();
    private readonly List<SyntheticFilm> _films = [];
    private Dictionary<string, string> _settings = [];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>The steps that only a backup or restore reaches.</summary>
    public static IEnumerable<string> Points => [.. OfBackup, .. OfSecondFolder, .. OfRestore, KeyStep];

    private string Data => _folder.File("data");

    private string Second => _folder.File("second");

    public void Dispose() => _folder.Dispose();

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    [Trait("Category", FailpointBuild.Part)]
    public async Task OPS_95_Kill_at_any_step_leaves_the_database_intact()
    {
        await using var mock = await BeginAsync();
        await RunAsync(null, async server => await AddAsync(server, 2));
        foreach (var point in OfBackup)
        {
            await KillAsync(point, BackUpAsync);
            await AssertSoundAsync(imported: 2, later: 0);
        }

        string id = "";
        await RunAsync(null, async server => id = await BackedUpAsync(server));
        var later = 0;
        foreach (var point in OfRestore)
        {
            await RunAsync(null, async server => await AddAsync(server, 1));
            later++;
            await KillAsync(point, server => RestoreAsync(server, id));
            await AssertSoundAsync(imported: 2, later);
        }
    }

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    [Trait("Category", FailpointBuild.Part)]
    public async Task OPS_95_Kill_at_any_step_of_a_copy_leaves_sound_copies()
    {
        await using var mock = await BeginAsync();
        UseSecondFolder();
        await RunAsync(null, async server =>
        {
            await AddAsync(server, 2);
            await CopiedAsync(server);
        });
        foreach (var point in OfSecondFolder)
        {
            await RunAsync(null, server => AddAsync(server, 1));
            // Allows the deletion of old backups, which otherwise happens once a day.
            File.Delete(Path.Combine(Second, "rotated"));
            await KillAsync(point, BackUpAsync);
            AssertCopiesSound();
        }

        // The next copy completes what the kills have left.
        string id = "";
        await RunAsync(null, async server => id = await CopiedAsync(server));
        AssertCopiesSound();
        Assert.Empty(Directory.GetFileSystemEntries(Second, "*.partial"));
        Assert.Empty(Directory.GetFiles(Path.Combine(Second, "blobs"), "*.tmp", SearchOption.AllDirectories));

        // The copies alone restore an empty machine, also after a kill in the middle.
        Directory.Delete(Data, recursive: true);
        foreach (var point in (string[])["file-named", "restore-copied", "restore-named", KeyStep, "restore-adopted"])
            await KillAsync(point, server => RestoreAsync(server, id, Passphrase));
        await AssertSoundAsync(imported: _films.Count, later: 0);
    }

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public async Task OPS_95_Hundred_random_kills_leave_the_database_intact()
    {
        await using var mock = await BeginAsync();
        string id = "";
        UseSecondFolder();
        await RunAsync(null, async server =>
        {
            await AddAsync(server, 2);
            id = await CopiedAsync(server);
            await AddAsync(server, 20);
        });
        var random = new Random(Seed);
        string[] points = [.. Points, "start-noted", "start-written", "transaction-done", "transaction-committed"];
        for (var kill = 0; kill < RandomKills; kill++)
        {
            var armed = string.Create(CultureInfo.InvariantCulture, $"{points[random.Next(points.Length)]}:{random.Next(1, 4)}");
            await RunAsync(armed, async server =>
            {
                await BackUpAsync(server);
                await RestoreAsync(server, id);
            });
            Assert.Equal("ok", Check());
            AssertCopiesSound();
        }

        // Repeats the restore, because a kill before the request was on disk leaves nothing of it.
        await RunAsync(null, server => RestoreAsync(server, id));
        await AssertSoundAsync(imported: 2, later: 20);
    }

    private async Task<MockServer> BeginAsync()
    {
        FailpointBuild.Require();
        var mock = await MockServer.StartAsync();
        _settings = ProviderSettings.For([.. mock.Ports], "", "");
        _settings["SLUICE_ADMIN_USER"] = "owner";
        _settings["SLUICE_ADMIN_PASSWORD"] = AdminPassword;
        return mock;
    }

    /// <summary>Runs work against a server and kills the server afterwards, unless it has ended at its step.</summary>
    private async Task RunAsync(string? armed, Func<ArmedServer, Task> work)
    {
        await using var server = await ArmedServer.StartAsync(Data, _settings, armed, Token);
        try
        {
            if (!server.HasEnded)
                await work(server);
        }
        catch (HttpRequestException) when (armed is not null)
        {
            // The server has ended at its step.
        }

        if (!server.HasEnded)
            await server.KillAsync();
    }

    /// <summary>Starts an operation during which the server reaches a step and ends.</summary>
    private async Task KillAsync(string point, Func<ArmedServer, Task> begin)
    {
        await using var server = await ArmedServer.StartAsync(Data, _settings, point, Token);
        Exception? sign = null;
        try
        {
            await begin(server);
        }
        catch (HttpRequestException e)
        {
            sign = e;
        }

        await server.EndAsync(Token, sign);
    }

    private async Task AssertSoundAsync(int imported, int later) => await RunAsync(null, async server =>
    {
        Assert.Equal("ok", Check());
        Assert.Empty(Directory.GetDirectories(Path.Combine(Data, "backups"), "*.partial"));
        Assert.False(File.Exists(Path.Combine(Data, "restore.json")));
        for (var i = 0; i < imported; i++)
            await server.Client.PublishedAsync(_films[i].Name, Token);
        using var http = await LogInAsync(server);
        Assert.Equal(later, JsonNode.Parse(await http.GetStringAsync("api/backups/later", Token))!["total"]!.GetValue<int>());
        Assert.Equal(_films.Count, Directory.GetFiles(Path.Combine(Data, "blobs"), "*.nzb.br").Length);
    });

    private string Check()
    {
        using var connection = new SqliteConnection($"Data Source={Path.Combine(Data, "sluice.db")};Pooling=False");
        connection.Open();
        return connection.ExecuteScalar<string>("PRAGMA integrity_check")!;
    }

    private void UseSecondFolder()
    {
        Directory.CreateDirectory(Second);
        _settings["SLUICE_CONFIG__BACKUP__SECOND_DIR"] = Second;
        _settings["SLUICE_CONFIG__BACKUP__PASSPHRASE"] = Passphrase;
    }

    /// <summary>Verifies every named backup of the second folder with all its NZBs.</summary>
    private void AssertCopiesSound()
    {
        BlobReference[] references =
        [
            QueueStore.NzbReference, QueueFileStore.RawReference, RemovedFileStore.NzbReference, RemovedStore.QueueReference, RemovedStore.HistoryReference,
            RemovedStore.RawReference, HistoryStore.NzbReference, LibraryStore.NzbReference,
        ];
        var proof = new BackupProof(references, new Random(Seed));
        Assert.All(
            new BackupFolder(Second).List(), backup => Assert.Null(proof.FindFlaw(backup.Path, BlobPool.Beside(backup.Path, new DiskBlobFiles()), Token)));
    }

    private async Task AddAsync(ArmedServer server, int count)
    {
        for (var i = 0; i < count; i++)
        {
            var film = new SyntheticFilm((ulong)(3400 + _films.Count), 60_000, 30_000);
            await server.Client.AddFileAsync("movies", film.Name, film.Nzb, Token);
            await server.Client.PublishedAsync(film.Name, Token);
            _films.Add(film);
        }
    }

    private static async Task BackUpAsync(ArmedServer server)
    {
        using var http = await LogInAsync(server);
        using var begun = await http.PostAsync(new Uri("api/backups", UriKind.Relative), null, Token);
        begun.EnsureSuccessStatusCode();
    }

    private static async Task<string> BackedUpAsync(ArmedServer server)
    {
        await BackUpAsync(server);
        using var http = await LogInAsync(server);
        while (true)
        {
            var list = JsonNode.Parse(await http.GetStringAsync("api/backups", Token))!;
            if (!list["isMaking"]!.GetValue<bool>())
                return list["items"]![0]!["id"]!.ToString();
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        }
    }

    private static async Task<string> CopiedAsync(ArmedServer server)
    {
        var id = await BackedUpAsync(server);
        using var http = await LogInAsync(server);
        while (true)
        {
            var list = JsonNode.Parse(await http.GetStringAsync("api/backups", Token))!;
            if (list["items"]!.AsArray().Any(row => row!["id"]!.ToString() == id && row["place"]!.ToString() == "both"))
                return id;
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        }
    }

    private static async Task RestoreAsync(ArmedServer server, string id, string? passphrase = null)
    {
        using var http = await LogInAsync(server);
        using var begun = await http.PostAsJsonAsync($"api/backups/{id}/restore", new { password = AdminPassword, passphrase }, Token);
        begun.EnsureSuccessStatusCode();
    }

    private static async Task<HttpClient> LogInAsync(ArmedServer server)
    {
        var address = new Uri(new Uri(server.Client.Authority).GetComponents(UriComponents.SchemeAndServer, UriFormat.Unescaped));
        var http = new HttpClient { BaseAddress = address };
        http.DefaultRequestHeaders.Add("X-Csrf", "1");
        http.DefaultRequestHeaders.Add("Origin", address.GetLeftPart(UriPartial.Authority));
        using var session = await http.PostAsJsonAsync("api/session", new { user = "owner", password = AdminPassword }, Token);
        session.EnsureSuccessStatusCode();
        return http;
    }
}
