using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class ReleaseIdsTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly BlobStore _blobs;
    private readonly ReleaseIdStore _store;

    public ReleaseIdsTests()
    {
        _blobs = new BlobStore(_folder.Folder, new DiskBlobFiles(), new BlobQuarantine(_folder.Folder, TimeProvider.System), TimeProvider.System);
        _store = new ReleaseIdStore(_blobs, new StoredNzbReader(_blobs), NullLogger<ReleaseIdStore>.Instance);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _store.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Lost_article_list_is_rebuilt_from_the_NZB()
    {
        var (hash, expected) = await SaveAsync(5000);

        Assert.Equal(expected, await ReadAsync(hash, 5000));
        var list = await File.ReadAllBytesAsync(PathOf(hash), Token);
        File.Delete(PathOf(hash));

        Assert.Equal(expected, await ReadAsync(hash, 5000));
        Assert.Equal(list, await File.ReadAllBytesAsync(PathOf(hash), Token));
    }

    [Theory]
    [InlineData("cut")]
    [InlineData("frame")]
    [InlineData("table")]
    [InlineData("empty")]
    public async Task Damaged_article_list_is_rebuilt_during_the_read(string damage)
    {
        var (hash, expected) = await SaveAsync(5000);
        await ReadAsync(hash, 5000);
        var list = await File.ReadAllBytesAsync(PathOf(hash), Token);
        var damaged = damage switch
        {
            "cut" => list[..^5],
            "empty" => [],
            "frame" => Flip(list, 1000),
            _ => Flip(list, list.Length - 30),
        };
        await File.WriteAllBytesAsync(PathOf(hash), damaged, Token);

        Assert.Equal(expected, await ReadAsync(hash, 5000));
        Assert.Equal(list, await File.ReadAllBytesAsync(PathOf(hash), Token));
    }

    [Fact]
    public async Task Missing_list_and_NZB_throw_StoredNzbLostException()
    {
        var (hash, _) = await SaveAsync(10);
        _blobs.Retire(hash);

        await Assert.ThrowsAsync<StoredNzbLostException>(() => ReadAsync(hash, 10));
    }

    [Fact]
    public async Task NZB_with_the_wrong_hash_gives_no_ids()
    {
        var (hash, _) = await SaveAsync(10);
        var (other, _) = await SaveAsync(10);
        File.Copy(Path.Combine(_folder.Folder.Blobs, other + ".nzb.br"), Path.Combine(_folder.Folder.Blobs, hash + ".nzb.br"), overwrite: true);

        await Assert.ThrowsAsync<StoredNzbLostException>(() => ReadAsync(hash, 10));
        Assert.False(File.Exists(PathOf(hash)));
    }

    [Fact]
    public async Task Ids_at_scattered_positions_are_returned_in_order()
    {
        var (hash, expected) = await SaveAsync(100);
        using var release = await ReleaseIds.OpenAsync(_store, hash, Token);

        var ids = release.Take(SegmentPlaces.Join([(90, 3), (93, 1), (SegmentPlaces.Nowhere, 2), (4, 1)]));

        Assert.Equal(7, ids.Count);
        var found = new List<string>();
        for (var i = 0; i < ids.Count; i++)
            found.Add((await ids.GetAsync(i, Token)).Primary.ToString());
        Assert.Equal([expected[90], expected[91], expected[92], expected[93], "", "", expected[4]], found);
        Assert.Throws<StoredNzbLostException>(() => release.Take(SegmentPlaces.Range(50, 51)));
    }

    private async Task<(string Hash, List<string> Ids)> SaveAsync(int files)
    {
        var nzb = NzbText.Of([.. Enumerable.Range(0, files).Select(i => $"{i}.mkv")]);
        var blob = await _blobs.SaveNzbAsync(new MemoryStream(nzb), Token);
        var ids = await NzbReader.ReadAsync(new MemoryStream(nzb), null, new NzbHead(), Token)
            .Select(file => file.Segments.First().Ids.Primary.ToString()).ToListAsync(Token);
        return (blob.Hash, ids);
    }

    private async Task<List<string>> ReadAsync(string hash, int count)
    {
        using var release = await ReleaseIds.OpenAsync(_store, hash, Token);
        var ids = release.Take(SegmentPlaces.Range(0, count));
        var found = new List<string>();
        for (var i = 0; i < count; i++)
            found.Add((await ids.GetAsync(i, Token)).Primary.ToString());
        return found;
    }

    private string PathOf(string hash) => Path.Combine(_folder.Folder.Blobs, hash + ".ids");

    private static byte[] Flip(byte[] bytes, int place)
    {
        var copy = (byte[])bytes.Clone();
        copy[place] ^= 1;
        return copy;
    }
}
