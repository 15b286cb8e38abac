using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Yenc;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>A file of a few articles that arrive exactly when the test delivers them.</summary>
internal sealed class SteppedFilm : IAsyncDisposable
{
    public const int PartSize = 400_000;

    private readonly byte[][] _wire;
    private readonly TimeProvider _time;

    public SteppedFilm(int parts = 1, StreamOptions? options = null, TimeProvider? time = null, DiskSegmentCache? disk = null, StreamMemory? memory = null)
    {
        _time = time ?? TimeProvider.System;
        Bytes = TestArticle.Noise(parts * PartSize, parts);
        _wire = [.. Enumerable.Range(0, parts).Select(Wire)];
        Engine = NewEngine(options ?? new StreamOptions { ProbeBytes = 64 * 1024 }, memory, disk);
        File = FileOf(parts, [.. Enumerable.Range(0, parts).Select(part => new SegmentIds(MessageId.Parse($"{part}@film"), []))]);
    }

    public byte[] Bytes { get; }

    public SteppedArticleSource Source { get; } = new();

    public StreamEngine Engine { get; }

    public PostedFile File { get; }

    public static PostedFile FileOf(int parts, IReadOnlyList<SegmentIds> ids) => new(SegmentMap.Uniform(parts, PartSize, (long)parts * PartSize), new FixedIds(ids));

    public ReadOnlyStream Open(long position = 0, long? end = null, OperationLane lane = OperationLane.Playback, PostedFile? file = null) =>
        Engine.Open([FileExtent.Whole(file ?? File)], lane, position, end);

    /// <summary>Creates another engine over the same source, as a change of settings does.</summary>
    public StreamEngine NewEngine(StreamOptions options, StreamMemory? memory, DiskSegmentCache? disk = null) =>
        new(Source, options, _time, NullLoggerFactory.Instance, disk, memory);

    /// <summary>Returns the body of a part as sent over the wire.</summary>
    public ReadOnlySpan<byte> Body(int part = 0) => _wire[part];

    /// <summary>Reads from a stream and compares.</summary>
    public async Task AssertReadsAsync(Stream stream, int position, int count, CancellationToken cancellationToken)
    {
        var read = new byte[count];
        await stream.ReadExactlyAsync(read, cancellationToken);
        if (!read.AsSpan().SequenceEqual(Bytes.AsSpan(position, count)))
            Xunit.Assert.Fail($"wrong bytes at {position}+{count}");
    }

    public ValueTask DisposeAsync() => Engine.DisposeAsync();

    private byte[] Wire(int part) => TestArticle.OnWire(TestArticle.Part(
        Bytes.AsSpan(part * PartSize, PartSize).ToArray(),
        (long)part * PartSize,
        Bytes.Length,
        part + 1,
        Bytes.Length / PartSize));
}
