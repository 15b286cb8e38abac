using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>After a kill at any step of a removal, its undo or the deletion, all files are in the library or all are removed (HLT-96).</summary>
public sealed class FileRemovalKillTests : IDisposable
{
    private const string AdminPassword = "a-password-of-an-administrator";
    private const int Films = 4;

    private static readonly string[] OfRemoval = ["files-remove-begins", "files-remove-committed"];
    private static readonly string[] OfUndo = ["files-return-begins", "files-return-committed"];
    private static readonly string[] OfStrm = ["files-strm-recorded", "files-strm-deleted", "files-strm-restored"];
    private static readonly string[] OfPurge = ["files-purge-begins", "files-purge-committed"];

    private readonly ScratchFolder _folder = new();
    private readonly SyntheticFilm[] _films = [.. Enumerable.Range(0, Films).Select(i => new SyntheticFilm((ulong)(5600 + i), 60_000, 30_000))];
    private Dictionary<string, string> _settings = [];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>The steps that a server reaches only with removed files.</summary>
    public static IEnumerable<string> Points => [.. OfRemoval, .. OfUndo, .. OfStrm, .. OfPurge];

    private string Data => _folder.File("data");

    private string Completed => _folder.File("completed");

    public void Dispose() => _folder.Dispose();

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    [Trait("Category", FailpointBuild.Part)]
    public async Task HLT_96_Kill_at_any_step_leaves_files_present_or_removed()
    {
        FailpointBuild.Require();
        await using var mock = await MockServer.StartAsync();
        var whole = await PublishAsync(mock);

        foreach (var point in OfRemoval)
        {
            await KillAsync(point, http => RemoveAsync(http));
            await RunAsync(async (_, http) =>
            {
                var isRemoved = point != OfRemoval[0];
                Assert.Equal(isRemoved ? "" : whole, await ShownAsync(http));
                Assert.Equal(isRemoved ? Films : 0, (await RemovedAsync(http)).Length);
                await StrmAsync(isRemoved ? 0 : Films);
                await RestoreAsync(http);
                Assert.Equal(whole, await ShownAsync(http));
                await StrmAsync(Films);
            });
        }

        foreach (var point in OfUndo)
        {
            await RunAsync((_, http) => RemoveAsync(http));
            await KillAsync(point, RestoreAsync);
            await RunAsync(async (_, http) =>
            {
                var isBack = point != OfUndo[0];
                Assert.Equal(isBack ? whole : "", await ShownAsync(http));
                Assert.Equal(isBack ? 0 : Films, (await RemovedAsync(http)).Length);
                await StrmAsync(isBack ? Films : 0);
                await RestoreAsync(http);
                Assert.Equal(whole, await ShownAsync(http));
                await StrmAsync(Films);
            });
        }

        // Each start continues the deletion.
        await RunAsync(async (_, http) =>
        {
            await RemoveAsync(http);
            await StrmAsync(0);
        });
        Execute("UPDATE library_removal SET removed_at = removed_at - 700000000, kept_ms = 700000000");
        foreach (var point in OfPurge)
        {
            await using var server = await ArmedServer.StartAsync(Data, _settings, point, Token);
            await server.EndAsync(Token);
        }

        await RunAsync(async (_, http) =>
        {
            while (Count("library_removal") > 0)
                await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
            Assert.Empty(await RemovedAsync(http));
            Assert.Equal("", await ShownAsync(http));
        });
        Assert.Equal(0, Count("removed_release") + Count("removed_posted_file") + Count("removed_library_file") + Count("release"));
    }

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    [Trait("Category", FailpointBuild.Part)]
    public async Task HLT_96_Kill_at_any_step_loses_and_keeps_no_strm_file()
    {
        FailpointBuild.Require();
        await using var mock = await MockServer.StartAsync();
        await PublishAsync(mock);

        foreach (var point in OfStrm)
        {
            var isRestored = point == OfStrm[^1];
            if (isRestored)
            {
                await RunAsync(async (_, http) =>
                {
                    await RemoveAsync(http);
                    await StrmAsync(0);
                });
            }

            await KillLaterAsync(point, isRestored ? RestoreAsync : RemoveAsync);
            await RunAsync(async (_, http) =>
            {
                await StrmAsync(isRestored ? Films : 0);
                await RestoreAsync(http);
                await StrmAsync(Films);
            });
        }
    }

    /// <summary>Imports the films. Returns their paths and ids.</summary>
    private async Task<string> PublishAsync(MockServer mock)
    {
        _settings = ProviderSettings.For([.. mock.Ports], "", "");
        _settings["SLUICE_ADMIN_USER"] = "owner";
        _settings["SLUICE_ADMIN_PASSWORD"] = AdminPassword;
        // The port changes with each start, and with it the address in the files.
        _settings["SLUICE_CONFIG__GENERAL__BASE_URL"] = "http://film.example";
        _settings["SLUICE_CONFIG__API__IMPORT_STRATEGY"] = "strm";
        _settings["SLUICE_CONFIG__API__COMPLETED_DOWNLOADS_DIR"] = Completed;
        var whole = "";
        await RunAsync(async (server, http) =>
        {
            foreach (var film in _films)
            {
                await server.Client.AddFileAsync("movies", film.Name, film.Nzb, Token);
                await server.Client.PublishedAsync(film.Name, Token);
            }

            whole = await ShownAsync(http);
        });
        return whole;
    }

    /// <summary>Runs work against a server, kills the server and checks its database.</summary>
    private async Task RunAsync(Func<ArmedServer, HttpClient, Task> work)
    {
        await using var server = await ArmedServer.StartAsync(Data, _settings, null, Token);
        using (var http = await LogInAsync(server))
            await work(server, http);
        await server.KillAsync();
        using var connection = Open();
        Assert.Equal("ok", connection.ExecuteScalar<string>("PRAGMA integrity_check"));
    }

    /// <summary>Starts an operation during which the server reaches a step and ends.</summary>
    private async Task KillAsync(string point, Func<HttpClient, Task> begin)
    {
        await using var server = await ArmedServer.StartAsync(Data, _settings, point, Token);
        using var http = await LogInAsync(server);
        await Assert.ThrowsAsync<HttpRequestException>(() => begin(http));
        await server.EndAsync(Token);
    }

    /// <summary>Runs an operation whose consequences end the server, perhaps before it answers.</summary>
    private async Task KillLaterAsync(string point, Func<HttpClient, Task> run)
    {
        await using var server = await ArmedServer.StartAsync(Data, _settings, point, Token);
        using var http = await LogInAsync(server);
        var failure = await Record.ExceptionAsync(() => run(http));
        Assert.True(failure is null or HttpRequestException, failure?.ToString());
        await server.EndAsync(Token);
    }

    /// <summary>Waits until there are this many <c>.strm</c> files and no folder is left to search.</summary>
    private async Task StrmAsync(int count)
    {
        while (Directory.GetFiles(Completed, "*.strm", SearchOption.AllDirectories).Length != count || Count("removed_strm_folder") > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    private static async Task RemoveAsync(HttpClient http)
    {
        using var request = new HttpRequestMessage(HttpMethod.Delete, new Uri("api/files", UriKind.Relative)) { Content = JsonContent.Create(new { paths = new[] { "movies" } }) };
        using var answer = await http.SendAsync(request, Token);
        answer.EnsureSuccessStatusCode();
    }

    private static async Task RestoreAsync(HttpClient http)
    {
        var ids = (await RemovedAsync(http)).Select(row => row!["id"]!.ToString()).ToArray();
        using var answer = await http.PostAsJsonAsync("api/quarantine/restore", new { ids }, Token);
        answer.EnsureSuccessStatusCode();
    }

    private static async Task<JsonNode?[]> RemovedAsync(HttpClient http) =>
        [.. JsonNode.Parse(await http.GetStringAsync("api/quarantine", Token))!["items"]!.AsArray()];

    /// <summary>Returns path and id of every film in the library.</summary>
    private static async Task<string> ShownAsync(HttpClient http) => string.Join('\n', JsonNode.Parse(await http.GetStringAsync("api/files?q=mkv", Token))!["items"]!.AsArray()
        .Select(row => $"{row!["path"]} {row["id"]}"));

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

    private SqliteConnection Open()
    {
        var connection = new SqliteConnection($"Data Source={Path.Combine(Data, "sluice.db")};Pooling=False");
        connection.Open();
        return connection;
    }

    private void Execute(string sql)
    {
        using var connection = Open();
        connection.Execute(sql);
    }

    private long Count(string table)
    {
        using var connection = Open();
        return connection.ExecuteScalar<long>($"SELECT count(*) FROM {table}");
    }
}
