using System.Threading.Channels;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Cache;

/// <summary>
/// Keeps on disk the blocks read at the edges of files, so that a repeated library scan costs the providers nothing (F27). A load waits for reads but never for
/// writes: blocks that arrive faster than the disk can write are not kept.
/// </summary>
/// <remarks>
/// Thread-safe. One per folder and process; shared by any number of engines and outlives them. Every disk failure counts as a miss. Only verified bytes are
/// stored, and each block's checksum is checked when it is read.
/// </remarks>
public sealed class DiskSegmentCache : IAsyncDisposable
{
    private const int MaxQueued = 1024;

    private readonly Channel<KeptSegment> _queue = Channel.CreateBounded<KeptSegment>(new BoundedChannelOptions(MaxQueued) { SingleReader = true });
    private readonly DiskCacheOptions _options;
    private readonly DiskCacheIndex _index;
    private readonly BlockFiles _files;
    private readonly ILogger _logger;
    private readonly Task _worker;

    // A separate pool, because blocks in transit to disk belong to no reader. Shared by all writes, because a dropped pool keeps its memory until the
    // collector runs.
    private readonly BlockPool _blocks = new(BlockPool.BlockSize);
    private long _queued;
    private volatile bool _hasFailed;

    /// <summary>Opens a cache and scans its folder in the background.</summary>
    public DiskSegmentCache(DiskCacheOptions options, ILoggerFactory loggers)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _index = new DiskCacheIndex(options);
        _files = new BlockFiles(options.Path);
        _logger = loggers.CreateLogger<DiskSegmentCache>();
        _worker = Task.Run(WorkAsync);
    }

    public long Bytes => _index.Bytes;

    public int Files => _index.Count;

    /// <summary>Changes the byte limit; takes effect with the next write.</summary>
    public void Limit(long bytes) => _index.Limit(bytes);

    /// <summary>Writes everything queued, then ends.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _worker;
        _blocks.Dispose();
    }

    internal bool Covers(FileOrigin file, Stretch place) =>
        _options.KeepsAll || place.Begin < _options.EdgeBytes || place.Begin + place.Length > file.Length - _options.EdgeBytes;

    /// <summary>Returns the size of a segment's file; 0 if there is none or the folder is not scanned yet. Does not count as a use.</summary>
    internal long BytesOf(DiskKey key) => _index.BytesOf(key);

    /// <returns>A buffer with only the stored blocks and one reference; null if there are none.</returns>
    internal ValueTask<SegmentBuffer?> FindAsync(DiskKey key, int segmentLength, BlockPool blocks) =>
        _index.MayHold(key) ? ReadAsync(key, segmentLength, blocks) : default;

    /// <summary>Queues the blocks of a verified segment between two offsets, the second exclusive. The cache takes its own reference.</summary>
    internal void Offer(DiskKey key, SegmentBuffer proved, int length, int from, int to)
    {
        var offer = new KeptSegment(key, proved, length, from / BlockPool.BlockSize, (to - 1) / BlockPool.BlockSize);
        if (Interlocked.Add(ref _queued, offer.Bytes) <= _options.MaxQueuedBytes)
        {
            proved.Retain();
            if (_queue.Writer.TryWrite(offer))
                return;
            proved.Release();
        }

        Interlocked.Add(ref _queued, -offer.Bytes);
    }

    private async ValueTask<SegmentBuffer?> ReadAsync(DiskKey key, int segmentLength, BlockPool blocks)
    {
        try
        {
            // On another thread, because the disk may be slow and the caller may hold a reader's lock. Asynchronous file I/O would also use a pool thread for
            // each call.
            return await Task.Run(() => _files.Read(key, segmentLength, blocks));
        }
        catch (InvalidDataException)
        {
            StreamsLog.CacheEntryDamaged(_logger);
            Delete(key);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            LogFailure(failure);
        }

        return null;
    }

    private async Task WorkAsync()
    {
        try
        {
            _index.Complete(_files.Scan());
            Trim();
        }
        catch (Exception failure)
        {
            LogFailure(failure);
        }

        await foreach (var offer in _queue.Reader.ReadAllAsync())
        {
            try
            {
                await KeepAsync(offer);
                Trim();
                _hasFailed = false;
            }
            catch (Exception failure)
            {
                // One segment is lost. Without this catch the loop would end, and no later segment would be kept.
                LogFailure(failure);
            }
            finally
            {
                offer.Proved.Release();
                Interlocked.Add(ref _queued, -offer.Bytes);
            }
        }
    }

    /// <summary>Writes a file with the new blocks and those already on disk.</summary>
    private async Task KeepAsync(KeptSegment offer)
    {
        var before = await FindAsync(offer.Key, offer.Length, _blocks);
        try
        {
            var indexes = Enumerable.Range(0, offer.BlockCount).Where(index => offer.Has(index) || before?.HoldsBlock(index) == true).ToArray();
            if (before is not null && indexes.All(before.HoldsBlock))
                return;
            var length = await _files.WriteAsync(offer.Key, offer.Length, indexes, offer.Read);
            _index.Written(offer.Key, length);
        }
        finally
        {
            before?.Release();
        }
    }

    private void Trim()
    {
        while (_index.TakeSurplus() is { } surplus)
            _files.Delete(surplus);
    }

    private void Delete(DiskKey key)
    {
        _index.Removed(key);
        try
        {
            _files.Delete(key);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            LogFailure(failure);
        }
    }

    /// <summary>Logs a disk failure, but only once until a write succeeds; playback continues without the cache.</summary>
    private void LogFailure(Exception failure)
    {
        if (!_hasFailed)
            StreamsLog.CacheUnusable(_logger, failure.Message);
        _hasFailed = true;
    }
}

/// <summary>Blocks <c>First</c> to <c>Last</c> of a verified segment, queued to be written. Holds a reference to the segment.</summary>
internal sealed record KeptSegment(DiskKey Key, SegmentBuffer Proved, int Length, int First, int Last)
{
    public int BlockCount => (Length + BlockPool.BlockSize - 1) / BlockPool.BlockSize;

    /// <summary>Memory that the segment occupies until it is written, in bytes.</summary>
    public long Bytes => Proved.BlockBytes;

    public bool Has(int index) => index >= First && index <= Last;

    public ReadOnlyMemory<byte> Read(int index) => Proved.BlockMemory(index)[..new StoredBlock(index, 0).LengthIn(Length)];
}

/// <summary>Records the range read from one segment, and offers that range to the disk cache at the end. Used only by a slot's reader.</summary>
internal sealed class ReadBlocks(DiskSegmentCache disk, DiskKey key, int length)
{
    private int _from = int.MaxValue;
    private int _to;

    public void Note(int offset, int count)
    {
        if (count == 0)
            return;
        _from = Math.Min(_from, offset);
        _to = Math.Max(_to, offset + count);
    }

    /// <summary>Offers the recorded range to the disk cache when the reader is done with the verified segment.</summary>
    public void Offer(SegmentBuffer proved)
    {
        if (_to > 0)
            disk.Offer(key, proved, length, _from, _to);
    }
}
