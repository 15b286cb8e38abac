using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Sluice.Server.Arr;
using Sluice.Server.Database;
using Sluice.Server.Tests.AdminApi;
using Sluice.Server.Tests.Arr;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.History;

/// <summary>Posters of Sonarr and Radarr (ADM-60).</summary>
public sealed class PosterTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("Sonarr")]
    [InlineData("Radarr")]
    public async Task Poster_of_an_imported_film_is_fetched_once(string name)
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        await using var arr = await ArrServerReplica.StartAsync(name);
        await ConnectAsync(server, arr);
        var poster = TestPictures.Jpeg(250, 375, 40_000);
        var film = await ImportAsync(server, mock, 1);
        (arr.Imports[film], arr.Posters[7]) = (7, poster);
        var before = mock.Stats.CommandCount("BODY") + mock.Stats.CommandCount("STAT");

        await RemoveAsync(server, film);

        var hash = await UntilPictureAsync(server);
        Assert.Equal(poster, (await server.DownloadAsync($"pictures/{hash}")).Body);
        Assert.Equal(before, mock.Stats.CommandCount("BODY") + mock.Stats.CommandCount("STAT"));
        // Other films change the history; the first is not asked for again.
        var other = await ImportAsync(server, mock, 2);
        await RemoveAsync(server, other);
        await UntilAskedAsync(server, 2);
        Assert.Single(arr.Calls, call => call.EndsWith("/mediacover/7/poster-250.jpg", StringComparison.Ordinal));
        Assert.Equal(2, arr.Calls.Count(call => call.EndsWith("/history", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Hostile_or_missing_poster_keeps_the_generated_card()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        await using var arr = await ArrServerReplica.StartAsync("Radarr");
        await ConnectAsync(server, arr);
        byte[][] posters = [TestPictures.Text("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"), TestPictures.Jpeg(250, 375, 200_001), TestPictures.Jpeg(9_000, 9_000), []];
        var films = new List<string>();
        for (var i = 0; i < posters.Length; i++)
        {
            films.Add(await ImportAsync(server, mock, i));
            (arr.Imports[films[i]], arr.Posters[i + 1]) = (i + 1, posters[i]);
        }

        foreach (var film in films)
            await RemoveAsync(server, film);

        await UntilAskedAsync(server, posters.Length);
        Assert.All((await server.GetAsync("home"))["recent"]!.AsArray(), row => Assert.Null(row!["picture"]));
        Assert.Equal(0, await server.Host.Get<SluiceDatabase>().ReadAsync(connection => connection.ExecuteScalar<int>("SELECT sum(bytes) FROM picture"), Token));
    }

    [Fact]
    public async Task Poster_request_to_an_unreachable_program_is_retried()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        await using var arr = await ArrServerReplica.StartAsync("Radarr");
        await ConnectAsync(server, arr);
        arr.IsBehindLogin = true;
        var film = await ImportAsync(server, mock, 1);
        (arr.Imports[film], arr.Posters[7]) = (7, TestPictures.Jpeg(250, 375));
        await RemoveAsync(server, film);
        while (arr.Refused == 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        arr.IsBehindLogin = false;
        await RemoveAsync(server, await ImportAsync(server, mock, 2));

        await UntilAskedAsync(server, 2);
        Assert.Single((await server.GetAsync("home"))["recent"]!.AsArray(), row => row!["picture"] is not null);
    }

    [Fact]
    public async Task Setting_turns_posters_off()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock, null, ("SLUICE_CONFIG__UI__ARR_POSTERS", "false"));
        await using var arr = await ArrServerReplica.StartAsync("Radarr");
        await ConnectAsync(server, arr);
        var film = await ImportAsync(server, mock, 1);
        (arr.Imports[film], arr.Posters[7]) = (7, TestPictures.Jpeg(250, 375));
        await RemoveAsync(server, film);

        var body = new JsonObject { ["values"] = new JsonObject { ["ui.pictures-max-mb"] = "50" } };
        await server.SendAsync(HttpMethod.Put, "settings", body, HttpStatusCode.OK);

        Assert.Empty(arr.Calls);
    }

    private static Task<ArrServer> ConnectAsync(JobServer server, ArrServerReplica arr) => server.Host.Get<ArrStore>().SaveAsync(
        new ArrServer("", Enum.Parse<ArrKind>(arr.Name), arr.Name, arr.Url, ArrServerReplica.Key, "tv"), Token);

    /// <summary>Imports a film; the answer is the id that a program would know.</summary>
    private static async Task<string> ImportAsync(JobServer server, MockServer mock, int seed)
    {
        var film = MockRelease.Plain((ulong)seed + 1, 200_000, articleSize: 50_000);
        mock.Post(film);
        var id = (await server.UploadAsync(film.ToNzb(), $"Harbour.Lights.{seed}.nzb"))["ids"]![0]!.GetValue<string>();
        await server.WaitForHistoryAsync(id);
        return id;
    }

    /// <summary>Removes an item as a program does after its import.</summary>
    private static Task<System.Text.Json.JsonElement> RemoveAsync(JobServer server, string id) => server.Host.CallAsync($"mode=history&name=delete&value={id}", Token);

    private static async Task<string> UntilPictureAsync(JobServer server)
    {
        while (true)
        {
            if ((await server.GetAsync("home"))["recent"]![0]!["picture"]?.ToString() is { } hash)
                return hash;
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        }
    }

    /// <summary>Waits until the programs were asked for so many releases.</summary>
    private static async Task UntilAskedAsync(JobServer server, int releases)
    {
        while (await server.Host.Get<SluiceDatabase>().ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM picture"), Token) < releases)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }
}
