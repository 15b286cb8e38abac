using System.Globalization;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class ImportTests : IDisposable
{
    private const int ArticleSize = 20_000;
    private const long FilmSize = 333_333;

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Plain_release_is_published_and_read_back_byte_for_byte()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var release = Release("film.mkv");

        var id = await host.AddAsync(release.ToNzb(), "Some.Release.2026.nzb", Token, "&cat=tv");
        var slot = await host.WaitForHistoryAsync(id[0], Token);

        Assert.Equal("Completed", slot.GetProperty("status").GetString());
        Assert.Equal("/mnt/sluice/completed-symlinks/tv/Some.Release.2026", slot.GetProperty("storage").GetString());
        Assert.Equal(FilmSize, slot.GetProperty("bytes").GetInt64());
        Assert.Equal(release.EncodedSize, slot.GetProperty("downloaded").GetInt64());
        Assert.Equal(0, (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("noofslots_total").GetInt32());
        var file = await FindAsync(host, "tv", "Some.Release.2026", "film.mkv");
        Assert.Equal(SumOf(release), await SumAsync(host, file));
    }

    [Fact]
    public async Task Storage_folder_in_history_leads_to_the_film()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        host.Client.DefaultRequestHeaders.Authorization =
            new("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes("admin:password-of-the-test")));
        var release = Release("film.mkv");
        var id = await host.AddAsync(release.ToNzb(), "Some.Release.2026.nzb", Token, "&cat=tv");
        var storage = (await host.WaitForHistoryAsync(id[0], Token)).GetProperty("storage").GetString()!;

        // Does the same as Sonarr: opens the folder, follows the link, then deletes the link and the folder.
        const string mount = "/mnt/sluice";
        Assert.StartsWith(mount + "/", storage, StringComparison.Ordinal);
        var link = storage[mount.Length..] + "/film.mkv.rclonelink";
        var target = await host.Client.GetStringAsync(new Uri(link, UriKind.Relative), Token);
        var film = await host.Client.GetByteArrayAsync(new Uri(target[mount.Length..], UriKind.Relative), Token);
        using var moved = await host.Client.DeleteAsync(new Uri(link, UriKind.Relative), Token);
        using var emptied = await host.Client.DeleteAsync(new Uri(storage[mount.Length..], UriKind.Relative), Token);

        Assert.Equal(SumOf(release), Convert.ToHexStringLower(SHA256.HashData(film)));
        Assert.Equal(HttpStatusCode.NoContent, moved.StatusCode);
        Assert.Equal(HttpStatusCode.NoContent, emptied.StatusCode);
        var left = await host.CallAsync($"mode=history&nzo_ids={id[0]}", Token);
        Assert.Equal(0, left.GetProperty("history").GetProperty("slots").GetArrayLength());
        Assert.Equal(FilmSize, (await FindAsync(host, "tv", "Some.Release.2026", "film.mkv")).Length);
    }

    [Fact]
    public async Task Import_fetches_edge_articles_and_no_PAR2_volumes()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var release = Release("film.mkv", "film.par2", "film.vol00+01.par2", "film.srt");

        var id = await host.AddAsync(release.ToNzb(), "Rel.nzb", Token);
        var slot = await host.WaitForHistoryAsync(id[0], Token);

        Assert.Equal("Completed", slot.GetProperty("status").GetString());
        string[] expected = [.. new[] { 0, 1, 3 }.SelectMany(file => new[] { release.MessageIds(file)[0], release.MessageIds(file)[^1] })];
        Assert.Equal(expected.Order(), mock.Stats.Bodies.Keys.Order());
        Assert.Equal(["film.mkv", "film.srt"], await ListAsync(host, "uncategorized", "Rel"));
    }

    [Theory]
    [InlineData("all", "DeadPost", "None of the 2 articles we checked still exists on your provider.")]
    [InlineData("first", "MissingArticles", "film.mkv: 1 of 2 articles is gone at the provider.")]
    [InlineData("last", "MissingArticles", "film.mkv: 1 of 2 articles is gone at the provider.")]
    [InlineData("corrupt", "CorruptArticles", "film.mkv: an article it cannot do without is damaged at every provider.")]
    [InlineData("companion", null, "")]
    [InlineData("middle", null, "")]
    public async Task Damage_fails_an_item_only_if_the_film_needs_the_article(string what, string? reason, string sentence)
    {
        var release = new MockRelease(
            "rel",
            7,
            [new MockFile { Name = "film.mkv", Size = FilmSize, ArticleSize = ArticleSize }, new MockFile { Name = "film.txt", Size = 900 }]);
        var film = release.MessageIds(0);
        var gone = what switch
        {
            "all" => ArticleSelection.All,
            "first" => ArticleSelection.Article(film[0]),
            "last" => ArticleSelection.Article(film[^1]),
            "companion" => ArticleSelection.Article(release.MessageIds(1)[0]),
            "middle" => ArticleSelection.Article(film[5]),
            _ => ArticleSelection.None,
        };
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Missing = gone,
            Faults = what == "corrupt" ? [new MockFault { Kind = FaultKind.YencNoBegin, Articles = ArticleSelection.Article(film[0]) }] : [],
        });
        await using var host = await ProductHost.StartAsync(_folder, mock);

        var id = await host.AddAsync(release.ToNzb(), "Rel.nzb", Token);
        var slot = await host.WaitForHistoryAsync(id[0], Token);

        Assert.Equal(sentence, slot.GetProperty("fail_message").GetString());
        Assert.Equal(reason, (await host.Get<Server.History.HistoryStore>().FindAsync(id[0], Token))!.Reason);
        if (reason is null)
            Assert.Equal(what == "companion" ? "film.mkv" : "film.mkv film.txt", string.Join(' ', await ListAsync(host, "uncategorized", "Rel")));
    }

    [Fact]
    public async Task Transient_damage_does_not_fail_an_item()
    {
        var release = Release("film.mkv");
        var first = release.MessageId(0, 1);
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Faults = [new MockFault { Kind = FaultKind.YencNoBegin, Articles = ArticleSelection.Article(first), Tries = 2 }],
        });
        await using var host = await ProductHost.StartAsync(_folder, mock);

        var id = await host.AddAsync(release.ToNzb(), "Rel.nzb", Token);
        var slot = await host.WaitForHistoryAsync(id[0], Token);

        Assert.Equal("Completed", slot.GetProperty("status").GetString());
        Assert.Equal(3, mock.Stats.BodyCount(first));
    }

    [Fact]
    public async Task Restart_resumes_items_and_keeps_the_ETag()
    {
        await using var mock = await MockServer.StartAsync();
        var nzb = Release("film.mkv").ToNzb();
        string id;
        await using (var host = await ProductHost.StartAsync(_folder))
        {
            id = (await host.AddAsync(nzb, "Rel.nzb", Token, "&cat=tv"))[0];
            await host.WaitForWaitingAsync(id, Token);
        }

        LibraryFile first;
        await using (var host = await ProductHost.StartAsync(_folder, mock))
        {
            await host.WaitForHistoryAsync(id, Token);
            first = await FindAsync(host, "tv", "Rel", "film.mkv");
        }

        await using (var host = await ProductHost.StartAsync(_folder, mock))
        {
            var again = await FindAsync(host, "tv", "Rel", "film.mkv");
            Assert.Equal((first.ETag, first.LastModified, first.Length, first.Id), (again.ETag, again.LastModified, again.Length, again.Id));

            var copy = await host.AddAsync(nzb, "Rel.nzb", Token, "&cat=tv");
            var slot = await host.WaitForHistoryAsync(copy[0], Token);
            Assert.Equal("Rel", slot.GetProperty("name").GetString());
            Assert.EndsWith("/tv/Rel (2)", slot.GetProperty("storage").GetString(), StringComparison.Ordinal);
            // The same NZB shares the release, and only its folder of links is new.
            Assert.Equal(first.Id, (await FindAsync(host, "tv", "Rel", "film.mkv")).Id);
            Assert.Null(await host.Get<LibraryTree>().FindAsync(["tv", "Rel (2)"], Token));
        }
    }

    [Fact]
    public async Task Failed_publish_leaves_only_the_queue_item()
    {
        await using var mock = await MockServer.StartAsync();
        string id;
        await using (var host = await ProductHost.StartAsync(_folder))
            id = (await host.AddAsync(Release("film.mkv").ToNzb(), "Rel.nzb", Token))[0];

        // Blocks the history item, which is written after the release, its files and its maps.
        await using (var database = _folder.OpenDatabase())
        {
            await database.WriteAsync(
                connection => connection.Execute(
                    "CREATE TRIGGER no_history BEFORE INSERT ON history_item BEGIN SELECT RAISE(ABORT, 'no'); END"),
                Token);
        }

        await using (var host = await ProductHost.StartAsync(_folder, mock))
        {
            await host.WaitForWaitingAsync(id, Token);
            Assert.NotNull(await host.Get<QueueStore>().FindAsync(id, Token));
            Assert.Empty(await host.Get<LibraryStore>().ListCategoriesAsync(Token));
            Assert.Equal(
                (0, 0),
                await host.Get<SluiceDatabase>().ReadAsync(
                    connection => connection.QuerySingle<(int, int)>("SELECT (SELECT count(*) FROM posted_file), (SELECT count(*) FROM library_file)"),
                    Token));
        }
    }

    [Theory]
    [InlineData("lost")]
    [InlineData("other")]
    [InlineData("cut")]
    public async Task Lost_or_damaged_stored_NZB_fails_only_its_own_item(string damage)
    {
        await using var mock = await MockServer.StartAsync();
        var release = Release("film.mkv");
        string lost;
        string good;
        await using (var host = await ProductHost.StartAsync(_folder))
        {
            lost = (await host.AddAsync(NzbText.Of("a.mkv"), "Lost.nzb", Token))[0];
            good = (await host.AddAsync(release.ToNzb(), "Good.nzb", Token))[0];
            await host.WaitForWaitingAsync(good, Token);
            var hash = (await host.Get<QueueStore>().FindAsync(lost, Token))!.NzbHash;
            var path = Path.Combine(_folder.Folder.Blobs, hash + ".nzb.br");
            if (damage == "lost")
                File.Delete(path);
            else if (damage == "cut")
                File.WriteAllBytes(path, File.ReadAllBytes(path)[..^9]);
            else
                File.Copy(Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br").First(other => other != path), path, overwrite: true);
        }

        // The blob folder may be temporarily unmounted, so the item fails only at the second start without its blob (IMP-3).
        await using (var host = await ProductHost.StartAsync(_folder))
            await (damage == "lost" ? host.WaitForWaitingAsync(lost, Token) : Task.CompletedTask);
        await using (var host = await ProductHost.StartAsync(_folder, mock))
        {
            var slot = await host.WaitForHistoryAsync(lost, Token);
            Assert.Equal("The stored NZB was lost or damaged; add it again.", slot.GetProperty("fail_message").GetString());
            Assert.Equal("Completed", (await host.WaitForHistoryAsync(good, Token)).GetProperty("status").GetString());
        }
    }

    [Fact]
    public async Task File_listed_as_one_file_per_segment_becomes_one_file()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var release = Release("film.mkv");
        var ids = release.MessageIds();
        var nzb = new StringBuilder("<nzb>");
        // The NZB lists the ids in another order than the file.
        foreach (var i in Enumerable.Range(0, ids.Count).OrderBy(i => i * 7 % ids.Count))
        {
            nzb.Append(CultureInfo.InvariantCulture, $"""
                <file subject="&quot;film.mkv&quot; yEnc ({i + 1}/{ids.Count})" date="1767434400"><segments><segment number="1" bytes="1">{ids[i]}</segment></segments></file>
                """);
        }

        var id = await host.AddAsync(Encoding.UTF8.GetBytes(nzb.Append("</nzb>").ToString()), "Rel.nzb", Token);
        var slot = await host.WaitForHistoryAsync(id[0], Token);

        Assert.Equal("", slot.GetProperty("fail_message").GetString());
        Assert.Equal(SumOf(release), await SumAsync(host, await FindAsync(host, "uncategorized", "Rel", "film.mkv")));
    }

    [Fact]
    public async Task Stored_NZB_is_deleted_with_its_last_queue_item()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var nzb = NzbText.Of("a.mkv");
        var id = await host.AddAsync(nzb, "A.nzb", Token, "&cat=tv");
        var twin = await host.AddAsync(nzb, "B.nzb", Token, "&cat=tv");

        Assert.Equal(
            $$"""{"status":true,"nzo_ids":["{{id[0]}}"]}""",
            (await host.CallAsync($"mode=queue&name=delete&value={id[0]},unknown", Token)).ToString());
        Assert.Single(Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br"));
        Assert.Equal(
            $$"""{"status":true,"nzo_ids":["{{twin[0]}}"]}""",
            (await host.CallAsync("mode=queue&name=delete&value=all&cat=tv", Token)).ToString());

        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br"));
        Assert.Equal("""{"status":false,"nzo_ids":[]}""", (await host.CallAsync("mode=queue&name=delete&value=all", Token)).ToString());
        Assert.Equal("""{"status":false,"error":"expects one parameter"}""", (await host.CallAsync("mode=queue&name=delete", Token)).ToString());
    }

    private static MockRelease Release(params string[] names) =>
        new("rel", 11, [.. names.Select(name => new MockFile { Name = name, Size = FilmSize, ArticleSize = ArticleSize })]);

    private static async Task<LibraryFile> FindAsync(ProductHost host, params string[] path) =>
        Assert.IsType<FileEntry>(await host.Get<LibraryTree>().FindAsync(path, Token)).File;

    private static async Task<List<string>> ListAsync(ProductHost host, params string[] path)
    {
        var tree = host.Get<LibraryTree>();
        var folder = await tree.FindAsync(path, Token);
        return await tree.ListAsync(folder!, Token).Select(entry => entry.Name).ToListAsync(Token);
    }

    private static async Task<string> SumAsync(ProductHost host, LibraryFile file)
    {
        await using var opened = await host.Get<FileStreamFactory>().OpenAsync(file, 0, file.Length, OperationLane.Playback, client: null, new ReaderAccount(), Token);
        return Convert.ToHexStringLower(await SHA256.HashDataAsync(opened.Stream, Token));
    }

    private static string SumOf(MockRelease release)
    {
        var bytes = new byte[release.Files[0].Size];
        release.Fill(0, 0, bytes);
        return Convert.ToHexStringLower(SHA256.HashData(bytes));
    }
}
