using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Tests.AdminApi;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.ArrReplica;

/// <summary>Sonarr and Radarr process a completed release; the tests check its files and the history page afterwards.</summary>
public sealed class ImportRunTests : IAsyncLifetime
{
    private readonly TemporaryFolder _folder = new();
    private MockServer _mock = null!;
    private JobServer _server = null!;
    private ArrProgram _sonarr = null!;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _mock = await MockServer.StartAsync();
        _server = await JobServer.StartAsync(_folder, _mock, null, ("LOG_LEVEL", "warning"));
        _sonarr = new ArrProgram(_server.Host, "tv");
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        await _mock.DisposeAsync();
        _folder.Dispose();
    }

    [Fact]
    public async Task Imported_release_is_archived_and_stays_in_history()
    {
        var film = Film(1);
        var item = await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");

        await _sonarr.ImportAsync(item);
        await _sonarr.RemoveAsync(item);

        Assert.Empty(await _sonarr.ListAsync());
        Assert.Equal(["Show.S01E01"], await ArchiveAsync());
        Assert.Equal(["Show.S01E01 completed tv/Show.S01E01"], await PageAsync());
        await _sonarr.PlaysAsync("Show.S01E01.mkv", film);
    }

    [Fact]
    public async Task Failed_release_stays_in_history_after_client_deletion()
    {
        _mock.ChangeMissing(ArticleSelection.All);
        var item = await _sonarr.GrabAsync(Film(1).ToNzb(), "Show.S01E01");
        Assert.Equal(("Failed", ""), (item.Status, item.OutputPath));

        await _sonarr.RemoveAsync(item);

        Assert.Empty(await _sonarr.ListAsync());
        Assert.Empty(await ArchiveAsync());
        Assert.Equal(["Show.S01E01 failed -"], await PageAsync());
        var detail = await _server.GetAsync($"history/{item.Id}");
        Assert.Contains("no longer exists", detail["item"]!["sentence"]!.GetValue<string>(), StringComparison.Ordinal);
        // The client also requested to delete the NZB.
        Assert.False(detail["hasNzb"]!.GetValue<bool>());
        Assert.Equal("item does not exist", (await _server.Host.CallAsync($"mode=retry&value={item.Id}", Token)).GetProperty("error").GetString());
    }

    [Fact]
    public async Task Second_release_of_the_same_name_has_no_number_in_the_library()
    {
        var (first, second) = (Film(1), Film(2));
        var one = await _sonarr.GrabAsync(first.ToNzb(), "Show.S01E01");
        await _sonarr.ImportAsync(one);
        await _sonarr.PlaysAsync("Show.S01E01.mkv", first);

        // An upgrade arrives while the first release is still in the history.
        var two = await _sonarr.GrabAsync(second.ToNzb(), "Show.S01E01");
        await _sonarr.RemoveAsync(one);
        await _sonarr.ImportAsync(two);
        await _sonarr.RemoveAsync(two);

        Assert.Equal(("Show.S01E01", "Show.S01E01"), (one.Title, two.Title));
        Assert.EndsWith("/tv/Show.S01E01 (2)", two.OutputPath, StringComparison.Ordinal);
        Assert.Equal(["Show.S01E01.mkv"], _sonarr.Library.Keys);
        await _sonarr.PlaysAsync("Show.S01E01.mkv", second);
        Assert.Equal(["Show.S01E01", "Show.S01E01 (2)"], await _sonarr.FoldersAsync("content"));
        Assert.Equal(["Show.S01E01 completed tv/Show.S01E01 (2)", "Show.S01E01 completed tv/Show.S01E01"], await PageAsync());
    }

    [Fact]
    public async Task Obfuscated_film_gets_the_item_name_without_a_number()
    {
        foreach (var seed in new ulong[] { 1, 2 })
        {
            var post = new MockRelease($"rel{seed}", seed, [new MockFile { Name = $"{seed:x32}.mkv", Size = 60_000, ArticleSize = 20_000 }]);
            var item = await _sonarr.GrabAsync(post.ToNzb(), "Show.S01E01");

            Assert.EndsWith("/Show.S01E01.mkv.rclonelink", Assert.Single(await _sonarr.LinksAsync(item)), StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("tv", "tv (2)")]
    [InlineData("completed-symlinks", "completed-symlinks (2)")]
    [InlineData("Sluice", "Sluice (2)")]
    public async Task Item_named_like_a_parent_folder_does_not_delete_the_folder(string name, string title)
    {
        var other = await _sonarr.GrabAsync(Film(1).ToNzb(), "Show.S01E01");
        var item = await _sonarr.GrabAsync(Film(2).ToNzb(), name);

        await _sonarr.ImportAsync(item);
        await _sonarr.RemoveAsync(item);

        Assert.Equal((title, item.Storage), (item.Title, item.OutputPath));
        Assert.Equal(other.Id, Assert.Single(await _sonarr.ListAsync()).Id);
        Assert.Single(await _sonarr.LinksAsync(other));
    }

    [Fact]
    public async Task Item_with_an_unknown_category_becomes_uncategorized()
    {
        var nzb = Film(1).ToNzb();
        var id = Assert.Single(await _server.Host.AddAsync(nzb, "Show.S01E01.nzb", Token, "&cat=../../etc"));
        var slot = await _server.Host.WaitForHistoryAsync(id, Token);
        var spelled = await new ArrProgram(_server.Host, "TV").GrabAsync(nzb, "Show.S01E01");

        Assert.Equal(("*", "/mnt/sluice/completed-symlinks/uncategorized/Show.S01E01"), (slot.GetProperty("category").GetString(), slot.GetProperty("storage").GetString()));
        Assert.Equal("tv", spelled.Category);
        Assert.Contains(
            (await _server.Host.CallAsync("mode=warnings", Token)).GetProperty("warnings").EnumerateArray(),
            warning => warning.GetProperty("text").GetString()!.Contains("../../etc", StringComparison.Ordinal));
        Assert.Equal(2, (await PageAsync()).Count);
    }

    [Fact]
    public async Task Manual_import_by_copy_is_archived_like_any_other()
    {
        var film = Film(1);
        var item = await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");

        await _sonarr.ImportAsync(item, copies: true);
        await _sonarr.RemoveAsync(item);

        Assert.Empty(await _sonarr.ListAsync());
        Assert.Equal(["Show.S01E01 completed tv/Show.S01E01"], await PageAsync());
        await _sonarr.PlaysAsync("Show.S01E01.mkv", film);
    }

    [Fact]
    public async Task NZB_grabbed_again_after_its_import_shows_links_at_once()
    {
        var film = Film(1);
        var one = await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");
        await _sonarr.ImportAsync(one);
        await _sonarr.RemoveAsync(one);

        // Adds it again within the 30 seconds for which deleted links are hidden.
        var two = await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");
        await _sonarr.ImportAsync(two);
        await _sonarr.RemoveAsync(two);

        Assert.Equal((one.Title, one.Storage), (two.Title, two.Storage));
        Assert.NotEqual(one.Id, two.Id);
        Assert.Equal(["Show.S01E01"], await _sonarr.FoldersAsync("content"));
        Assert.Equal(["Show.S01E01 completed tv/Show.S01E01", "Show.S01E01 completed tv/Show.S01E01"], await PageAsync());
        await _sonarr.PlaysAsync("Show.S01E01.mkv", film);
    }

    [Theory]
    [InlineData("Show.S01E01", "Show.S01E01 (2)")]
    [InlineData("show-s01e01-other-indexer", "show-s01e01-other-indexer")]
    public async Task NZB_grabbed_twice_before_its_import_gets_two_folders(string name, string folder)
    {
        var film = Film(1);
        var one = await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");
        var two = await _sonarr.GrabAsync(film.ToNzb(), name);
        Assert.Equal((name, $"/mnt/sluice/completed-symlinks/tv/{folder}"), (two.Title, two.OutputPath));
        Assert.Equal(["Show.S01E01", folder], await _sonarr.FoldersAsync("completed-symlinks"));

        await _sonarr.ImportAsync(one);
        await _sonarr.RemoveAsync(one);
        Assert.Equal([folder], await _sonarr.FoldersAsync("completed-symlinks"));
        await _sonarr.ImportAsync(two);
        await _sonarr.RemoveAsync(two);

        Assert.Empty(await _sonarr.FoldersAsync("completed-symlinks"));
        Assert.Equal(["Show.S01E01"], await _sonarr.FoldersAsync("content"));
        Assert.Equal([$"{name} completed tv/Show.S01E01", "Show.S01E01 completed tv/Show.S01E01"], await PageAsync());
        await _sonarr.PlaysAsync($"{name}.mkv", film);
    }

    [Fact]
    public async Task Content_opens_a_shared_release_under_each_item_folder()
    {
        var film = Film(1);
        await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");
        var two = await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");

        await _sonarr.PlaysFromContentAsync(two, "film.mkv", film);
        Assert.Equal(["Show.S01E01"], await _sonarr.FoldersAsync("content"));
        Assert.Equal(["film.mkv"], await _sonarr.FoldersAsync("content", "Show.S01E01 (2)"));
    }

    [Fact]
    public async Task Item_folder_is_never_reused_for_another_NZB()
    {
        var (first, second) = (Film(1), Film(2));
        await _sonarr.GrabAsync(first.ToNzb(), "First");
        var same = await _sonarr.GrabAsync(first.ToNzb(), "Second");
        var other = await _sonarr.GrabAsync(second.ToNzb(), "Second");

        Assert.Equal(("/mnt/sluice/completed-symlinks/tv/Second", "/mnt/sluice/completed-symlinks/tv/Second (2)"), (same.Storage, other.Storage));
        await _sonarr.ImportAsync(other);
        await _sonarr.PlaysAsync("Second.mkv", second);
        await _sonarr.ImportAsync(same);
        await _sonarr.PlaysAsync("Second.mkv", first);
        Assert.Equal(["First", "Second (2)"], await _sonarr.FoldersAsync("content"));
    }

    [Fact]
    public async Task NZB_grabbed_again_is_rechecked_and_fails_if_it_is_gone()
    {
        var film = Film(1);
        await _sonarr.ImportAsync(await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01"));
        _mock.ChangeMissing(ArticleSelection.All);

        var again = await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");

        Assert.Equal(("Failed", ""), (again.Status, again.OutputPath));
    }

    [Theory]
    [InlineData("tv", "secret")]
    [InlineData("movies", "")]
    public async Task Different_password_or_category_creates_another_release(string category, string password)
    {
        var nzb = Film(1).ToNzb();
        await _sonarr.GrabAsync(nzb, "Show.S01E01");

        var other = Assert.Single(await _server.Host.AddAsync(nzb, "Show.S01E01.nzb", Token, $"&cat={category}&password={password}"));
        await _server.Host.WaitForHistoryAsync(other, Token);

        Assert.Equal($"Show.S01E01 completed {(category == "tv" ? "tv/Show.S01E01 (2)" : "movies/Show.S01E01")}", (await PageAsync())[0]);
    }

    [Fact]
    public async Task Rejected_sample_is_listed_as_not_in_a_library_and_removed()
    {
        await _sonarr.ImportAsync(await _sonarr.GrabAsync(Film(1).ToNzb(), "Show.S01E01"));
        var sample = await _sonarr.GrabAsync(Film(2).ToNzb(), "Show.S01E02-SAMP");
        Assert.Empty(await _server.ListAsync("history?inNoLibrary=true"));

        // Reading a link does not import it. The program cannot reach the folder, so it deletes only the item.
        await _sonarr.LookAsync(sample);
        await _sonarr.DeleteItemAsync(sample);

        var row = Assert.Single(await _server.ListAsync("history?inNoLibrary=true"));
        Assert.Equal(("Show.S01E02-SAMP", "tv/Show.S01E02-SAMP", true), ((string?)row["name"], (string?)row["path"], (bool)row["inNoLibrary"]!));
        Assert.Equal(["Show.S01E01", "Show.S01E02-SAMP"], await _sonarr.FoldersAsync("content"));

        var all = new JsonObject { ["ids"] = new JsonArray([.. (await _server.ListAsync("history")).Select(item => (JsonNode)(string)item["id"]!)]) };
        var removed = await _server.SendAsync(HttpMethod.Post, "history/remove-files", all);
        Assert.Equal(1, (int)removed["count"]!);
        Assert.Empty(await _server.ListAsync("history?inNoLibrary=true"));
        await WaitForAsync(async () => (await _sonarr.FoldersAsync("content")).Count == 1);

        Assert.Equal(["Show.S01E02-SAMP completed -", "Show.S01E01 completed tv/Show.S01E01"], await PageAsync());
        await _sonarr.PlaysAsync("Show.S01E01.mkv", Film(1));
    }

    [Fact]
    public async Task Removal_of_a_rejected_release_can_be_undone()
    {
        var sample = await _sonarr.GrabAsync(Film(1).ToNzb(), "Show.S01E01-SAMP");
        await _sonarr.DeleteItemAsync(sample);

        var removed = await _server.SendAsync(HttpMethod.Post, "history/remove-files", new JsonObject { ["filter"] = new JsonObject { ["inNoLibrary"] = true } });
        Assert.Empty(await _server.ListAsync("history?inNoLibrary=true"));
        await _server.SendAsync(HttpMethod.Post, $"undo/{removed["undo"]}", null, HttpStatusCode.NoContent);

        Assert.Single(await _server.ListAsync("history?inNoLibrary=true"));
        Assert.Equal(["Show.S01E01-SAMP"], await _sonarr.FoldersAsync("content"));
    }

    [Fact]
    public async Task Rejected_release_grabbed_again_is_not_removed()
    {
        var film = Film(1);
        await _sonarr.DeleteItemAsync(await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01"));
        var removed = await _server.SendAsync(HttpMethod.Post, "history/remove-files", new JsonObject { ["filter"] = new JsonObject() });
        Assert.Equal(1, (int)removed["count"]!);

        var again = await _sonarr.GrabAsync(film.ToNzb(), "Show.S01E01");
        await _sonarr.ImportAsync(again);
        await _sonarr.RemoveAsync(again);
        await _server.SendAsync(HttpMethod.Post, $"undo/{removed["undo"]}", null, HttpStatusCode.NoContent);

        Assert.Empty(await _server.ListAsync("history?inNoLibrary=true"));
        Assert.Equal(["Show.S01E01"], await _sonarr.FoldersAsync("content"));
        await _sonarr.PlaysAsync("Show.S01E01.mkv", film);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Release_imported_by_a_moved_or_deleted_link_is_not_removed(bool copies)
    {
        var item = await _sonarr.GrabAsync(Film(1).ToNzb(), "Show.S01E01");
        await _sonarr.ImportAsync(item, copies);
        await _sonarr.RemoveAsync(item);

        // Rejecting a second item must not make a release in their library removable either.
        await _sonarr.DeleteItemAsync(await _sonarr.GrabAsync(Film(1).ToNzb(), "Show.S01E01"));

        Assert.Empty(await _server.ListAsync("history?inNoLibrary=true"));
        Assert.Equal(0, (int)(await _server.SendAsync(HttpMethod.Post, "history/remove-files", new JsonObject { ["filter"] = new JsonObject() }))["count"]!);
    }

    [Fact]
    public async Task Release_used_by_another_item_is_not_rejected()
    {
        var one = await _sonarr.GrabAsync(Film(1).ToNzb(), "Show.S01E01");
        var two = await _sonarr.GrabAsync(Film(1).ToNzb(), "Show.S01E01");

        await _sonarr.DeleteItemAsync(one);
        Assert.Empty(await _server.ListAsync("history?inNoLibrary=true"));
        await _sonarr.DeleteItemAsync(two);

        Assert.Equal(2, (await _server.ListAsync("history?inNoLibrary=true")).Count);
    }

    private static MockRelease Film(ulong seed) => new($"rel{seed}", seed, [new MockFile { Name = "film.mkv", Size = 60_000, ArticleSize = 20_000 }]);

    private static async Task WaitForAsync(Func<Task<bool>> condition)
    {
        while (!await condition())
            await Task.Delay(TimeSpan.FromMilliseconds(50), TimeProvider.System, Token);
    }

    private async Task<IEnumerable<string>> ArchiveAsync() =>
        ArrParser.ReadHistory(await _server.Host.CallAsync("mode=history&archive=1", Token)).Select(item => item.Title);

    /// <summary>Returns name, result and folder of each item of the history page, the newest first.</summary>
    private async Task<IReadOnlyList<string>> PageAsync() =>
        [.. (await _server.ListAsync("history")).Select(row => $"{row["name"]} {row["result"]} {(string?)row["path"] ?? "-"}")];
}
