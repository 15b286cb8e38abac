using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F27: segments read at the edges of a file are on disk, and no fault there harms a reader.</summary>
public sealed class DiskSegmentCacheTests : IDisposable
{
    private const int Parts = 6;
    private const int PartSize = 300_000;

    private readonly string _folder = Directory.CreateTempSubdirectory("sluice-blocks-").FullName;
    private readonly byte[] _bytes = TestArticle.Noise(Parts * PartSize, 27);
    private readonly ScriptedArticleSource _source = new(portion: 50_000);
    private readonly PostedFile _file = new(SegmentMap.Uniform(Parts, PartSize, Parts * PartSize), FixedIds.Numbered(Parts));

    public DiskSegmentCacheTests()
    {
        for (var part = 0; part < Parts; part++)
        {
            var data = _bytes.AsSpan(part * PartSize, PartSize).ToArray();
            _source.Post($"{part}@film", TestArticle.OnWire(TestArticle.Part(data, (long)part * PartSize, _bytes.Length, part + 1, Parts)));
        }
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private IEnumerable<string> Files => Directory.EnumerateFiles(_folder, "*", SearchOption.AllDirectories);

    [Fact]
    public async Task F27_Restart_serves_earlier_reads_without_fetching()
    {
        Assert.Equal(2, await ReadAsync((0, 100_000, false), (1_700_000, 100_000, false)));
        Assert.Equal(0, await ReadAsync((0, 100_000, false), (1_700_000, 100_000, false), (20_000, 30_000, false)));

        // The same reads by readers with an unknown end.
        Assert.Equal(0, await ReadAsync((0, 100_000, true), (1_700_000, 100_000, true)));
    }

    [Fact]
    public async Task F27_Read_past_the_cached_bytes_fetches_the_rest()
    {
        await ReadAsync((0, 100_000, false));
        Assert.Equal(2, await ReadAsync((0, 500_000, false)));
        Assert.Equal(0, await ReadAsync((0, 500_000, false)));
        Assert.Equal(1, await ReadAsync((0, 600_000, false)));
    }

    [Fact]
    public async Task F27_Middle_of_a_file_is_cached_only_with_KeepsAll()
    {
        var edges = Options with { EdgeBytes = PartSize };
        Assert.Equal(1, await ReadAsync(edges, (900_000, 1000, false)));
        Assert.Equal(1, await ReadAsync(edges, (900_000, 1000, false)));
        Assert.Equal(1, await ReadAsync(edges with { KeepsAll = true }, (900_000, 1000, false)));
        Assert.Equal(0, await ReadAsync(edges with { KeepsAll = true }, (900_000, 1000, false)));
    }

    [Fact]
    public async Task F27_Damaged_entry_is_a_miss_and_is_replaced()
    {
        await ReadAsync((0, 150_000, false));
        var path = Assert.Single(Files);
        var good = await File.ReadAllBytesAsync(path, Token);
        var random = new Random(27);
        for (var i = 0; i < 60; i++)
        {
            var bad = (byte[])good.Clone();
            if (i % 3 == 0)
                bad = bad[..random.Next(bad.Length)];
            else
                bad[i % 3 == 1 ? random.Next(120) : random.Next(bad.Length)] ^= (byte)(1 << random.Next(8));
            await File.WriteAllBytesAsync(path, bad, Token);
            Assert.Equal(1, await ReadAsync((0, 150_000, false)));
            Assert.Equal(good, await File.ReadAllBytesAsync(path, Token));
        }
    }

    [Fact]
    public async Task F27_Size_limit_evicts_the_least_recently_used()
    {
        var small = Options with { MaxBytes = 3 * 67_000 };
        for (var part = 0; part < Parts; part++)
            await ReadAsync(small, (part * PartSize, 1000, false));
        Assert.Equal(3, Files.Count());
        Assert.Equal(0, await ReadAsync(small, (5 * PartSize, 1000, false), (4 * PartSize, 1000, false), (3 * PartSize, 1000, false)));
        Assert.Equal(1, await ReadAsync(small, (0, 1000, false)));
        Assert.Equal(2, await ReadAsync(small with { MaxBytes = 1 << 20, MaxFiles = 2 }, (PartSize, 1000, false), (2 * PartSize, 1000, false)));
        Assert.Equal(2, Files.Count());
    }

    [Fact]
    public async Task F27_Startup_counts_entries_and_deletes_unfinished_files()
    {
        await ReadAsync((0, 1000, false), (5 * PartSize, 1000, false));
        var kept = Files.ToArray();
        var unfinished = kept[0] + ".tmp";
        var foreign = Path.Combine(_folder, "00", "readme.txt");
        Directory.CreateDirectory(Path.GetDirectoryName(foreign)!);
        await File.WriteAllTextAsync(unfinished, "half", Token);
        await File.WriteAllTextAsync(foreign, "not ours", Token);
        await using (var disk = new DiskSegmentCache(Options, NullLoggerFactory.Instance))
            await Eventually.HoldsAsync(() => disk.Files == 2, () => $"{disk.Files} files", Token);
        Assert.False(File.Exists(unfinished));
        Assert.True(File.Exists(foreign));
    }

    [Fact]
    public async Task F27_Unusable_cache_folder_does_not_affect_readers()
    {
        var inTheWay = Path.Combine(_folder, "file");
        await File.WriteAllTextAsync(inTheWay, "", Token);
        var broken = Options with { Path = Path.Combine(inTheWay, "cache") };
        Assert.Equal(1, await ReadAsync(broken, (0, 1000, false)));
        Assert.Equal(1, await ReadAsync(broken, (0, 1000, false)));
    }

    [Fact]
    public async Task F27_Article_completed_after_its_probe_left_is_cached()
    {
        await using var disk = new DiskSegmentCache(Options, NullLoggerFactory.Instance);
        await using var film = new SteppedFilm(time: new ManualTimeProvider(), disk: disk);
        var stream = film.Open();
        var reading = film.AssertReadsAsync(stream, 0, 60_000, Token);
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body()[..80_000]);
        await reading;
        await stream.DisposeAsync();
        fetch.Deliver(film.Body()[80_000..]);
        fetch.Finish();
        await Eventually.HoldsAsync(() => disk.Files == 1, () => $"{disk.Files} files", Token);
    }

    [Fact]
    public async Task F27_Article_completed_after_its_reader_moved_is_cached()
    {
        await using var disk = new DiskSegmentCache(Options with { EdgeBytes = SteppedFilm.PartSize / 2 }, NullLoggerFactory.Instance);
        await using var film = new SteppedFilm(parts: 3, time: new ManualTimeProvider(), disk: disk);
        await using var stream = film.Open();
        var probing = film.AssertReadsAsync(stream, 0, 60_000, Token);
        var head = await film.Source.NextAsync(Token);
        head.Deliver(film.Body()[..80_000]);
        await probing;
        stream.Position = SteppedFilm.PartSize;
        var reading = film.AssertReadsAsync(stream, SteppedFilm.PartSize, 1000, Token);
        var middle = await film.Source.NextAsync(Token);
        middle.Deliver(film.Body(1));
        middle.Finish();
        await reading;
        Assert.Equal(0, disk.Files);

        head.Deliver(film.Body()[80_000..]);
        head.Finish();
        await Eventually.HoldsAsync(() => disk.Files == 1, () => $"{disk.Files} files", Token);
    }

    [Fact(Timeout = 60_000)]
    public async Task F27_Failed_offer_does_not_affect_later_ones()
    {
        const int Length = 100_000;
        using var blocks = new BlockPool(BlockPool.BlockSize * 64);
        await using var disk = new DiskSegmentCache(Options, NullLoggerFactory.Instance);
        var proved = new SegmentBuffer(blocks, Length);
        for (var index = 0; index < 2; index++)
            proved.BlockToFill(index);

        // This offer claims more blocks than the segment holds.
        disk.Offer(new DiskKey(1, 1), proved, 4 * Length, 0, 4 * Length);
        disk.Offer(new DiskKey(2, 2), proved, Length, 0, Length);

        await Eventually.HoldsAsync(() => disk.Files == 1, () => $"{disk.Files} files", Token);
        await Eventually.HoldsAsync(() => proved.HasOneCount, () => "the cache still holds it", Token);
        proved.Release();
    }

    [Fact(Timeout = 60_000)]
    public async Task F27_Failed_startup_scan_releases_offered_segments()
    {
        const int Length = 100_000;
        using var blocks = new BlockPool(BlockPool.BlockSize * 64);
        var proved = new SegmentBuffer(blocks, Length);
        for (var index = 0; index < 2; index++)
            proved.BlockToFill(index);

        // This is no disk fault, because the runtime refuses such a path before it calls the system.
        var disk = new DiskSegmentCache(Options with { Path = _folder + "\0" }, NullLoggerFactory.Instance);
        for (ulong segment = 0; segment < 3; segment++)
            disk.Offer(new DiskKey(segment, segment), proved, Length, 0, Length);

        await Eventually.HoldsAsync(() => proved.HasOneCount, () => "the cache still holds what it was offered", Token);
        proved.Release();
        await disk.DisposeAsync();
        Assert.Equal(0, disk.Files);
        Assert.Equal(0, blocks.Rented);
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    private DiskCacheOptions Options => new(_folder);

    private Task<int> ReadAsync(params (int Position, int Count, bool IsOpenEnded)[] reads) => ReadAsync(Options, reads);

    /// <summary>Reads with a new engine and a new cache, as after a restart.</summary>
    /// <returns>Number of articles fetched.</returns>
    private async Task<int> ReadAsync(DiskCacheOptions options, params (int Position, int Count, bool IsOpenEnded)[] reads)
    {
        var before = _source.Requests.Count;
        await using var disk = new DiskSegmentCache(options, NullLoggerFactory.Instance);
        await using var engine = new StreamEngine(_source, new StreamOptions(), TimeProvider.System, NullLoggerFactory.Instance, disk);
        foreach (var (position, count, isOpenEnded) in reads)
        {
            await using (var stream = engine.Open([FileExtent.Whole(_file)], OperationLane.Playback, position, isOpenEnded ? null : position + count))
            {
                var read = new byte[count];
                await stream.ReadExactlyAsync(read, Token);
                Assert.True(read.AsSpan().SequenceEqual(_bytes.AsSpan(position, count)), $"wrong bytes at {position}");
            }

            await Eventually.HoldsAsync(
                () => engine.Blocks.Rented == engine.CachedBytes / BlockPool.BlockSize, () => $"{engine.Blocks.Rented} blocks", Token);
        }

        return _source.Requests.Count - before;
    }
}
