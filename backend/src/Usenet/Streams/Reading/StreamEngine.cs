using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>The reading side of the engine: opens posted files as streams over one source of articles, within one byte budget.</summary>
/// <remarks>Thread-safe; one per process. Streams outlive a change of settings, which makes a new engine.</remarks>
public sealed class StreamEngine : IAsyncDisposable
{
    private readonly StreamResources _shared;
    private readonly SegmentCache _cache;
    private readonly StreamMemory? _ownMemory;

    /// <summary>Creates the engine.</summary>
    /// <param name="source">Where articles come from; not owned.</param>
    /// <param name="options">Memory and trust.</param>
    /// <param name="time">Clock.</param>
    /// <param name="loggers">Where damaged articles are noted.</param>
    /// <param name="disk">Keeps segments between runs; not owned. Null: none are kept.</param>
    /// <param name="memory">Keeps segments, trust and traffic between engines; not owned. Null: they end with the engine.</param>
    public StreamEngine(
        IArticleSource source, StreamOptions options, TimeProvider time, ILoggerFactory loggers, DiskSegmentCache? disk = null, StreamMemory? memory = null)
    {
        var logger = loggers.CreateLogger<StreamEngine>();
        memory ??= _ownMemory = new StreamMemory(time);
        (_cache, Blocks, var places) = memory.Open(options);
        var services = new LoadServices(source, options, Blocks, memory.Trust, new DamageLedger(memory.Reloads, options.AskAgainAfter, time), time, logger) { Served = memory.Segments };
        _shared = new StreamResources(new SegmentFetcher(services, _cache, disk), places, new LineMemory(time), options, time);
    }

    /// <summary>The memory that all streams of this engine use.</summary>
    public BlockPool Blocks { get; }

    /// <summary>Bytes of that memory that no reader holds; they make way for readers.</summary>
    public long CachedBytes => _cache.IdleBytes;

    /// <summary>Bytes that open streams, those of engines before it included, hold ahead of their readers, or are about to; never more than the budget but for what readers wait for.</summary>
    public long HeldBytes => _shared.Places.Budget.Held;

    /// <summary>Streams of this engine that are open now.</summary>
    public int OpenStreams => _shared.OpenStreams;

    /// <summary>The places of its streams, which they share with those of other engines.</summary>
    internal StreamPlaces Places => _shared.Places;

    /// <summary>Opens slices of posted files as one file. Nothing is loaded before the first read.</summary>
    /// <param name="extents">The slices in the order of the file's bytes.</param>
    /// <param name="lane">Why it is read.</param>
    /// <param name="position">Where reading begins.</param>
    /// <param name="end">Offset behind the last byte that will be asked for; the end of the file when null. Nothing past its segment is loaded.</param>
    /// <param name="client">
    /// On whose behalf it is read, compared by equality: while others wait, no client gets more than half of the places. Null: on behalf of the lane.
    /// </param>
    /// <returns>A stream that the caller disposes. Its reads wait for a place while all are taken by streams that read.</returns>
    /// <exception cref="ArgumentException">A slice lies outside its file, or the range outside the combined file.</exception>
    public ReadOnlyStream Open(IReadOnlyList<FileExtent> extents, OperationLane lane, long position = 0, long? end = null, object? client = null)
    {
        var map = new CombinedMap(extents);
        var stop = end ?? map.Length;
        ArgumentOutOfRangeException.ThrowIfNegative(position);
        ArgumentOutOfRangeException.ThrowIfLessThan(stop, position, nameof(end));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(stop, map.Length, nameof(end));
        var stream = new CombinedStream(map, _shared, lane, client, position, stop);
        return extents.Any(static extent => extent.Proof is { IsProved: false }) ? new ProvedStream(stream, extents, stop) : stream;
    }

    /// <summary>Opens slices of posted files that are encrypted as one file, decrypted.</summary>
    /// <param name="extents">The slices in the order of the file's bytes; their lengths sum up to <see cref="StreamCipher.Padded"/> of its length at least.</param>
    /// <param name="cipher">What decrypts them; null where nothing does.</param>
    /// <param name="length">Length of the file, decrypted.</param>
    /// <param name="lane">Why it is read.</param>
    /// <param name="position">Where reading begins.</param>
    /// <param name="end">Offset behind the last byte that will be asked for; the end of the file when null. Nothing past the segment of its block is loaded.</param>
    /// <param name="client">On whose behalf it is read, as above.</param>
    /// <returns>A stream that the caller disposes.</returns>
    /// <exception cref="ArgumentException">A slice lies outside its file, or the range outside the file, or the slices are too short.</exception>
    public ReadOnlyStream Open(
        IReadOnlyList<FileExtent> extents, StreamCipher? cipher, long length, OperationLane lane, long position = 0, long? end = null, object? client = null)
    {
        var stop = end ?? length;
        ArgumentOutOfRangeException.ThrowIfGreaterThan(stop, length, nameof(end));
        if (cipher is null)
            return Open(extents, lane, position, stop, client);

        ArgumentOutOfRangeException.ThrowIfNegative(position);
        ArgumentOutOfRangeException.ThrowIfLessThan(stop, position, nameof(end));
        var (from, to) = AesDecryptStream.CipherRange(cipher, position, stop);
        return new AesDecryptStream(Open(extents, lane, from, to, client), cipher, length, position, stop);
    }

    /// <summary>
    /// Says where the bytes of a file are: in memory, on disk, on their way, or known to be gone. Nothing is loaded, and nothing is
    /// asked of a stream that reads the file.
    /// </summary>
    /// <param name="extents">The slices as they are opened; all of one file.</param>
    /// <param name="mostCells">Into how many equal parts the file is divided at most; no more than it has segments.</param>
    /// <param name="cancellationToken">Gives the reading of message-ids up.</param>
    /// <exception cref="IOException">The list of message-ids cannot be read.</exception>
    public Task<FileCells> LookAsync(IReadOnlyList<FileExtent> extents, int mostCells, CancellationToken cancellationToken) =>
        CellFinder.FindAsync(new CombinedMap(extents), _shared.Fetcher, mostCells, cancellationToken);

    /// <summary>Ends all loads and gives the cache back. Streams that are still open fail.</summary>
    public async ValueTask DisposeAsync()
    {
        await _shared.Fetcher.DisposeAsync();
        _ownMemory?.Dispose();
    }
}

/// <summary>What all streams of one engine share.</summary>
/// <param name="Fetcher">Loads segments.</param>
/// <param name="Places">Gives streams places, and shares the memory among those that have one.</param>
/// <param name="Line">What readers of late have found out about the line.</param>
/// <param name="Options">Memory and trust.</param>
/// <param name="Time">Clock.</param>
internal sealed record StreamResources(SegmentFetcher Fetcher, StreamPlaces Places, LineMemory Line, StreamOptions Options, TimeProvider Time)
{
    private int _openStreams;

    /// <summary>Streams that are open, with a place or without.</summary>
    public int OpenStreams => Volatile.Read(ref _openStreams);

    /// <summary>A stream was opened, or closed.</summary>
    public void CountOpen(int change) => Interlocked.Add(ref _openStreams, change);
}
