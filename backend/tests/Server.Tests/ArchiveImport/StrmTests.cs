using Dapper;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>Releases as <c>.strm</c> files: IMP-73, DAV-82.</summary>
public sealed class StrmTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Completed => Path.Combine(_folder.Root, "completed");

    private string Library => Path.Combine(_folder.Root, "library");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Strm_file_links_to_the_film_and_history_shows_its_folder()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var release = Post(mock);

        var slot = await host.WaitForHistoryAsync((await host.AddAsync(release.ToNzb(), "Some.Film.nzb", Token, "&cat=movies"))[0], Token);

        Assert.Equal($"{Completed}/movies/Some.Film", slot.GetProperty("storage").GetString());
        Assert.Equal(["Extras/extra.strm", "film.strm"], Below(Path.Combine(Completed, "movies", "Some.Film")));
        Assert.Equal(["Extras/extra.strm", "film.strm"], Below(Path.Combine(Library, "movies", "Some.Film")));
        var address = await File.ReadAllTextAsync(Path.Combine(Completed, "movies", "Some.Film", "film.strm"), Token);
        Assert.StartsWith("http://film.example/view/.ids/", address, StringComparison.Ordinal);
        Assert.EndsWith("&extension=mkv", address, StringComparison.Ordinal);
        var film = await host.Client.GetByteArrayAsync(new Uri(address["http://film.example".Length..], UriKind.Relative), Token);
        var truth = new byte[release.Entries[0].Bytes.Length];
        release.Entries[0].Bytes.Fill(0, truth);
        Assert.True(truth.AsSpan().SequenceEqual(film));
    }

    [Fact]
    public async Task NZB_added_again_gets_a_strm_folder_but_no_library_folder()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var nzb = Post(mock).ToNzb();

        await host.WaitForHistoryAsync((await host.AddAsync(nzb, "Some.Film.nzb", Token, "&cat=movies"))[0], Token);
        var slot = await host.WaitForHistoryAsync((await host.AddAsync(nzb, "Some.Film.nzb", Token, "&cat=movies"))[0], Token);

        Assert.Equal($"{Completed}/movies/Some.Film (2)", slot.GetProperty("storage").GetString());
        Assert.Equal(
            await File.ReadAllTextAsync(Path.Combine(Completed, "movies", "Some.Film", "film.strm"), Token),
            await File.ReadAllTextAsync(Path.Combine(Completed, "movies", "Some.Film (2)", "film.strm"), Token));
        Assert.Equal(["Some.Film"], Directory.GetDirectories(Path.Combine(Library, "movies")).Select(Path.GetFileName));
    }

    [Fact]
    public async Task NZB_added_again_restores_only_deleted_library_files()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var nzb = Post(mock).ToNzb();
        await host.WaitForHistoryAsync((await host.AddAsync(nzb, "Some.Film.nzb", Token, "&cat=movies"))[0], Token);
        var folder = Path.Combine(Library, "movies", "Some.Film");
        var film = await File.ReadAllTextAsync(Path.Combine(folder, "film.strm"), Token);
        File.Delete(Path.Combine(folder, "film.strm"));
        await File.WriteAllTextAsync(Path.Combine(folder, "Extras", "extra.strm"), "of the user", Token);

        await host.WaitForHistoryAsync((await host.AddAsync(nzb, "Other.Name.nzb", Token, "&cat=movies"))[0], Token);

        Assert.Equal(film, await File.ReadAllTextAsync(Path.Combine(folder, "film.strm"), Token));
        Assert.Equal("of the user", await File.ReadAllTextAsync(Path.Combine(folder, "Extras", "extra.strm"), Token));
        Assert.Equal(["Some.Film"], Directory.GetDirectories(Path.Combine(Library, "movies")).Select(Path.GetFileName));
    }

    [Fact]
    public async Task Strm_folder_of_an_archived_item_is_never_reused()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var nzb = Post(mock).ToNzb();
        async Task<string?> StorageAsync(byte[] added) => (await host.WaitForHistoryAsync((await host.AddAsync(added, "Some.Film.nzb", Token, "&cat=movies"))[0], Token)).GetProperty("storage").GetString();
        await StorageAsync(nzb);
        Assert.Equal($"{Completed}/movies/Some.Film (2)", await StorageAsync(nzb));
        await host.CallAsync("mode=history&name=delete&value=all", Token);

        // The files of the second item still exist, so its folder name is taken.
        Assert.Equal($"{Completed}/movies/Some.Film (3)", await StorageAsync(Post(mock, 201).ToNzb()));
        Assert.Equal($"{Completed}/movies/Some.Film", await StorageAsync(nzb));
    }

    [Fact]
    public async Task Finished_item_keeps_its_folder_if_the_strategy_changes()
    {
        await using var mock = await MockServer.StartAsync();
        string strm;
        await using (var host = await StartAsync(mock))
        {
            strm = (await host.AddAsync(Post(mock).ToNzb(), "Some.Film.nzb", Token, "&cat=movies"))[0];
            await host.WaitForHistoryAsync(strm, Token);
        }

        await using (var host = await ProductHost.StartAsync(_folder, mock))
        {
            var link = (await host.AddAsync(Post(mock).ToNzb(), "Other.Film.nzb", Token, "&cat=tv"))[0];
            Assert.Equal("/mnt/sluice/completed-symlinks/tv/Other.Film", (await host.WaitForHistoryAsync(link, Token)).GetProperty("storage").GetString());
            Assert.Equal($"{Completed}/movies/Some.Film", (await host.WaitForHistoryAsync(strm, Token)).GetProperty("storage").GetString());
        }

        await using (var host = await StartAsync(mock))
        {
            var slots = (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots").EnumerateArray();
            Assert.Equal(["/mnt/sluice/completed-symlinks/tv/Other.Film", $"{Completed}/movies/Some.Film"], slots.Select(slot => slot.GetProperty("storage").GetString()));
        }
    }

    [Theory]
    [InlineData(false, false, true)]
    [InlineData(true, false, false)]
    [InlineData(false, true, false)]
    public async Task Deleted_release_is_rejected_only_while_its_strm_files_exist(bool isMoved, bool hasLibrary, bool isRejected)
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock, ("SLUICE_CONFIG__API__ALSO_CREATE_STRM", hasLibrary ? "true" : "false"));
        var id = (await host.AddAsync(Post(mock).ToNzb(), "Some.Film.nzb", Token, "&cat=movies"))[0];
        await host.WaitForHistoryAsync(id, Token);
        if (isMoved)
            File.Move(Path.Combine(Completed, "movies", "Some.Film", "film.strm"), Path.Combine(_folder.Root, "film.strm"));

        await host.CallAsync($"mode=history&name=delete&value={id}&del_files=1&archive=1", Token);

        Assert.Equal(isRejected, (await host.Get<HistoryStore>().FindAsync(id, Token))!.IsRejected);
    }

    [Fact]
    public async Task Removing_a_release_deletes_its_strm_files_and_folder()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock, ("SLUICE_CONFIG__API__ALSO_CREATE_STRM", "false"));
        var nzb = Post(mock).ToNzb();
        var ids = new[] { (await host.AddAsync(nzb, "Some.Film.nzb", Token, "&cat=movies"))[0], (await host.AddAsync(nzb, "Other.Name.nzb", Token, "&cat=movies"))[0] };
        foreach (var id in ids)
            await host.WaitForHistoryAsync(id, Token);

        await RemoveAsync(host, ids);

        Assert.Empty(Directory.EnumerateFileSystemEntries(Path.Combine(Completed, "movies")));
    }

    [Fact]
    public async Task Removed_release_keeps_files_changed_or_moved_by_a_user()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock, ("SLUICE_CONFIG__API__ALSO_CREATE_STRM", "false"));
        var id = (await host.AddAsync(Post(mock).ToNzb(), "Some.Film.nzb", Token, "&cat=movies"))[0];
        var other = (await host.AddAsync(Post(mock, 201).ToNzb(), "Other.Film.nzb", Token, "&cat=movies"))[0];
        await host.WaitForHistoryAsync(id, Token);
        await host.WaitForHistoryAsync(other, Token);
        var folder = Path.Combine(Completed, "movies", "Some.Film");
        var copy = Path.Combine(_folder.Root, "film.strm");
        File.Copy(Path.Combine(folder, "film.strm"), copy);
        await File.AppendAllTextAsync(Path.Combine(folder, "Extras", "extra.strm"), "\n", Token);
        await File.WriteAllTextAsync(Path.Combine(folder, "notes.strm"), "of the user", Token);

        await RemoveAsync(host, id);

        Assert.Equal(["Extras/extra.strm", "notes.strm"], Below(folder));
        Assert.True(File.Exists(copy));
        Assert.Equal(["Extras/extra.strm", "film.strm"], Below(Path.Combine(Completed, "movies", "Other.Film")));
    }

    [Fact]
    public async Task Unwritable_strm_folder_makes_the_release_wait()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock);
        var release = Post(mock);
        // A file occupies the path of the folder.
        await File.WriteAllTextAsync(Completed, "", Token);

        var id = (await host.AddAsync(release.ToNzb(), "Some.Film.nzb", Token, "&cat=movies"))[0];
        await host.WaitForWaitingAsync(id, Token);

        Assert.Null(await host.Get<HistoryStore>().FindAsync(id, Token));
        File.Delete(Completed);
        host.Get<Sluice.Server.Queue.QueueSchedule>().RetryAll();
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
        Assert.Equal(["Extras/extra.strm", "film.strm"], Below(Path.Combine(Completed, "movies", "Some.Film")));
    }

    [Theory]
    [InlineData(null, 0b110_100_100, 0b111_101_101)]
    [InlineData("027", 0b110_100_000, 0b111_101_000)]
    [InlineData("rw", 0b110_100_100, 0b111_101_101)]
    public async Task Strm_files_and_new_folders_respect_the_umask(string? umask, int file, int folder)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "needs modes");
        Directory.CreateDirectory(Library);
        Startup.Unprivileged.SetMode(Library, 0b111_000_000);
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock, ("UMASK", umask ?? ""));

        await host.WaitForHistoryAsync((await host.AddAsync(Post(mock).ToNzb(), "Some.Film.nzb", Token, "&cat=movies"))[0], Token);

        Assert.Equal(file, Startup.Unprivileged.ModeOf(Path.Combine(Completed, "movies", "Some.Film", "Extras", "extra.strm")));
        Assert.Equal(file, Startup.Unprivileged.ModeOf(Path.Combine(Completed, "movies", "Some.Film", "film.strm")));
        foreach (var path in (string[])["", "movies", "movies/Some.Film", "movies/Some.Film/Extras"])
            Assert.Equal(folder, Startup.Unprivileged.ModeOf(Path.Combine(Completed, path)));
        Assert.Equal(0b111_000_000, Startup.Unprivileged.ModeOf(Library));
    }

    /// <summary>Rejects a release as a program does, removes it, and waits until the removal can no longer be undone.</summary>
    private static async Task RemoveAsync(ProductHost host, params string[] ids)
    {
        await host.CallAsync($"mode=history&name=delete&value={string.Join(',', ids)}&del_files=1&archive=1", Token);
        var numbers = new List<long>();
        foreach (var id in ids)
            numbers.Add((await host.Get<HistoryStore>().FindAsync(id, Token))!.Number);
        var undo = host.Get<UndoWorker>();
        Assert.Equal(1, (await undo.RemoveReleasesAsync(numbers, Token))?.Count);
        await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("UPDATE removal SET until = 1"), Token);
        // Any call wakes the worker.
        await undo.RemoveReleasesAsync([], Token);
        while (await host.Get<SluiceDatabase>().ReadAsync(
            connection => connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM removal) OR EXISTS (SELECT 1 FROM removed_strm_folder)"), Token))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    private Task<ProductHost> StartAsync(MockServer mock, params (string Name, string Value)[] variables) => ProductHost.StartAsync(
        _folder,
        mock,
        null,
        [("SLUICE_CONFIG__GENERAL__BASE_URL", "http://film.example"),
        ("SLUICE_CONFIG__API__IMPORT_STRATEGY", "strm"),
        ("SLUICE_CONFIG__API__COMPLETED_DOWNLOADS_DIR", Completed),
        ("SLUICE_CONFIG__API__ALSO_CREATE_STRM", "true"),
        ("SLUICE_CONFIG__API__STRM_LIBRARY_DIR", Library),
        .. variables]);

    private static MockRelease Post(MockServer mock, ulong seed = 200)
    {
        var layout = new ArchiveLayout
        {
            Format = LayoutFormat.Rar5,
            Entries = [new LayoutEntry("film.mkv", 300_000), new LayoutEntry("Extras/extra.mkv", 90_000), new LayoutEntry("film.srt", 4000)],
            Volumes = 3,
        };
        var release = new ReleaseBuilder("Some.Film", seed, 20_000).AddArchive(layout).Build();
        mock.Post(release);
        return release;
    }

    private static IEnumerable<string> Below(string folder) =>
        Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories).Select(path => Path.GetRelativePath(folder, path)).Order(StringComparer.Ordinal);
}
