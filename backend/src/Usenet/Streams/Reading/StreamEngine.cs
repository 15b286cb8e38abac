using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>The reading side of the engine: opens posted files as streams over one article source, within one byte budget.</summary>
/// <remarks>Thread-safe; one per process. Streams survive a change of settings, which creates a new engine.</remarks>
public sealed class StreamEngine : IAsyncDisposable
{
    private readonly StreamResources _shared;
    private readonly SegmentCache _cache;
    private readonly StreamMemory? _ownMemory;

    /// <param name="source">Delivers articles; not owned.</param>
    /// <param name="loggers">Creates the logger for damaged articles.</param>
    /// <param name="disk">Keeps segments between runs; not owned. If null, none are kept.</param>
    /// <param name="memory">Keeps segments, trust and traffic between engines; not owned. If null, they end with the engine.</param>
    public StreamEngine(
        IArticleSource source, StreamOptions options, TimeProvider time, ILoggerFactory loggers, DiskSegmentCache? disk = null, StreamMemory? memory = null)
    {
        var logger = loggers.CreateLogger<StreamEngine>();
        memory ??= _ownMemory = new StreamMemory(time);
        (_cache, Blocks, var places) = memory.Open(options);
        var services = new LoadServices(source, options, Blocks, memory.Trust, new DamageLedger(memory.Reloads, options.AskAgainAfter, time), time, logger) { Served = memory.Segments };
        _shared = new StreamResources(new SegmentFetcher(services, _cache, disk), places, new LineMemory(time), options, time);
    }

    /// <summary>Memory for decoded bytes, shared by all streams of this engine.</summary>
    public BlockPool Blocks { get; }

    /// <summary>Cached bytes that no reader holds; released when readers need memory.</summary>
    public long CachedBytes => _cache.IdleBytes;

    public int OpenStreams => _shared.OpenStreams;

    /// <summary>The places of this engine's streams, shared with other engines.</summary>
    internal StreamPlaces Places => _shared.Places;

    /// <summary>Opens slices of posted files as one file. Loads nothing before the first read.</summary>
    /// <param name="position">Offset of the first byte to read.</param>
    /// <param name="end">Offset after the last byte that will be read; null for the end of the file. Nothing past that byte's segment is loaded.</param>
    /// <param name="client">Compared by equality: while others wait, no client gets more than half of the places. If null, the lane is the client.</param>
    /// <param name="account">Pays for the fetches of the stream; if null, they count for the lane alone.</param>
    /// <returns>A stream that the caller disposes. Its reads wait for a place while active streams hold all places.</returns>
    /// <exception cref="ArgumentException">A slice lies outside its file, or the range outside the combined file.</exception>
    public ReadOnlyStream Open(
        IReadOnlyList<FileExtent> extents, OperationLane lane, long position = 0, long? end = null, object? client = null, ReaderAccount? account = null)
    {
        var map = new CombinedMap(extents);
        var stop = end ?? map.Length;
        ArgumentOutOfRangeException.ThrowIfNegative(position);
        ArgumentOutOfRangeException.ThrowIfLessThan(stop, position, nameof(end));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(stop, map.Length, nameof(end));
        var stream = new CombinedStream(map, _shared, lane, client, account, position, stop);
        if (!extents.Any(static extent => extent.Proof is { IsProved: false }))
            return stream;
        return new ProvedStream(stream, _shared.Options.SharesSegments ? stream : null, extents, stop);
    }

    /// <summary>Opens encrypted slices of posted files as one decrypted file.</summary>
    /// <param name="extents">The slices in file order; in total at least <see cref="StreamCipher.Padded"/> of the length in bytes.</param>
    /// <param name="cipher">The cipher; null if the slices are not encrypted.</param>
    /// <param name="length">Length of the decrypted file.</param>
    /// <param name="position">Offset of the first byte to read.</param>
    /// <param name="end">
    /// Offset after the last byte that will be read; null for the end of the file. Nothing past the segment with that byte's block is loaded.
    /// </param>
    /// <param name="client">Compared by equality, as for files that are not encrypted.</param>
    /// <param name="account">Pays for the fetches of the stream; if null, they count for the lane alone.</param>
    /// <returns>A stream that the caller disposes.</returns>
    /// <exception cref="ArgumentException">A slice lies outside its file, or the range outside the file, or the slices are too short.</exception>
    public ReadOnlyStream Open(
        IReadOnlyList<FileExtent> extents,
        StreamCipher? cipher,
        long length,
        OperationLane lane,
        long position = 0,
        long? end = null,
        object? client = null,
        ReaderAccount? account = null)
    {
        var stop = end ?? length;
        ArgumentOutOfRangeException.ThrowIfGreaterThan(stop, length, nameof(end));
        if (cipher is null)
            return Open(extents, lane, position, stop, client, account);

        ArgumentOutOfRangeException.ThrowIfNegative(position);
        ArgumentOutOfRangeException.ThrowIfLessThan(stop, position, nameof(end));
        var (from, to) = AesDecryptStream.CipherRange(cipher, position, stop);
        return new AesDecryptStream(Open(extents, lane, from, to, client, account), cipher, length, position, stop);
    }

    /// <summary>Reports which bytes of a file are in memory, on disk, in transit or gone. Loads nothing and does not disturb open streams.</summary>
    /// <param name="extents">The slices as passed to <c>Open</c>; all from one file.</param>
    /// <param name="mostCells">Maximum number of parts to report; also limited by the number of segments.</param>
    /// <exception cref="IOException">The message-ids cannot be read.</exception>
    public Task<FileCells> LookAsync(IReadOnlyList<FileExtent> extents, int mostCells, CancellationToken cancellationToken) =>
        CellFinder.FindAsync(new CombinedMap(extents), _shared.Fetcher, mostCells, cancellationToken);

    /// <summary>Ends all loads and releases the cache. Open streams fail.</summary>
    public async ValueTask DisposeAsync()
    {
        await _shared.Fetcher.DisposeAsync();
        _ownMemory?.Dispose();
    }
}
