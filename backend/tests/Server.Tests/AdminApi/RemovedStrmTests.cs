using System.Net;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The <c>.strm</c> files of removed films disappear, and return with them (HLT-60, HLT-61).</summary>
public sealed class RemovedStrmTests : IAsyncLifetime
{
    private const string FirstAddress = "http://film.example";

    private readonly TemporaryFolder _folder = new();
    private readonly ManualTimeProvider _time = new();

    private MockServer _mock = null!;
    private JobServer _server = null!;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Completed => Path.Combine(_folder.Root, "completed");

    private string Library => Path.Combine(_folder.Root, "library");

    public async ValueTask InitializeAsync()
    {
        _mock = await MockServer.StartAsync();
        _server = await StartAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        await _mock.DisposeAsync();
        _folder.Dispose();
    }

    [Theory]
    [InlineData("movies/Rel", false)]
    [InlineData("movies/Rel", true)]
    [InlineData("movies/Rel/a.mkv", false)]
    public async Task Strm_files_are_removed_and_restored_with_their_films(string path, bool isRestarted)
    {
        await ImportAsync("Rel", 1, "a.mkv", "Extras/b.mkv");
        await ImportAsync("Other", 2, "c.mkv");
        var before = Strm();
        Assert.Equal(6, before.Count);

        var removed = await RemoveAsync(path);
        await SettledAsync();

        Assert.Equal(before.Where(file => !IsOf(path, file.Key)), Strm());
        Assert.Equal(path.EndsWith(".mkv", StringComparison.Ordinal), Directory.Exists(Path.Combine(Completed, "movies", "Rel")));
        if (isRestarted)
        {
            await _server.DisposeAsync();
            _server = await StartAsync();
        }

        await UndoAsync(removed);
        await SettledAsync();

        Assert.Equal(before, Strm());
    }

    [Fact]
    public async Task Strm_files_of_a_user_or_an_importer_are_left_alone()
    {
        await ImportAsync("Rel", 1, "a.mkv", "b.mkv", "c.mkv");
        var folder = Path.Combine(Completed, "movies", "Rel");
        // An importer has moved the first file, and a user has changed the second.
        File.Move(Path.Combine(folder, "a.strm"), Path.Combine(_folder.Root, "a.strm"));
        await File.AppendAllTextAsync(Path.Combine(folder, "b.strm"), "\n", Token);
        await File.WriteAllTextAsync(Path.Combine(folder, "notes.strm"), "of the user", Token);
        var before = Strm();

        var removed = await RemoveAsync("movies/Rel");
        await SettledAsync();
        Assert.Equal(["b.strm", "notes.strm"], Directory.GetFiles(folder).Select(Path.GetFileName).Order(StringComparer.Ordinal));
        Assert.True(File.Exists(Path.Combine(_folder.Root, "a.strm")));
        // Another file takes a name meanwhile.
        await File.WriteAllTextAsync(Path.Combine(folder, "c.strm"), "of another film", Token);
        await UndoAsync(removed);
        await SettledAsync();

        var after = Strm();
        Assert.Equal("of another film", after["completed/movies/Rel/c.strm"]);
        Assert.Equal(before["completed/movies/Rel/c.strm"], after["completed/movies/Rel/c (2).strm"]);
        Assert.False(after.ContainsKey("completed/movies/Rel/a.strm"));
        Assert.Equal(before.Keys.Append("completed/movies/Rel/c (2).strm").Order(StringComparer.Ordinal), after.Keys);
    }

    [Fact]
    public async Task Strm_files_are_restored_even_without_their_history_item()
    {
        var id = await ImportAsync("Rel", 1, "a.mkv");
        var before = Strm();
        await _server.SendAsync(HttpMethod.Delete, "files", new JsonObject { ["history"] = new JsonObject { ["ids"] = new JsonArray(id) } });
        await WaitUntilAsync(() => Task.FromResult(_time.IsDueIn(UndoWorker.UndoTime)));
        _time.Advance(UndoWorker.UndoTime);
        await WaitUntilAsync(async () => await _server.CountAsync("removal") == 0);
        await SettledAsync();
        Assert.Empty(Strm());

        var kept = Assert.Single(await _server.ListAsync("quarantine"));
        await _server.SendAsync(HttpMethod.Post, $"quarantine/{kept["id"]}/restore");
        await SettledAsync();

        Assert.Equal(before, Strm());
    }

    [Fact]
    public async Task Strm_files_with_a_former_server_address_are_removed_too()
    {
        await ImportAsync("Rel", 1, "a.mkv");
        var before = Strm();
        await _server.DisposeAsync();
        _server = await StartAsync("https://moved.example/sluice");

        var removed = await RemoveAsync("movies/Rel");
        await SettledAsync();
        Assert.Empty(Strm());
        await UndoAsync(removed);
        await SettledAsync();

        Assert.Equal(before.Select(file => KeyValuePair.Create(file.Key, file.Value.Replace(FirstAddress, "https://moved.example/sluice", StringComparison.Ordinal))), Strm());
    }

    [Fact]
    public async Task Pending_strm_changes_complete_once_the_folder_is_back()
    {
        await ImportAsync("Rel", 1, "a.mkv");
        var before = Strm();
        // A share that is not mounted.
        Directory.Move(Completed, Completed + ".away");
        var removed = await RemoveAsync("movies/Rel");
        await WaitUntilAsync(async () => await _server.CountAsync("removed_strm") == 1 && _time.IsDueIn(RemovalTerm.Round));
        Directory.Move(Completed + ".away", Completed);
        _time.Advance(RemovalTerm.Round);
        await SettledAsync();
        Assert.Empty(Strm());

        // A file is in the way of a folder.
        Directory.Delete(Path.Combine(Completed, "movies"));
        await File.WriteAllTextAsync(Path.Combine(Completed, "movies"), "", Token);
        await UndoAsync(removed);
        await WaitUntilAsync(async () => await _server.CountAsync("removed_strm") == 1 && _time.IsDueIn(RemovalTerm.Round));
        File.Delete(Path.Combine(Completed, "movies"));
        _time.Advance(RemovalTerm.Round);
        await SettledAsync();
        Assert.Equal(before, Strm());
    }

    [Fact]
    public async Task Purge_forgets_the_strm_files()
    {
        await ImportAsync("Rel", 1, "a.mkv");
        await RemoveAsync("movies/Rel");
        await SettledAsync();
        Assert.Equal(2, await _server.CountAsync("removed_strm"));

        for (var passed = TimeSpan.Zero; passed <= RemovalTerm.Length; passed += RemovalTerm.Round)
        {
            await WaitUntilAsync(async () => _time.IsDueIn(RemovalTerm.Round) || await _server.CountAsync("library_removal") == 0);
            _time.Advance(RemovalTerm.Round);
        }

        await WaitUntilAsync(async () => await _server.CountAsync("library_removal") == 0);
        Assert.Equal(0, await _server.CountAsync("removed_strm"));
        Assert.Empty(Strm());
    }

    private static bool IsOf(string path, string strm) =>
        path == "movies/Rel" ? strm.Contains("/Rel/", StringComparison.Ordinal) : strm.EndsWith("/Rel/a.strm", StringComparison.Ordinal);

    private Task<JobServer> StartAsync(string address = FirstAddress) => JobServer.StartAsync(
        _folder,
        _mock,
        services => JobServer.UseRemovalClock(services, _time),
        ("SLUICE_CONFIG__GENERAL__BASE_URL", address),
        ("SLUICE_CONFIG__API__IMPORT_STRATEGY", "strm"),
        ("SLUICE_CONFIG__API__COMPLETED_DOWNLOADS_DIR", Completed),
        ("SLUICE_CONFIG__API__ALSO_CREATE_STRM", "true"),
        ("SLUICE_CONFIG__API__STRM_LIBRARY_DIR", Library));

    private Task<string> ImportAsync(string name, ulong seed, params string[] files) => _server.ImportAsync(name, seed, 100_000, files);

    private Task<JsonNode> RemoveAsync(string path) => _server.SendAsync(HttpMethod.Delete, "files", new JsonObject { ["paths"] = new JsonArray(path) });

    private Task<JsonNode> UndoAsync(JsonNode removed) => _server.SendAsync(HttpMethod.Post, $"undo/{removed["undo"]}", null, HttpStatusCode.NoContent);

    /// <summary>Waits until no folder is left to search and no file to write again.</summary>
    private Task SettledAsync() => WaitUntilAsync(async () => await _server.CountAsync("removed_strm_folder") == 0
        && await _server.CountAsync("removed_strm s JOIN library_file f ON f.id = s.file_id") == 0);

    private static async Task WaitUntilAsync(Func<Task<bool>> condition)
    {
        while (!await condition())
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }

    /// <summary>Every <c>.strm</c> file with its content, by its path.</summary>
    private SortedDictionary<string, string> Strm() => new(
        new[] { Completed, Library }.Where(Directory.Exists).SelectMany(root => Directory.EnumerateFiles(root, "*.strm", SearchOption.AllDirectories))
            .ToDictionary(path => Path.GetRelativePath(_folder.Root, path), File.ReadAllText),
        StringComparer.Ordinal);
}
