using System.Diagnostics;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Memory of open streams that have read and now pause, and their effect on the next reader.</summary>
public sealed class OpenStreamsTests
{
    private const int Article = 700_000;
    private const int Bytes = 250_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 120_000)]
    [InlineData(1)]
    [InlineData(10)]
    [InlineData(100)]
    [InlineData(1000)]
    [Trait("Category", "Long")]
    public async Task Paused_streams_stay_within_the_stream_and_memory_limits(int count)
    {
        var options = new StreamOptions();
        await using var host = await EngineHost.StartAsync(EngineHost.Film(20, Article), streams: options);
        await ReadNextAsync(host);
        var (memory, cpu) = (GC.GetTotalMemory(forceFullCollection: true), Environment.CpuUsage.TotalTime);
        var streams = await Task.WhenAll(Enumerable.Range(0, count).Select(number => OpenAsync(host, number)));
        cpu = Environment.CpuUsage.TotalTime - cpu;
        await Task.Delay(2 * StreamPlaces.LeastIdle, TimeProvider.System, Token);
        memory = GC.GetTotalMemory(forceFullCollection: true) - memory;
        var (blocks, ahead) = (host.HeldBlocks * BlockPool.BlockSize, host.Engine.Places.Budget.Held);
        Assert.Equal(Math.Min(count, options.MaxStreams), host.Engine.Places.Taken);
        Assert.InRange(ahead, 0, options.ByteBudget);

        var next = await ReadNextAsync(host);
        TestContext.Current.TestOutputHelper?.WriteLine(
            $"{count} streams: {ahead >> 20} MiB ahead, {blocks >> 20} MiB of blocks, {memory / count / 1024.0:F1} KiB of objects and "
            + $"{cpu.TotalMicroseconds / count:F0} us of CPU each, next first byte {next.TotalMilliseconds:F2} ms");
        foreach (var stream in streams)
            await stream.DisposeAsync();
        await host.AssertNothingIsLeftAsync(Token);
    }

    // All streams read the same bytes, so the measurement excludes the memory of articles.
    private static async Task<ReadOnlyStream> OpenAsync(EngineHost host, int number)
    {
        var stream = host.Engine.Open([FileExtent.Whole(host.File())], OperationLane.Playback, client: number % 50);
        await stream.ReadExactlyAsync(new byte[Bytes], Token);
        return stream;
    }

    private static async Task<TimeSpan> ReadNextAsync(EngineHost host)
    {
        var since = Stopwatch.GetTimestamp();
        await using var stream = host.Open();
        await stream.ReadExactlyAsync(new byte[1], Token);
        return Stopwatch.GetElapsedTime(since);
    }
}
