using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>The upgrade adds categories in use to the setting once.</summary>
public sealed class CategoryJoinTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Categories_in_use_are_added_to_the_setting_once()
    {
        await using (var host = await ProductHost.StartAsync(_folder))
        {
            await host.CallAsync("mode=pause", Token);
            await host.AddAsync(NzbText.Of("a.mkv"), "a.nzb", Token, "&cat=tv");
            await host.AddAsync(NzbText.Of("b.mkv"), "b.nzb", Token);
            await host.Get<SluiceDatabase>().WriteAsync(FillAsBefore, Token);
        }

        await using (var host = await ProductHost.StartAsync(_folder))
        {
            Assert.Equal(["*", "audio", "software", "tv", "movies", "music", "prowlarr", "readarr", "4K", "Anime", "Kids & Co", "docs"], await CategoriesAsync(host));
            var slots = (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots").EnumerateArray();
            Assert.Equal(["tv", "*", "tv", "Anime", "../etc"], slots.Select(slot => slot.GetProperty("cat").GetString()));
            Assert.Equal("movies", (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots")[0].GetProperty("category").GetString());
            var id = (await host.AddAsync(NzbText.Of("c.mkv"), "c.nzb", Token, "&cat=anime"))[0];
            Assert.Equal("Anime", (await host.Get<QueueStore>().FindAsync(id, Token))!.Category);
            await host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["api.categories"] = "tv" }, Token);
        }

        // The upgrade runs once, so a category that is removed later stays removed.
        await using (var host = await ProductHost.StartAsync(_folder))
            Assert.Equal(["*", "tv"], await CategoriesAsync(host));
    }

    [Fact]
    public async Task New_server_adds_no_categories_to_the_setting()
    {
        await using var host = await ProductHost.StartAsync(_folder);

        Assert.False(await host.Get<SluiceDatabase>().ReadAsync(connection => connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM pending_step)"), Token));
        Assert.Equal(SettingOrigin.Default, host.Get<SettingsSource>().Current["api.categories"].Origin);
    }

    [Fact]
    public async Task Categories_from_the_environment_are_kept_with_a_warning()
    {
        await using (var host = await ProductHost.StartAsync(_folder))
            await host.Get<SluiceDatabase>().WriteAsync(FillAsBefore, Token);

        await using (var host = await ProductHost.StartAsync(_folder, variables: [("SLUICE_CONFIG__API__CATEGORIES", "tv"), ("LOG_LEVEL", "warning")]))
        {
            Assert.Equal(["*", "tv"], await CategoriesAsync(host));
            var warnings = (await host.CallAsync("mode=warnings", Token)).GetProperty("warnings").EnumerateArray().Select(warning => warning.GetProperty("text").GetString());
            Assert.Contains(warnings, text => text!.Contains("4K, Anime, Kids & Co, Movies, docs", StringComparison.Ordinal) && text.Contains("SLUICE_CONFIG__API__CATEGORIES", StringComparison.Ordinal));
        }
    }

    /// <summary>Writes rows as in a database of an earlier version, and the pending step of its migration.</summary>
    private static int FillAsBefore(DbConnection connection)
    {
        foreach (var (id, category) in new[] { ("1", "TV"), ("2", "Anime"), ("3", "../etc") })
        {
            QueueStore.Insert(connection, new QueueItem
            {
                Id = id,
                Name = "r" + id,
                NzbName = id + ".nzb",
                Category = category,
                Folder = "f" + id,
                NzbHash = new string(id[0], 64),
                AddedAt = TimeProvider.System.GetUtcNow(),
            });
        }

        foreach (var category in new[] { "4K", "Kids & Co", ".hidden", "*", "Movies" })
        {
            connection.Execute(
                """
                INSERT INTO history_item
                  (id, name, nzb_name, category, folder, priority, password, post_processing, script, encoded_bytes, bytes, fail_message, added_at, started_at, completed_at, steps)
                VALUES (@category, @category, '', @category, 'f', 0, '', -1, '', 0, 0, '', 0, 0, @at, '[]')
                """,
                new { category, at = category == "Movies" ? 2_000_000_000_000 : 0 });
        }

        connection.Execute("INSERT INTO release (category, name, nzb_hash, published_at) VALUES ('docs', 'a', @hash, 0), ('uncategorized', 'b', @hash, 0), ('tv', 'c', @hash, 0)", new { hash = new string('a', 64) });
        return connection.Execute("INSERT INTO pending_step (name) VALUES ('join-categories')");
    }

    private static async Task<IEnumerable<string?>> CategoriesAsync(ProductHost host) =>
        [.. (await host.CallAsync("mode=get_cats", Token)).GetProperty("categories").EnumerateArray().Select(name => name.GetString())];
}
