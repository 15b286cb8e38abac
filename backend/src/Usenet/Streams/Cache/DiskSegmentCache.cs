using System.Threading.Channels;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Cache;

/// <summary>
/// Keeps the blocks that were read at the edges of files on disk, so that a library scan costs the providers nothing twice (F27).
/// Reading is on the way of a load; writing is not: blocks that cannot be written as fast as they come are not kept.
/// </summary>
/// <remarks>
/// Thread-safe. One per folder and process; any number of engines may share it, and it outlives them. Every failure of
/// the disk is a miss. Only proved bytes go in, and each block is checked again when it comes out.
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

    // Of its own, because blocks on their way to the disk are not those of a reader. One for all of them: the blocks of a pool that is
    // dropped keep their memory until the collector comes.
    private readonly BlockPool _blocks = new(BlockPool.BlockSize);
    private long _queued;
    private volatile bool _isTrouble;

    /// <summary>Opens a cache. The folder is looked through in the background.</summary>
    /// <param name="options">How much it keeps, and where.</param>
    /// <param name="loggers">Where it is noted that the disk cannot be used.</param>
    public DiskSegmentCache(DiskCacheOptions options, ILoggerFactory loggers)
    {
        ArgumentNullException.ThrowIfNull(options);
        _options = options;
        _index = new DiskCacheIndex(options);
        _files = new BlockFiles(options.Path);
        _logger = loggers.CreateLogger<DiskSegmentCache>();
        _worker = Task.Run(WorkAsync);
    }

    /// <summary>Bytes of its files.</summary>
    public long Bytes => _index.Bytes;

    /// <summary>Number of its files.</summary>
    public int Files => _index.Count;

    /// <summary>Changes how many bytes its files may have; takes effect with the next that is written.</summary>
    public void Limit(long bytes) => _index.Limit(bytes);

    /// <summary>Writes what waits to be written, and ends.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _worker;
        _blocks.Dispose();
    }

    /// <summary>Whether a piece of a file belongs into the cache.</summary>
    internal bool Covers(Piece piece) =>
        _options.KeepsAll || piece.Begin < _options.EdgeBytes || piece.End > piece.File.Origin.Length - _options.EdgeBytes;

    /// <summary>Bytes of the file that is kept of a segment; 0 for none, and while the folder has not been looked through. Does not count as a use.</summary>
    internal long BytesOf(DiskKey key) => _index.BytesOf(key);

    /// <summary>Looks for the blocks that are kept of a segment.</summary>
    /// <returns>A buffer that holds just the blocks that are kept, with one count on it; null for none.</returns>
    internal ValueTask<SegmentBuffer?> FindAsync(DiskKey key, int segmentLength, BlockPool blocks) =>
        _index.MayHold(key) ? ReadAsync(key, segmentLength, blocks) : default;

    /// <summary>Offers blocks of a proved segment that were read.</summary>
    /// <param name="key">Of the segment.</param>
    /// <param name="proved">The segment, whole. The cache takes a count of its own for as long as it needs it.</param>
    /// <param name="length">Its decoded bytes.</param>
    /// <param name="from">Where reading began in it.</param>
    /// <param name="to">Where it ended.</param>
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
            // The disk may take a while, and the caller may hold the lock of a reader. The system would read on a thread of the pool, too, but
            // call by call.
            return await Task.Run(() => _files.Read(key, segmentLength, blocks));
        }
        catch (InvalidDataException)
        {
            StreamsLog.CacheEntryDamaged(_logger);
            Delete(key);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            Note(failure);
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
            Note(failure);
        }

        await foreach (var offer in _queue.Reader.ReadAllAsync())
        {
            try
            {
                await KeepAsync(offer);
                Trim();
                _isTrouble = false;
            }
            catch (Exception failure)
            {
                // One segment is not kept; without this loop none would be any more.
                Note(failure);
            }
            finally
            {
                offer.Proved.Release();
                Interlocked.Add(ref _queued, -offer.Bytes);
            }
        }
    }

    /// <summary>Writes the blocks that are not kept yet, together with those that are.</summary>
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
            Note(failure);
        }
    }

    /// <summary>Says once that the disk cannot be used; playback goes on without it.</summary>
    private void Note(Exception failure)
    {
        if (!_isTrouble)
            StreamsLog.CacheUnusable(_logger, failure.Message);
        _isTrouble = true;
    }
}

/// <summary>Blocks of a proved segment on their way to the disk.</summary>
/// <param name="Key">Of the segment.</param>
/// <param name="Proved">The segment, with a count for the way.</param>
/// <param name="Length">Its decoded bytes.</param>
/// <param name="First">First block to keep.</param>
/// <param name="Last">Last block to keep.</param>
internal sealed record KeptSegment(DiskKey Key, SegmentBuffer Proved, int Length, int First, int Last)
{
    /// <summary>Blocks of the whole segment.</summary>
    public int BlockCount => (Length + BlockPool.BlockSize - 1) / BlockPool.BlockSize;

    /// <summary>Memory that waits with it.</summary>
    public long Bytes => Proved.BlockBytes;

    /// <summary>Whether a block is to be kept.</summary>
    public bool Has(int index) => index >= First && index <= Last;

    /// <summary>The bytes of a block.</summary>
    public ReadOnlyMemory<byte> Read(int index) => Proved.BlockMemory(index)[..new StoredBlock(index, 0).LengthIn(Length)];
}

/// <summary>Notes what a reader takes of one segment at the edge of a file, and offers it to the disk in the end.</summary>
/// <remarks>For the one reader of a slot.</remarks>
internal sealed class ReadBlocks(DiskSegmentCache disk, DiskKey key, int length)
{
    private int _from = int.MaxValue;
    private int _to;

    /// <summary>Bytes were taken.</summary>
    public void Note(int offset, int count)
    {
        if (count == 0)
            return;
        _from = Math.Min(_from, offset);
        _to = Math.Max(_to, offset + count);
    }

    /// <summary>The reader has done with the segment, which is proved.</summary>
    public void Offer(SegmentBuffer proved)
    {
        if (_to > 0)
            disk.Offer(key, proved, length, _from, _to);
    }
}
