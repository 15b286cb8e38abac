using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Streams that lose their place to other readers free their memory, and continue with the right bytes.</summary>
public sealed class EvictedStreamTests
{
    private const int Article = 100_000;

    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact(Timeout = 60_000)]
    public async Task Paused_stream_is_evicted_and_resumes_byte_for_byte()
    {
        await using var host = await StartAsync(1);
        await using var paused = host.Open();
        await AssertReadsAsync(host, paused, 250_000);

        // The paused stream keeps its place for a second.
        await using var next = host.Open(2_000_000);
        var first = new byte[1];
        var read = next.ReadExactlyAsync(first, Token).AsTask();
        _time.Advance(StreamPlaces.LeastIdle - TimeSpan.FromMilliseconds(1));
        Assert.Equal((1, false), (host.Engine.Places.Waiting, read.IsCompleted));
        _time.Advance(TimeSpan.FromMilliseconds(1));
        await read;
        Assert.Equal(host.Truth(2_000_000, 1), first);

        // Only the reading stream holds memory, the paused one does not.
        await Eventually.HoldsAsync(
            () => host.HeldBlocks <= 2 * 2 && host.Permits == 0, () => $"{host.HeldBlocks} blocks, {host.Permits} permits", Token);
        _time.Advance(StreamPlaces.LeastIdle);
        await AssertReadsAsync(host, paused, 500_000);
        _time.Advance(StreamPlaces.LeastIdle);
        await AssertReadsAsync(host, next, 500_000);
    }

    [Fact(Timeout = 60_000)]
    public async Task Evicted_streams_still_read_correct_bytes()
    {
        const int Readers = 12;
        await using var host = await StartAsync(2);
        using var all = new CancellationTokenSource();
        var readers = Task.WhenAll(Enumerable.Range(0, Readers).Select(reader => Task.Run(async () =>
        {
            await using var stream = host.Engine.Open(
                [FileExtent.Whole(host.File())], OperationLane.Playback, reader * 100_000, client: $"client {reader % 3}");
            for (var piece = 0; piece < 20; piece++)
            {
                await AssertReadsAsync(host, stream, 17_000 + reader);
                await Task.Yield();
            }
        })));
        while (!readers.IsCompleted)
        {
            _time.Advance(StreamPlaces.LeastIdle / 4);
            await Task.Yield();
        }

        await readers;
        Assert.Equal((0, 0), (host.Engine.Places.Taken, host.Engine.Places.Waiting));
    }

    [Fact(Timeout = 60_000)]
    public async Task Read_canceled_while_waiting_throws_StreamLimitException()
    {
        await using var host = await StartAsync(1);
        await using var paused = host.Open();
        await AssertReadsAsync(host, paused, 1000);
        await using var next = host.Open();
        using var timeout = new CancellationTokenSource();
        var read = next.ReadAsync(new byte[1], timeout.Token).AsTask();
        Assert.True(next.Snapshot()!.IsCrowded);
        await timeout.CancelAsync();
        Assert.Equal(1, (await Assert.ThrowsAsync<StreamLimitException>(() => read)).Limit);

        // The refused stream can still be read later.
        _time.Advance(StreamPlaces.LeastIdle);
        await AssertReadsAsync(host, next, 1000);
    }

    private static async Task AssertReadsAsync(EngineHost host, Stream stream, int count)
    {
        var (position, bytes) = (stream.Position, new byte[count]);
        await stream.ReadExactlyAsync(bytes, Token);
        Assert.True(bytes.AsSpan().SequenceEqual(host.Truth((int)position, count)), $"wrong bytes at {position}");
    }

    private Task<EngineHost> StartAsync(int places) => EngineHost.StartAsync(
        EngineHost.Film(60, Article),
        streams: new StreamOptions { WantedStreams = places, ProbeBytes = 10_000, LandingReach = 4_000, CacheBytes = 0 },
        streamTime: _time);
}
