using System.Net;
using System.Net.Http.Headers;
using Sluice.Server.FamilyImport;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>Imports of data folders written by InfiniDysk and nzbdav (CFG-40 to CFG-42, IMP-36).</summary>
public sealed class PeerLibraryTests(PeerLibrary library) : IClassFixture<PeerLibrary>
{
    private const int Tail = 10_000;

    // Without a password, or without its check value, nzbdav lists the encrypted bytes.
    private static readonly HashSet<string> Encrypted = ["locked", "rar5-encrypted-unchecked"];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("infinidysk-1.2.3-unplayed")]
    [InlineData("infinidysk-1.2.3-played")]
    public async Task Every_InfiniDysk_link_plays_or_explains_why_not(string name)
    {
        using var folder = new TemporaryFolder();
        var files = library.Unpack(name, folder);
        await using var server = await ImportingServer.StartAsync(folder, imports: true);
        await server.WaitAsync("finished");

        await AssertAllAsync(server, files);
    }

    [Theory]
    [InlineData("nzbdav-0.6.4")]
    [InlineData("nzbdav-0.5.38")]
    public async Task Every_nzbdav_link_still_plays(string name)
    {
        using var folder = new TemporaryFolder();
        var files = library.Unpack(name, folder);
        await using var server = await ImportingServer.StartAsync(folder, imports: true);
        await server.WaitAsync("finished");

        await AssertListedAsync(server, files);
        await Task.WhenAll(AssertCutAsync(server, files), AssertPlaysAsync(server, [.. files.Where(file => !Encrypted.Contains(PeerLibrary.ReleaseOf(file).Title))]));
        var gone = Assert.Single(files, file => PeerReleases.Gone.Contains(PeerLibrary.ReleaseOf(file).Title));
        Assert.Equal(HttpStatusCode.Gone, (await ReadAsync(server, gone)).Status);
        foreach (var file in files.Where(file => Encrypted.Contains(PeerLibrary.ReleaseOf(file).Title)))
        {
            var (status, bytes, isCut) = await ReadAsync(server, file);
            Assert.Equal((file.Path, HttpStatusCode.OK, file.Length, false), (file.Path, status, bytes.Length, isCut));
        }
    }

    [Theory]
    [InlineData("infinidysk-1.2.3-unplayed")]
    [InlineData("infinidysk-1.2.3-played")]
    public async Task Restarts_midway_leave_every_film_unchanged(string name)
    {
        using var folder = new TemporaryFolder();
        var files = library.Unpack(name, folder);
        await using (var server = await ImportingServer.StartAsync(folder, imports: true))
        {
            while ((long)(await server.RowsAsync())["release"]! < files.Count / 2)
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        }

        await using (var server = await ImportingServer.StartAsync(folder, imports: true))
        {
            await server.WaitAsync("finished");
            var all = await WaitingAsync(server);
            while (await WaitingAsync(server) > all / 2)
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        }

        await using var next = await ImportingServer.StartAsync(folder, imports: false);
        await AssertAllAsync(next, files);
    }

    [Theory]
    [InlineData("infinidysk-1.2.3-unplayed-moved", 23)]
    [InlineData("infinidysk-1.2.3-played-moved", 1)]
    public async Task Migration_by_the_previous_version_is_repaired(string name, int leftOut)
    {
        using var folder = new TemporaryFolder();
        var files = library.Unpack(name, folder);
        await using var server = await ImportingServer.StartAsync(folder, imports: false, provider: library.Mock);
        var store = server.Get<FamilyImportStore>();
        Assert.Equal(leftOut, (await store.FindAsync(Token))!.Report.LeftTotal);
        while (!(await store.FindAsync(Token))!.IsHealed)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        await AssertAllAsync(server, files);
    }

    [Theory]
    [InlineData("infinidysk-1.2.3-unplayed")]
    [InlineData("infinidysk-1.2.3-played")]
    public async Task Opening_a_film_in_the_background_requests_few_articles(string name)
    {
        using var folder = new TemporaryFolder();
        var files = library.Unpack(name, folder);
        library.Mock.Reset();
        await using var server = await ImportingServer.StartAsync(folder, imports: true);
        await server.WaitAsync("finished");
        await WaitUntilOpenedAsync(server);

        foreach (var release in files.Select(PeerLibrary.ReleaseOf).Distinct())
            Assert.True(library.BodiesOf(release) <= MostArticles(release), $"{release.Title}: {library.BodiesOf(release)} articles for {release.Files.Count} posted files");
    }

    /// <summary>A few articles predict a set. Encrypted headers and random names cannot be predicted, so each post's first article is read.</summary>
    private static int MostArticles(MockRelease release) =>
        release.Title.Contains("headers", StringComparison.Ordinal) || release.Title.Contains("par2", StringComparison.Ordinal)
            ? (release.Files.Count * 2) + 4
            : 6;

    private static Task<int> WaitingAsync(ImportingServer server) => server.Get<ReleaseOpenings>().CountWaitingAsync(Token);

    private static async Task WaitUntilOpenedAsync(ImportingServer server)
    {
        while (await WaitingAsync(server) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    /// <summary>Checks that each file has its old id, path, length and link.</summary>
    private async Task AssertListedAsync(ImportingServer server, IReadOnlyList<PeerFile> files)
    {
        Assert.NotEmpty(files);
        foreach (var file in files)
        {
            foreach (var path in (string[])[IdPath.Of(file.Id), $"content/{file.Path}"])
            {
                using var head = await server.GetTreeAsync("/" + Uri.EscapeDataString(path).Replace("%2F", "/", StringComparison.Ordinal), HttpMethod.Head);
                Assert.Equal((path, HttpStatusCode.OK, file.Length), (path, head.StatusCode, head.Content.Headers.ContentLength));
            }

            // The release of a failed item is not offered to Sonarr.
            if (library.SentenceOf(file).Length > 0)
                continue;
            using var link = await server.GetTreeAsync($"/completed-symlinks/{file.Path}.rclonelink");
            Assert.Equal($"{OldServer.Mount}/{IdPath.Of(file.Id)}", await link.Content.ReadAsStringAsync(Token));
        }
    }

    private async Task AssertAllAsync(ImportingServer server, IReadOnlyList<PeerFile> files)
    {
        await AssertListedAsync(server, files);
        // The retry of a corrupt article waits, so the other films are read at the same time.
        await Task.WhenAll(AssertCutAsync(server, files), AssertPlaysAsync(server, files));
        await AssertRefusedAsync(server, files);
    }

    /// <summary>Checks the last bytes and then all bytes of each film that can be imported.</summary>
    private async Task AssertPlaysAsync(ImportingServer server, IReadOnlyList<PeerFile> files)
    {
        foreach (var file in files.Where(file => library.SentenceOf(file).Length == 0 && !PeerReleases.Damaged.Contains(PeerLibrary.ReleaseOf(file).Title)))
        {
            var truth = PeerLibrary.TruthOf(file);
            var from = Math.Max(0, truth.Length - Tail);
            var (tail, whole) = (await ReadAsync(server, file, from), await ReadAsync(server, file));
            // An unexpected volume size ends the first read, and the set is opened again.
            while (whole.IsCut && PeerReleases.HasUnforeseenVolume(PeerLibrary.ReleaseOf(file)))
                whole = await ReadAsync(server, file);
            Assert.Equal((file.Path, HttpStatusCode.PartialContent, false), (file.Path, tail.Status, tail.IsCut));
            Assert.True(tail.Bytes.AsSpan().SequenceEqual(truth.AsSpan(from)), $"{file.Path} differs at its end");
            Assert.Equal((file.Path, HttpStatusCode.OK, false), (file.Path, whole.Status, whole.IsCut));
            Assert.True(whole.Bytes.AsSpan().SequenceEqual(truth), $"{file.Path} differs");
        }
    }

    /// <summary>Checks that a film with a damaged article is right before and after it, and that the response is aborted there.</summary>
    private static async Task AssertCutAsync(ImportingServer server, IReadOnlyList<PeerFile> files)
    {
        foreach (var file in files.Where(file => PeerReleases.Damaged.Contains(PeerLibrary.ReleaseOf(file).Title)))
        {
            var truth = PeerLibrary.TruthOf(file);
            var (tail, whole) = (await ReadAsync(server, file, truth.Length - Tail), await ReadAsync(server, file));
            Assert.Equal((file.Path, HttpStatusCode.PartialContent, false), (file.Path, tail.Status, tail.IsCut));
            Assert.Equal(truth[^Tail..], tail.Bytes);
            Assert.Equal((file.Path, HttpStatusCode.OK, true), (file.Path, whole.Status, whole.IsCut));
            Assert.Equal(truth[..whole.Bytes.Length], whole.Bytes);
        }
    }

    /// <summary>Reads a file by its old id.</summary>
    private static async Task<(HttpStatusCode Status, byte[] Bytes, bool IsCut)> ReadAsync(ImportingServer server, PeerFile file, long? from = null)
    {
        using var answer = await server.GetTreeAsync("/" + IdPath.Of(file.Id), HttpMethod.Get, from is null ? null : new RangeHeaderValue(from, null), HttpCompletionOption.ResponseHeadersRead);
        var read = new MemoryStream();
        try
        {
            await answer.Content.CopyToAsync(read, Token);
            return (answer.StatusCode, read.ToArray(), false);
        }
        catch (HttpRequestException)
        {
            return (answer.StatusCode, read.ToArray(), true);
        }
    }

    /// <summary>Checks that a read of any other film and its item have the error of an import of the NZB.</summary>
    private async Task AssertRefusedAsync(ImportingServer server, IReadOnlyList<PeerFile> files)
    {
        foreach (var file in files.Where(file => library.SentenceOf(file).Length > 0))
        {
            using var answer = await server.GetTreeAsync("/" + IdPath.Of(file.Id));
            Assert.Equal((file.Path, HttpStatusCode.Gone, library.SentenceOf(file)), (file.Path, answer.StatusCode, (await answer.Content.ReadAsStringAsync(Token)).Trim()));
            var history = await server.CallAsync($"mode=history&nzo_ids={file.Item}&apikey={OldServer.ApiKey}");
            var slot = Assert.Single(history["history"]!["slots"]!.AsArray())!;
            Assert.Equal(("Failed", library.SentenceOf(file)), (slot["status"]!.GetValue<string>(), slot["fail_message"]!.GetValue<string>()));
        }

        var refused = files.Where(file => library.SentenceOf(file).Length > 0).Select(file => (file.Path, library.SentenceOf(file)));
        var report = await server.ReportAsync();
        var left = report["left"]!.AsArray().Select(thing => (thing!["name"]!.GetValue<string>(), thing["reason"]!.GetValue<string>()));
        Assert.Equal(refused.Order(), left.Order());
        var counted = report["counts"]!.AsArray().Single(count => count!["kind"]!.GetValue<string>() == "files")!;
        Assert.Equal((files.Count, files.Count - refused.Count()), ((int)counted["found"]!, (int)counted["taken"]!));
    }
}
