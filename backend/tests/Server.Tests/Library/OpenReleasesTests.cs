using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Library;

/// <summary>The list and the NZB are deleted after the first use, so that later uses show that the ids come from memory.</summary>
public sealed class OpenReleasesTests : IDisposable
{
    private readonly ManualTimeProvider _time = new();
    private readonly TemporaryFolder _folder = new();
    private readonly BlobStore _blobs;
    private readonly ReleaseIdStore _store;
    private readonly OpenReleases _releases;

    public OpenReleasesTests()
    {
        _blobs = new BlobStore(_folder.Folder, new DiskBlobFiles(), new BlobQuarantine(_folder.Folder, TimeProvider.System), TimeProvider.System);
        _store = new ReleaseIdStore(_blobs, new StoredNzbReader(_blobs), NullLogger<ReleaseIdStore>.Instance);
        _releases = new OpenReleases(_store, _time);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _releases.Dispose();
        _store.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Ids_shared_by_readers_are_kept_until_the_last_one_closes()
    {
        var (hash, id) = await SaveAsync();
        var first = await _releases.OpenAsync(hash, Token);
        _blobs.Retire(hash);

        using var second = await _releases.OpenAsync(hash, Token);
        first.Dispose();
        _time.Advance(TimeSpan.FromHours(1));

        Assert.Equal(id, await IdAsync(second));
    }

    [Fact]
    public async Task Idle_release_stays_open_until_the_idle_timeout()
    {
        var (hash, id) = await SaveAsync();
        (await _releases.OpenAsync(hash, Token)).Dispose();
        _blobs.Retire(hash);

        for (var i = 0; i < 10; i++)
        {
            _time.Advance(OpenReleases.IdleTimeout - TimeSpan.FromSeconds(1));
            using var use = await _releases.OpenAsync(hash, Token);
            Assert.Equal(id, await IdAsync(use));
        }

        _time.Advance(OpenReleases.IdleTimeout);
        await Assert.ThrowsAsync<StoredNzbLostException>(() => _releases.OpenAsync(hash, Token));
    }

    [Fact]
    public async Task Oldest_idle_release_is_evicted_first()
    {
        List<(string Hash, string Id)> saved = [];
        for (var i = 0; i <= OpenReleases.MostIdle; i++)
        {
            saved.Add(await SaveAsync());
            (await _releases.OpenAsync(saved[i].Hash, Token)).Dispose();
            _blobs.Retire(saved[i].Hash);
        }

        await Assert.ThrowsAsync<StoredNzbLostException>(() => _releases.OpenAsync(saved[0].Hash, Token));
        foreach (var (hash, id) in saved.Skip(1))
        {
            using var use = await _releases.OpenAsync(hash, Token);
            Assert.Equal(id, await IdAsync(use));
        }
    }

    [Fact]
    public async Task Double_dispose_releases_a_use_once()
    {
        var (hash, id) = await SaveAsync();
        var first = await _releases.OpenAsync(hash, Token);
        using var second = await _releases.OpenAsync(hash, Token);

        first.Dispose();
        first.Dispose();
        _time.Advance(TimeSpan.FromHours(1));

        Assert.Equal(id, await IdAsync(second));
    }

    [Fact]
    public async Task Concurrent_readers_get_the_same_ids_and_leak_nothing()
    {
        var (hash, id) = await SaveAsync();

        var uses = await Task.WhenAll(Enumerable.Range(0, 20).Select(_ => Task.Run(() => _releases.OpenAsync(hash, Token))));
        foreach (var use in uses)
        {
            Assert.Equal(id, await IdAsync(use));
            use.Dispose();
        }

        _blobs.Retire(hash);
        _time.Advance(OpenReleases.IdleTimeout);
        await Assert.ThrowsAsync<StoredNzbLostException>(() => _releases.OpenAsync(hash, Token));
    }

    private async Task<(string Hash, string Id)> SaveAsync()
    {
        var nzb = NzbText.Of("film.mkv");
        var hash = (await _blobs.SaveNzbAsync(new MemoryStream(nzb), Token)).Hash;
        var id = await NzbReader.ReadAsync(new MemoryStream(nzb), null, new NzbHead(), Token)
            .Select(file => file.Segments.First().Ids.Primary.ToString()).SingleAsync(Token);
        return (hash, id);
    }

    private static async Task<string> IdAsync(ReleaseUse use) =>
        (await use.Take(SegmentPlaces.Range(0, 1)).GetAsync(0, Token)).Primary.ToString();
}
