using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>A file below <c>/nzbs</c> follows its item if it belongs to this item alone and is named after it.</summary>
public sealed class ItemPlaceTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task NZB_file_follows_name_and_category_of_its_item()
    {
        await using var host = await StartAsync();
        var first = (await host.AddAsync(NzbText.Of("a.mkv"), "First.nzb", Token, "&cat=tv"))[0];
        var second = (await host.AddAsync(NzbText.Of("b.mkv"), "Second.nzb", Token, "&cat=tv"))[0];

        await host.CallAsync($"mode=queue&name=rename&value={first}&value2=Third", Token);
        await host.CallAsync($"mode=queue&name=rename&value={second}&value2=Third", Token);
        Assert.Equal("tv/Third (2).nzb tv/Third.nzb", await FilesAsync(host));
        await host.CallAsync($"mode=change_cat&value={second}&value2=movies", Token);
        Assert.Equal("movies/Third.nzb tv/Third.nzb", await FilesAsync(host));
        await host.CallAsync($"mode=change_cat&value={second}&value2=movies", Token);
        await host.CallAsync($"mode=change_cat&value={first},{second}&value2=None", Token);
        Assert.Equal("uncategorized/Third (2).nzb uncategorized/Third.nzb", await FilesAsync(host));

        Assert.Equal(2, (await host.Get<QueueRemoval>().RemoveAsync([first, second], Token)).Count);
        Assert.Equal("", await FilesAsync(host));
    }

    [Fact]
    public async Task NZB_file_name_is_kept_if_it_is_not_the_item_name()
    {
        await using var host = await StartAsync();
        await host.PutAsync("/nzbs/tv/packed.nzb.gz", NzbText.Gzip(NzbText.Of("a.mkv")), Token);
        await host.PutAsync("/nzbs/movies/packed.nzb.gz", NzbText.Gzip(NzbText.Of("b.mkv")), Token);
        var ids = await host.Get<QueueStore>().FindIdsAsync(new QueueFilter(), Token);

        await host.CallAsync($"mode=queue&name=rename&value={ids[0]}&value2=Other", Token);
        Assert.Equal("movies/packed.nzb.gz tv/packed.nzb.gz", await FilesAsync(host));
        // The file stays in its folder, because its name is taken in the new one.
        await host.CallAsync($"mode=change_cat&value={ids[0]}&value2=movies", Token);
        Assert.Equal("movies/packed.nzb.gz tv/packed.nzb.gz", await FilesAsync(host));
        await host.CallAsync($"mode=change_cat&value={ids[0]}&value2=audio", Token);
        Assert.Equal("audio/packed.nzb.gz movies/packed.nzb.gz", await FilesAsync(host));
    }

    [Fact]
    public async Task NZB_file_with_several_items_is_not_moved_or_renamed()
    {
        await using var host = await StartAsync();
        await host.PutAsync("/nzbs/tv/two.zip", NzbText.Zip(("a.nzb", NzbText.Of("a.mkv")), ("b.nzb", NzbText.Of("b.mkv"))), Token);
        var ids = await host.Get<QueueStore>().FindIdsAsync(new QueueFilter(), Token);

        await host.CallAsync($"mode=change_cat&value={ids[0]}&value2=movies", Token);
        await host.CallAsync($"mode=queue&name=rename&value={ids[0]}&value2=Other", Token);

        Assert.Equal("tv/two.zip", await FilesAsync(host));
        var item = await host.Get<QueueStore>().FindAsync(ids[0], Token);
        Assert.Equal(("Other", "movies", "movies"), (item!.Name, item.Category, item.Folder));
        using var gone = await host.SendAsync(HttpMethod.Delete, "/nzbs/tv/two.zip", null, Token);
        Assert.Empty(await host.Get<QueueStore>().FindIdsAsync(new QueueFilter(), Token));
    }

    private async Task<ProductHost> StartAsync()
    {
        var host = await ProductHost.StartAsync(_folder);
        await host.CallAsync("mode=pause", Token);
        return host;
    }

    private static async Task<string> FilesAsync(ProductHost host)
    {
        var store = host.Get<QueueFileStore>();
        var files = new List<string>();
        foreach (var folder in await store.ListFoldersAsync(Token))
            files.AddRange(await store.ListAsync(folder, Token).Select(file => $"{folder}/{file.Name}").ToListAsync(Token));
        return string.Join(' ', files);
    }
}
