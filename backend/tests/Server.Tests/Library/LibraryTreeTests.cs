using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class LibraryTreeTests : IDisposable
{
    private static readonly (string, string) Categories = ("SLUICE_CONFIG__API__CATEGORIES", "tv,movies");

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Demo_clip_is_listed_until_a_provider_is_configured()
    {
        await using (var host = await ProductHost.StartAsync(_folder, null, null, Categories))
        {
            Assert.Equal("demo movies tv", await ListAsync(host));
            Assert.Equal("sluice-demo.mp4", await ListAsync(host, "demo"));
            Assert.IsType<FileEntry>(await host.Get<LibraryTree>().FindAsync(["demo", "sluice-demo.mp4"], Token));
        }

        await using var mock = await MockServer.StartAsync();
        await using (var host = await ProductHost.StartAsync(_folder, mock, null, Categories))
        {
            Assert.Equal("movies tv", await ListAsync(host));
            Assert.Null(await host.Get<LibraryTree>().FindAsync(["demo"], Token));
            Assert.Null(await host.Get<LibraryTree>().FindAsync(["demo", "sluice-demo.mp4"], Token));
        }
    }

    [Fact]
    public async Task Unconfigured_category_in_use_is_listed()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, Categories);
        await host.Get<Server.Database.SluiceDatabase>().WriteAsync(
            connection => LibraryStore.Insert(connection, new NewRelease("anime", "Rel", "hash", [], []), DateTimeOffset.UnixEpoch), Token);

        Assert.Equal("anime demo movies tv", await ListAsync(host));
        Assert.Equal("Rel", await ListAsync(host, "anime"));
        Assert.Equal("", await ListAsync(host, "tv"));
        Assert.Null(await host.Get<LibraryTree>().FindAsync(["unknown"], Token));
    }

    private static async Task<string> ListAsync(ProductHost host, params string[] path)
    {
        var tree = host.Get<LibraryTree>();
        var collection = await tree.FindAsync(path, Token);
        return string.Join(' ', await tree.ListAsync(collection!, Token).Select(entry => entry.Name).ToListAsync(Token));
    }
}
