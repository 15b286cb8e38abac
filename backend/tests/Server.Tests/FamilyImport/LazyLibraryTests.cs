using System.Net;
using System.Net.Http.Headers;
using System.Text.Json.Nodes;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.FamilyImport;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>Films of an old server that reads RAR volumes lazily: the old map is only a hint, and the NZB decides (IMP-36).</summary>
public sealed class LazyLibraryTests(LazyLibrary library) : IClassFixture<LazyLibrary>
{
    private const int AllVolumes = int.MaxValue;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(OldShape.Compressed, 1)]
    [InlineData(OldShape.Compressed, AllVolumes)]
    [InlineData(OldShape.Blobs, 1)]
    [InlineData(OldShape.Blobs, 3)]
    [InlineData(OldShape.Blobs, AllVolumes)]
    public async Task Every_film_is_listed_and_plays_or_explains_why_not(OldShape shape, int resolved)
    {
        using var folder = new TemporaryFolder();
        using var old = Old(shape, folder, resolved);
        await using var server = await ImportingServer.StartAsync(folder, imports: true);
        await server.WaitAsync("finished");

        await AssertListedAsync(server);
        await AssertPlaysAsync(server);
        await AssertRefusedAsync(server);
    }

    [Fact]
    public async Task Films_not_opened_before_a_restart_are_opened_after_it()
    {
        using var folder = new TemporaryFolder();
        using var old = Old(OldShape.Blobs, folder, 1);
        await using (var server = await ImportingServer.StartAsync(folder, imports: true, WithoutOpening))
        {
            await server.WaitAsync("finished");
            await AssertListedAsync(server);
            Assert.Equal(library.Films.Count, await WaitingAsync(server));
        }

        await using var next = await ImportingServer.StartAsync(folder, imports: false);
        while (await WaitingAsync(next) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        await AssertPlaysAsync(next);
        await AssertRefusedAsync(next);
    }

    [Theory]
    [InlineData("rar5-140-volumes", 137)]
    [InlineData("rar5-old-names", 9)]
    public async Task Opening_in_the_background_costs_few_articles(string layout, int predicted)
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(OldShape.Blobs, folder);
        old.Add(LazyLibrary.Played(Film(layout), 1));
        old.AddSetting("usenet.providers", ProductHost.ProvidersJson(library.Mock));
        old.Leave();
        var before = library.Mock.Stats.CommandCount("BODY");
        await using var server = await ImportingServer.StartAsync(folder, imports: true);
        await server.WaitAsync("finished");
        while (await WaitingAsync(server) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        Assert.InRange(library.Mock.Stats.CommandCount("BODY") - before, 1, 8);
        var posted = await PostedAsync(server, Film(layout));
        Assert.Equal(predicted, posted.Count(file => file.Predicted is not null));
        Assert.All(posted, file => Assert.False(file.IsEstimate));
    }

    [Fact]
    public async Task Library_without_kept_NZBs_is_opened_from_message_ids()
    {
        using var folder = new TemporaryFolder();
        using var old = new OldServer(OldShape.Json, folder);
        var film = Film("rar5");
        old.Add(LazyLibrary.Played(film, 2) with { Nzb = null! });
        old.AddSetting("usenet.providers", ProductHost.ProvidersJson(library.Mock));
        old.AddSetting("webdav.user", OldServer.User);
        old.AddSetting("webdav.pass", OldServer.Identity(OldServer.Password));
        old.Leave();
        await using var server = await ImportingServer.StartAsync(folder, imports: true);
        await server.WaitAsync("finished");

        await AssertEqualAsync(server, film.File);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(AllVolumes)]
    public async Task Import_by_an_earlier_version_is_repaired_at_the_next_start(int resolved)
    {
        using var folder = new TemporaryFolder();
        using var old = Old(OldShape.Blobs, folder, resolved);
        Dictionary<Guid, EntityTagHeaderValue?> tags;
        await using (var server = await ImportingServer.StartAsync(folder, imports: true, WithoutOpening))
        {
            await server.WaitAsync("finished");
            tags = await AssertListedAsync(server);
            await (resolved == 1 ? LeaveOutAsync(server) : BelieveAsync(server));
        }

        await using var next = await ImportingServer.StartAsync(folder, imports: false);
        while ((await next.Get<FamilyImportStore>().FindAsync(Token))!.IsHealed == false)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        Assert.Equal(tags, await AssertListedAsync(next));
        await AssertPlaysAsync(next);
        await AssertRefusedAsync(next);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Added_NZB_opens_the_imported_release_it_shares(bool isBelieved)
    {
        using var folder = new TemporaryFolder();
        using var old = Old(OldShape.Blobs, folder, isBelieved ? AllVolumes : 1);
        await using var server = await ImportingServer.StartAsync(folder, imports: true, WithoutOpening);
        await server.WaitAsync("finished");
        var film = Film("rar5");
        var release = (await server.Get<LibraryStore>().FindByIdAsync(film.File.Id, Token))!.File.Release;
        if (isBelieved)
            await BelieveAsync(server);
        else
            await RefuseAsync(server, release);

        var storage = await AddAsync(server, film);

        Assert.Equal($"{OldServer.Mount}/completed-symlinks/tv/{film.Row.Name} (2)", storage);
        Assert.Equal(1, await server.Get<SluiceDatabase>().ReadAsync(
            connection => connection.ExecuteScalar<int>("SELECT count(*) FROM release WHERE nzb_hash = @NzbHash", release), Token));
        Assert.All(await PostedAsync(server, film), file => Assert.False(file.IsEstimate));
        Assert.Empty(await server.Get<ReleaseOpenings>().ListRefusedAsync(Token));
        await AssertEqualAsync(server, film.File);
        var first = await server.CallAsync($"mode=history&nzo_ids={film.Row.Item}&apikey={OldServer.ApiKey}");
        Assert.Equal("Completed", first["history"]!["slots"]![0]!["status"]!.GetValue<string>());
    }

    [Fact]
    public async Task Interrupted_repair_ends_with_all_items_and_the_right_report()
    {
        using var folder = new TemporaryFolder();
        var twice = Film("rar4").Row;
        using var old = Old(OldShape.Blobs, folder, 1, server => server.AddHistory(Guid.NewGuid(), twice.Name, "tv", 1, null, twice.Folder, twice.Nzb));
        await using (var server = await ImportingServer.StartAsync(folder, imports: true, WithoutOpening))
        {
            await server.WaitAsync("finished");
            // An earlier run has added the first half without its items, and one file cannot be healed.
            await LeaveOutAsync(server, keeps: library.Films.Count / 2);
            await AsBeforeAsync(server, report => report with
            {
                LeftTotal = report.LeftTotal + 1,
                Left = [.. report.Left, new LeftThing(ImportKind.Files, "tv/Other/film.mkv", ImportTally.FormerReason)],
                Counts = [.. report.Counts.Select(count => count.Kind == ImportKind.Files ? count with { Found = count.Found + 1, Left = count.Left + 1 } : count)],
            });
        }

        await using var next = await ImportingServer.StartAsync(folder, imports: false, WithoutOpening);
        while ((await next.Get<FamilyImportStore>().FindAsync(Token))!.IsHealed == false)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        var report = (await next.Get<FamilyImportStore>().FindAsync(Token))!.Report;
        Assert.Equal(["tv/Other/film.mkv"], report.Left.Where(left => left.Kind == ImportKind.Files).Select(left => left.Name));
        var files = report.Counts.Single(count => count.Kind == ImportKind.Files);
        Assert.Equal((library.Films.Count, 1), (files.Taken, files.Left));
        Assert.Equal(0, await next.Get<SluiceDatabase>().ReadAsync(
            connection => connection.ExecuteScalar<int>("SELECT count(*) FROM history_item WHERE release_id IS NULL"), Token));
    }

    [Fact]
    public async Task Import_started_by_this_version_needs_no_repair()
    {
        using var folder = new TemporaryFolder();
        await using var server = await ImportingServer.StartAsync(folder, imports: false);
        var store = server.Get<FamilyImportStore>();

        await store.BeginAsync(DateTimeOffset.UnixEpoch, ImportReport.Nothing, Token);

        Assert.True((await store.FindAsync(Token))!.IsHealed);
    }

    [Fact]
    public async Task Password_of_a_played_film_is_kept_without_its_item()
    {
        using var folder = new TemporaryFolder();
        using var old = Old(OldShape.Blobs, folder, AllVolumes);
        await using var server = await ImportingServer.StartAsync(folder, imports: true, WithoutOpening);
        await server.WaitAsync("finished");
        var film = (await server.Get<LibraryStore>().FindByIdAsync(Film("rar5-headers").File.Id, Token))!.File;

        Assert.NotEqual("", await server.Get<ReleaseOpenings>().FindPasswordAsync(film.Release, Token));
    }

    [Fact]
    public async Task Film_removed_since_the_import_is_not_restored()
    {
        using var folder = new TemporaryFolder();
        using var old = Old(OldShape.Blobs, folder, AllVolumes);
        await using (var server = await ImportingServer.StartAsync(folder, imports: true, WithoutOpening))
        {
            await server.WaitAsync("finished");
            await BelieveAsync(server);
            await server.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("DELETE FROM release WHERE name = 'Lazy.rar5'"), Token);
        }

        await using var next = await ImportingServer.StartAsync(folder, imports: false);
        while ((await next.Get<FamilyImportStore>().FindAsync(Token))!.IsHealed == false)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        Assert.Null(await next.Get<LibraryStore>().FindByIdAsync(Film("rar5").File.Id, Token));
        Assert.NotNull(await next.Get<LibraryStore>().FindByIdAsync(Film("rar4").File.Id, Token));
    }

    [Fact]
    public async Task Played_films_are_correct_after_the_old_database_is_deleted()
    {
        using var folder = new TemporaryFolder();
        using var old = Old(OldShape.Blobs, folder, AllVolumes);
        await using (var server = await ImportingServer.StartAsync(folder, imports: true, WithoutOpening))
        {
            await server.WaitAsync("finished");
            await BelieveAsync(server);
        }

        foreach (var file in Directory.EnumerateFiles(folder.Root, "db.sqlite*"))
            File.Delete(file);
        await using var next = await ImportingServer.StartAsync(folder, imports: false);
        // A volume of one article has no neighbors to confirm its offset, so the film is opened again while the reader retries.
        foreach (var film in library.Films.Where(film => film.Sentence.Length == 0))
        {
            while (!await IsCompleteAsync(next, film.File))
                await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        }

        await AssertPlaysAsync(next);
    }

    /// <summary>Reads a film and returns whether it is complete. Checks the bytes before an abort.</summary>
    private static async Task<bool> IsCompleteAsync(ImportingServer server, OldFile file)
    {
        using var answer = await server.GetTreeAsync("/" + IdPath.Of(file.Id), HttpCompletionOption.ResponseHeadersRead);
        if (answer.StatusCode == HttpStatusCode.ServiceUnavailable)
            return false;
        Assert.Equal((file.Name, HttpStatusCode.OK), (file.Name, answer.StatusCode));
        var (truth, read) = (file.Truth.ToArray(), new MemoryStream());
        try
        {
            await answer.Content.CopyToAsync(read, Token);
        }
        catch (Exception e) when (e is HttpRequestException or IOException)
        {
            // The server aborts the response if the bytes contradict the map.
        }

        Assert.Equal(truth[..(int)read.Length], read.ToArray());
        return read.Length == truth.Length;
    }

    /// <summary>Creates an old data folder with all films; the old server has read this number of volumes of each.</summary>
    private OldServer Old(OldShape shape, TemporaryFolder folder, int resolved, Action<OldServer>? add = null)
    {
        var old = new OldServer(shape, folder);
        add?.Invoke(old);
        foreach (var film in library.Films)
            old.Add(LazyLibrary.Played(film, resolved));
        old.AddSetting("usenet.providers", ProductHost.ProvidersJson(library.Mock));
        old.AddSetting("api.key", OldServer.ApiKey);
        old.AddSetting("webdav.user", OldServer.User);
        old.AddSetting("webdav.pass", OldServer.Identity(OldServer.Password));
        old.AddSetting("rclone.mount-dir", OldServer.Mount);
        old.Leave();
        return old;
    }

    /// <summary>Adds the NZB of a film again and returns the storage of its new item.</summary>
    private static async Task<string> AddAsync(ImportingServer server, LazyFilm film)
    {
        using var form = new MultipartFormDataContent { { new ByteArrayContent(film.Row.Nzb), "name", film.Row.Name + ".nzb" } };
        using var answer = await server.Client.PostAsync(new Uri($"/api?mode=addfile&cat=tv&output=json&apikey={OldServer.ApiKey}", UriKind.Relative), form, Token);
        var id = JsonNode.Parse(await answer.Content.ReadAsStringAsync(Token))!["nzo_ids"]![0]!.GetValue<string>();
        while (true)
        {
            var history = await server.CallAsync($"mode=history&nzo_ids={id}&apikey={OldServer.ApiKey}");
            if (history["history"]!["slots"]!.AsArray() is [{ } slot])
                return slot["storage"]!.GetValue<string>();
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        }
    }

    /// <summary>Marks a release as failed, as if no provider had had its articles.</summary>
    private static Task<bool> RefuseAsync(ImportingServer server, Release release) => server.Get<SluiceDatabase>().WriteAsync(
        connection =>
        {
            server.Get<ReleaseOpenings>().Settle(connection, release, "refused");
            HistoryStore.SetFailure(connection, release.Id, ImportFailure.NoMedia());
            return true;
        },
        Token);

    private LazyFilm Film(string layout) => library.Films.Single(film => film.Row.Name == "Lazy." + layout);

    private static void WithoutOpening(IServiceCollection services) => services.Remove(services.Single(service => service.ImplementationType == typeof(RemappingWorker)));

    private static Task<int> WaitingAsync(ImportingServer server) => server.Get<ReleaseOpenings>().CountWaitingAsync(Token);

    private static async Task<IReadOnlyList<StoredPostedFile>> PostedAsync(ImportingServer server, LazyFilm film)
    {
        var file = (await server.Get<LibraryStore>().FindByIdAsync(film.File.Id, Token))!.File;
        return await server.Get<LibraryStore>().GetPostedFilesAsync(file.Release.Id, 0, int.MaxValue, Token);
    }

    /// <summary>Checks that each film has its old id, length and link, before any of its bytes has been read.</summary>
    private async Task<Dictionary<Guid, EntityTagHeaderValue?>> AssertListedAsync(ImportingServer server)
    {
        var tags = new Dictionary<Guid, EntityTagHeaderValue?>();
        foreach (var film in library.Films)
        {
            using var answer = await server.GetTreeAsync("/" + IdPath.Of(film.File.Id), HttpMethod.Head);
            Assert.Equal((film.Row.Name, HttpStatusCode.OK, film.File.Truth.Length), (film.Row.Name, answer.StatusCode, answer.Content.Headers.ContentLength));
            tags.Add(film.File.Id, answer.Headers.ETag);
            using var path = await server.GetTreeAsync($"/content/tv/{film.Row.Name}/{film.File.Name}", HttpMethod.Head);
            Assert.Equal(HttpStatusCode.OK, path.StatusCode);
            // The release of a failed item is not offered to Sonarr.
            if (film.Sentence.Length > 0)
                continue;
            using var link = await server.GetTreeAsync($"/completed-symlinks/tv/{film.Row.Name}/{film.File.Name}.rclonelink");
            Assert.Equal($"{OldServer.Mount}/{IdPath.Of(film.File.Id)}", await link.Content.ReadAsStringAsync(Token));
        }

        return tags;
    }

    private async Task AssertPlaysAsync(ImportingServer server)
    {
        foreach (var film in library.Films.Where(film => film.Sentence.Length == 0))
            await AssertEqualAsync(server, film.File);
    }

    /// <summary>Checks the last bytes of a film, then all of them, and that its ETag stays the same.</summary>
    private static async Task AssertEqualAsync(ImportingServer server, OldFile file)
    {
        var (path, truth) = ("/" + IdPath.Of(file.Id), file.Truth.ToArray());
        using var head = await server.GetTreeAsync(path, HttpMethod.Head);
        using var tail = await server.GetTreeAsync(path, new RangeHeaderValue(truth.Length - 10_000, null));
        Assert.Equal((file.Name, HttpStatusCode.PartialContent), (file.Name, tail.StatusCode));
        Assert.Equal(truth[^10_000..], await tail.Content.ReadAsByteArrayAsync(Token));
        using var answer = await server.GetTreeAsync(path);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Equal(truth, await answer.Content.ReadAsByteArrayAsync(Token));
        Assert.Equal(head.Headers.ETag, answer.Headers.ETag);
    }

    /// <summary>Checks that a read, the history and the report have the error of an import of the same NZB.</summary>
    private async Task AssertRefusedAsync(ImportingServer server)
    {
        List<LazyFilm> refused = [.. library.Films.Where(film => film.Sentence.Length > 0)];
        Assert.Equal(2, refused.Count);
        foreach (var film in refused)
        {
            using var answer = await server.GetTreeAsync("/" + IdPath.Of(film.File.Id));
            Assert.Equal((HttpStatusCode.Gone, film.Sentence), (answer.StatusCode, (await answer.Content.ReadAsStringAsync(Token)).Trim()));
            var history = await server.CallAsync($"mode=history&nzo_ids={film.Row.Item}&apikey={OldServer.ApiKey}");
            var slot = Assert.Single(history["history"]!["slots"]!.AsArray())!;
            Assert.Equal(("Failed", film.Sentence), (slot["status"]!.GetValue<string>(), slot["fail_message"]!.GetValue<string>()));
        }

        var report = await server.ReportAsync();
        var left = report["left"]!.AsArray().Where(thing => thing!["kind"]!.GetValue<string>() == "files").Select(thing => (thing!["name"]!.GetValue<string>(), thing["reason"]!.GetValue<string>()));
        Assert.Equal(refused.Select(film => ($"tv/{film.Row.Name}/{film.File.Name}", film.Sentence)).Order(), left.Order());
        var files = report["counts"]!.AsArray().Single(count => count!["kind"]!.GetValue<string>() == "files")!;
        Assert.Equal((library.Films.Count, library.Films.Count - 2, 2), ((int)files["found"]!, (int)files["taken"]!, (int)files["left"]!));
    }

    /// <summary>Restores the rows of an older version, which skipped films with unread volumes.</summary>
    private async Task LeaveOutAsync(ImportingServer server, int keeps = 0)
    {
        await server.Get<SluiceDatabase>().WriteAsync(
            connection => connection.Execute("UPDATE history_item SET release_id = NULL; DELETE FROM release WHERE id NOT IN (SELECT id FROM release ORDER BY id LIMIT @keeps);", new { keeps }),
            Token);
        await AsBeforeAsync(server, report => report with
        {
            Counts = [.. report.Counts.Select(count => count.Kind == ImportKind.Files ? count with { Taken = count.Taken - library.Films.Count, Left = count.Left + library.Films.Count } : count)],
            LeftTotal = report.LeftTotal + library.Films.Count,
            Left = [.. library.Films.Select(film => new LeftThing(ImportKind.Files, $"tv/{film.Row.Name}/{film.File.Name}", ImportTally.FormerReason))],
        });
    }

    /// <summary>Restores the rows of an older version, which used encoded bytes as the lengths of volumes.</summary>
    private async Task BelieveAsync(ImportingServer server)
    {
        var store = server.Get<LibraryStore>();
        foreach (var film in library.Films)
        {
            var release = (await store.FindByIdAsync(film.File.Id, Token))!.File.Release;
            var ids = OldLibrary.IdsOf(film.Row.Nzb);
            var (posted, extents, place) = (new List<StoredPostedFile>(), new List<ContentExtent>(), 0);
            for (var ordinal = 0; ordinal < ids.Count; place += ids[ordinal++].Length)
            {
                var at = Array.FindIndex(film.File.Parts, part => part.Ids.SequenceEqual(ids[ordinal]));
                if (at < 0)
                    continue;
                var length = at == 0 ? film.File.Parts[at].Posted : film.File.Parts[at].Encoded;
                posted.Add(new StoredPostedFile(ordinal, SegmentPlaces.Range(place, ids[ordinal].Length), PartSizes.Estimate(ids[ordinal].Length, length, null)!) { IsEstimate = true });
            }

            foreach (var part in film.File.Parts)
                extents.Add(new ContentExtent(ids.FindIndex(list => list.SequenceEqual(part.Ids)), part.Offset, part.Length));
            await store.ReplaceContentsAsync(
                release, posted, new Dictionary<Guid, FileContent> { [film.File.Id] = new FileContent(extents) { Cipher = film.File.Cipher } }, Token);
        }

        await AsBeforeAsync(server, report => report);
    }

    private static async Task AsBeforeAsync(ImportingServer server, Func<ImportReport, ImportReport> change)
    {
        var store = server.Get<FamilyImportStore>();
        var begun = (await store.FindAsync(Token))!;
        await store.FinishAsync(begun.FinishedAt!.Value, change(begun.Report), Token);
        await server.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("DELETE FROM release_opening; UPDATE family_import SET healed = 0;"), Token);
    }
}
