using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class BlobStoreTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();
    private readonly RecordingBlobFiles _files = new();
    private readonly BlobStore _store;

    public BlobStoreTests() => _store = new BlobStore(_temporary.Folder, _files, new BlobQuarantine(_temporary.Folder, TimeProvider.System), TimeProvider.System);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Save_syncs_file_then_renames_then_syncs_folder()
    {
        var blob = await _store.SaveNzbAsync(Text("<nzb/>"), Token);

        Assert.Equal(["create tmp", "write tmp", "fsync tmp", $"rename tmp {blob.Hash}.nzb.br", "fsync blobs"], _files.Calls);
    }

    [Fact]
    public async Task Saving_ids_syncs_file_then_renames_then_syncs_folder()
    {
        var hash = new string('a', 64);

        await _store.SaveIdsAsync(hash, async (stream, token) => await stream.WriteAsync("ids"u8.ToArray(), token), Token);

        Assert.Equal(["create tmp", "write tmp", "fsync tmp", $"rename tmp {hash}.ids", "fsync blobs"], _files.Calls);
        using var handle = _store.OpenIds(hash);
        Assert.Equal(3, RandomAccess.GetLength(handle));
    }

    [Fact]
    public async Task Stored_NZB_is_read_back_unchanged_by_its_plain_text_hash()
    {
        var plain = RandomNumberGenerator.GetBytes(300_001);

        var blob = await _store.SaveNzbAsync(new MemoryStream(plain), Token);

        Assert.Equal(Convert.ToHexStringLower(SHA256.HashData(plain)), blob.Hash);
        Assert.Equal(plain.Length, blob.PlainLength);
        Assert.Equal(new FileInfo(Path.Combine(_temporary.Folder.Blobs, blob.Hash + ".nzb.br")).Length, blob.StoredLength);
        await using var stored = _store.OpenNzb(blob.Hash);
        var copy = new MemoryStream();
        await stored.CopyToAsync(copy, Token);
        Assert.Equal(plain, copy.ToArray());
    }

    [Fact]
    public async Task NZB_saved_twice_is_stored_in_one_file()
    {
        await _store.SaveNzbAsync(Text("<nzb/>"), Token);
        await _store.SaveNzbAsync(Text("<nzb/>"), Token);

        Assert.Single(Directory.GetFiles(_temporary.Folder.Blobs));
    }

    [Theory]
    [InlineData(-1, true)]
    [InlineData(0, true)]
    [InlineData(1, false)]
    public async Task NZB_length_limit_is_exact_and_refusal_leaves_no_file(int beyond, bool accepted)
    {
        var save = _store.SaveNzbAsync(new ZeroStream(BlobStore.MaxNzbBytes + beyond), Token);

        if (accepted)
        {
            Assert.Equal(BlobStore.MaxNzbBytes + beyond, (await save).PlainLength);
        }
        else
        {
            await Assert.ThrowsAsync<BlobTooLargeException>(() => save);
            Assert.Empty(Directory.GetFiles(_temporary.Folder.Blobs));
        }
    }

    [Fact]
    public async Task Broken_upload_leaves_nothing()
    {
        await Assert.ThrowsAsync<EndOfStreamException>(() => _store.SaveNzbAsync(new ZeroStream(100_000) { BreaksAtEnd = true }, Token));

        Assert.Empty(Directory.GetFiles(_temporary.Folder.Blobs));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(10)]
    [InlineData(5000)]
    public async Task Partial_read_during_save_does_not_alter_the_blob(int bytes)
    {
        var plain = Enumerable.Range(0, 5000).Select(i => (byte)i).ToArray();
        var seen = new byte[bytes];

        var blob = await _store.SaveNzbAsync(
            new MemoryStream(plain), async (passing, token) => await passing.ReadExactlyAsync(seen, token), (_, _) => Task.CompletedTask, Token);

        Assert.Equal(plain[..bytes], seen);
        Assert.Equal(Convert.ToHexStringLower(SHA256.HashData(plain)), blob.Hash);
        Assert.Equal(plain.Length, blob.PlainLength);
    }

    [Fact]
    public async Task Source_fault_fails_the_save_even_if_the_reader_hides_it()
    {
        await Assert.ThrowsAsync<EndOfStreamException>(() => _store.SaveNzbAsync(
            new ZeroStream(100_000) { BreaksAtEnd = true },
            async (passing, token) => await Assert.ThrowsAsync<EndOfStreamException>(() => passing.CopyToAsync(Stream.Null, token)),
            (_, _) => Task.CompletedTask,
            Token));

        Assert.Empty(Directory.GetFiles(_temporary.Folder.Blobs));
    }

    [Theory]
    [InlineData("fsync tmp")]
    [InlineData("rename tmp")]
    [InlineData("fsync blobs")]
    [InlineData("write tmp")]
    public async Task Full_disk_at_any_step_throws_StorageException(string step)
    {
        _files.FailAt = (step, new IOException("No space left on device", 28));

        await Assert.ThrowsAsync<StorageException>(() => _store.SaveNzbAsync(Text("<nzb/>"), Token));

        Assert.Empty(Directory.GetFiles(_temporary.Folder.Blobs, "*.tmp"));
    }

    [Theory]
    [InlineData(64L << 20, 0, true)]
    [InlineData((64L << 20) - 1, 0, false)]
    [InlineData((64L << 20) + 3000, 1000, true)]
    [InlineData((64L << 20) + 2999, 1000, false)]
    public void Required_space_is_three_times_the_size_plus_64_MiB(long free, long size, bool accepted)
    {
        _files.Free = free;

        if (accepted)
            _store.RequireSpace(size);
        else
            Assert.Throws<StorageException>(() => _store.RequireSpace(size));
    }

    [Fact]
    public async Task Only_old_orphans_and_temporary_files_are_quarantined()
    {
        var kept = await _store.SaveNzbAsync(Text("kept"), Token);
        var orphan = await _store.SaveNzbAsync(Text("orphan"), Token);
        var young = await _store.SaveNzbAsync(Text("young"), Token);
        await _store.SaveIdsAsync(orphan.Hash, (_, _) => Task.CompletedTask, Token);
        Write("left.tmp");
        Write("young.tmp");
        Write("mine.txt");
        Age($"{kept.Hash}.nzb.br", $"{orphan.Hash}.nzb.br", $"{orphan.Hash}.ids", "left.tmp", "mine.txt");

        var orphans = _store.FindOrphans(new HashSet<UInt128> { BlobStore.KeyOf(kept.Hash) });
        Assert.All(orphans.Paths, path => Assert.True(_store.TryQuarantine(path)));

        Assert.Equal((3, 1, 3), (orphans.Paths.Count, orphans.Hashes, orphans.Stored));
        Assert.Equal(3, Directory.GetFiles(_temporary.Folder.Quarantine, "*", SearchOption.AllDirectories).Length);
        Assert.Equal(
            new[] { $"{kept.Hash}.nzb.br", $"{young.Hash}.nzb.br", "young.tmp", "mine.txt" }.Order(),
            Directory.GetFiles(_temporary.Folder.Blobs).Select(Path.GetFileName).Order());
    }

    [Fact]
    public async Task Orphan_rewritten_by_an_upload_is_not_quarantined()
    {
        var blob = await _store.SaveNzbAsync(Text("again"), Token);
        Age($"{blob.Hash}.nzb.br");
        var path = _store.FindOrphans(new HashSet<UInt128>()).Paths.Single();
        await _store.SaveNzbAsync(Text("again"), Token);

        Assert.False(_store.TryQuarantine(path));
        Assert.True(_store.ContainsNzb(blob.Hash));
    }

    [Fact]
    public async Task Retired_blob_and_ids_can_be_restored_once()
    {
        var blob = await _store.SaveNzbAsync(Text("gone"), Token);
        await _store.SaveIdsAsync(blob.Hash, (_, _) => Task.CompletedTask, Token);

        _store.Retire(blob.Hash);

        Assert.Empty(Directory.GetFiles(_temporary.Folder.Blobs));
        Assert.Throws<FileNotFoundException>(() => _store.OpenNzb(blob.Hash));
        Assert.True(_store.TryRestore(blob.Hash));
        Assert.False(_store.TryRestore(blob.Hash));
        Assert.Equal(2, Directory.GetFiles(_temporary.Folder.Blobs).Length);
    }

    [Theory]
    [InlineData("../../etc/passwd")]
    [InlineData("")]
    [InlineData("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")]
    public void Invalid_hash_is_refused(string hash) => Assert.Throws<ArgumentException>(() => _store.OpenNzb(hash));

    private static MemoryStream Text(string text) => new(Encoding.UTF8.GetBytes(text));

    private void Write(string name) => File.WriteAllText(Path.Combine(_temporary.Folder.Blobs, name), "x");

    private void Age(params string[] names)
    {
        foreach (var name in names)
            File.SetLastWriteTimeUtc(Path.Combine(_temporary.Folder.Blobs, name), TimeProvider.System.GetUtcNow().UtcDateTime.AddMinutes(-61));
    }
}
