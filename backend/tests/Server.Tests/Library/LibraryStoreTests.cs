using System.Text;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class LibraryStoreTests : IDisposable
{
    private static readonly DateTimeOffset Published = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task File_is_found_with_all_published_data()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new LibraryStore(database);
        await PublishAsync(database, "tv", "Rel", "season 1/a.mkv", "b.mkv");

        var entry = Assert.IsType<FileEntry>(await store.FindAsync("tv", "Rel", ["season 1", "a.mkv"], Token));

        Assert.Equal("a.mkv", entry.Name);
        Assert.Equal("season 1/a.mkv", entry.File.Path);
        Assert.Equal(1000, entry.File.Length);
        Assert.Equal("tag-season 1/a.mkv", entry.File.ETag);
        Assert.Equal(Published, entry.LastModified);
        Assert.Equal(new Release(entry.File.Release.Id, "tv", "Rel", "hash", Published), entry.File.Release);
        Assert.Equal([new ContentExtent(0, 0, 1000)], ContentMap.Unpack(entry.File.Content).Extents);
        var posted = Assert.Single(await store.GetPostedFilesAsync(entry.File.Release.Id, 0, 0, Token));
        Assert.Equal(new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000)), posted);
    }

    [Fact]
    public async Task Total_size_follows_file_changes_and_is_kept_in_one_row()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new LibraryStore(database);
        Assert.Equal(0, await store.GetTotalLengthAsync(Token));
        await PublishAsync(database, "tv", "Rel", "a.mkv", "b.mkv");
        await PublishAsync(database, "tv", "Other", "c.mkv");
        Assert.Equal(3000, await store.GetTotalLengthAsync(Token));

        await database.WriteAsync(connection => connection.Execute("UPDATE library_file SET length = 1500 WHERE path_key = 'c.mkv'"), Token);
        Assert.Equal(3500, await store.GetTotalLengthAsync(Token));
        await database.WriteAsync(connection => connection.Execute("DELETE FROM release WHERE name = 'Rel'"), Token);

        Assert.Equal(1500, await store.GetTotalLengthAsync(Token));
        Assert.Equal(1, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM library_total"), Token));
    }

    [Fact]
    public async Task Name_lookup_ignores_Unicode_form_but_not_case()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new LibraryStore(database);
        await PublishAsync(database, "tv", "Ünder", "é.mkv");

        var decomposed = await store.FindAsync("tv", "Ünder".Normalize(NormalizationForm.FormD), ["é.mkv".Normalize(NormalizationForm.FormD)], Token);

        Assert.Equal("é.mkv", Assert.IsType<FileEntry>(decomposed).Name);
        Assert.Null(await store.FindAsync("tv", "ünder", ["é.mkv"], Token));
    }

    [Theory]
    [InlineData("season 1", "FolderEntry")]
    [InlineData("season 1/extras", "FolderEntry")]
    [InlineData("season", null)]
    [InlineData("season 1/extras/c.mkv", "FileEntry")]
    [InlineData("season 1/extras/c.mkv/d", null)]
    [InlineData("b", null)]
    public async Task Inner_folder_exists_only_if_it_contains_files(string path, string? kind)
    {
        await using var database = _temporary.OpenDatabase();
        var store = new LibraryStore(database);
        await PublishAsync(database, "tv", "Rel", "season 1/extras/c.mkv", "b.mkv");

        var entry = await store.FindAsync("tv", "Rel", path.Split('/'), Token);

        Assert.Equal(kind, entry?.GetType().Name);
    }

    [Fact]
    public async Task Listing_gives_direct_children_in_ordinal_order()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new LibraryStore(database);
        await PublishAsync(database, "tv", "Rel", "a/x.mkv", "a/y/z.mkv", "a!.mkv", "a b.mkv", "B.mkv", "b/1.mkv", "a-/q.mkv");
        var release = Assert.IsType<ReleaseEntry>(await store.FindAsync("tv", "Rel", [], Token)).Release;

        var root = await store.ListFolderAsync(release, "", Token).Select(entry => entry.Name).ToListAsync(Token);
        var inner = await store.ListFolderAsync(release, "a", Token).ToListAsync(Token);

        Assert.Equal(["B.mkv", "a", "a b.mkv", "a!.mkv", "a-", "b"], root);
        Assert.Equal(["x.mkv", "y"], inner.Select(entry => entry.Name));
        Assert.Equal("a/y", Assert.IsType<FolderEntry>(inner[1]).Path);
    }

    [Fact]
    public async Task Listing_longer_than_a_page_is_complete()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new LibraryStore(database);
        string[] files = [.. Enumerable.Range(0, 700).Select(i => i % 3 == 0 ? $"{i:D4}/{i}.mkv" : $"{i:D4}.mkv")];
        await PublishAsync(database, "tv", "Rel", files);
        var release = Assert.IsType<ReleaseEntry>(await store.FindAsync("tv", "Rel", [], Token)).Release;

        var names = await store.ListFolderAsync(release, "", Token).Select(entry => entry.Name).ToListAsync(Token);

        Assert.Equal(files.Select(file => file.Split('/')[0]), names);
    }

    [Fact]
    public async Task Categories_and_releases_are_listed_by_name()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new LibraryStore(database);
        await PublishAsync(database, "tv", "b", "x.mkv");
        await PublishAsync(database, "tv", "a", "x.mkv");
        await PublishAsync(database, "movies", "c", "x.mkv");

        Assert.Equal([new CategoryEntry("movies", Published), new CategoryEntry("tv", Published)], await store.ListCategoriesAsync(Token));
        Assert.Equal(["a", "b"], await store.ListReleasesAsync("tv", Token).Select(release => release.Name).ToListAsync(Token));
    }

    [Fact]
    public async Task Path_query_uses_indexes_only()
    {
        await using var database = _temporary.OpenDatabase();

        var plan = await database.ExplainAsync(LibraryStore.FindSql, new { category = "x", release = "x", key = "x", inside = "x", behind = "x" });

        Assert.DoesNotContain(plan, step => step.StartsWith("SCAN", StringComparison.Ordinal));
        Assert.Equal(3, plan.Count(step => step.StartsWith("SEARCH", StringComparison.Ordinal)));
    }

    private static Task<long> PublishAsync(SluiceDatabase database, string category, string name, params string[] files) =>
        database.WriteAsync(
            connection => LibraryStore.Insert(
                connection,
                new NewRelease(
                    category,
                    name,
                    "hash",
                    [new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000))],
                    [.. files.Select(path => new NewLibraryFile(Guid.NewGuid(), path, null, 1000, "tag-" + path, new FileContent([new ContentExtent(0, 0, 1000)])))]),
                Published),
            Token);
}
