using System.Diagnostics;
using System.Net;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Readers cost what they need while they read, and nothing when they are gone.</summary>
[Collection(EndToEndRun.Name)]
public sealed class MemoryTests
{
    private const int Readers = 8;
    private const int Connections = 8;
    private const int BytesPerSecond = 1_000_000;
    private const long Allowance = 256L << 20;
    private const long Growth = 8L << 20;
    private const long LostBlocks = 32L << 20;
    private static readonly SyntheticFilm Film = new(7, 500_000_000, 716_800);

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public Task Eight_readers_stay_within_the_budget() => ReadSteadilyAsync(TimeSpan.FromSeconds(30));

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public Task Eight_readers_stay_within_the_budget_for_three_minutes() => ReadSteadilyAsync(TimeSpan.FromMinutes(3));

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task Thousand_cancelled_reads_leave_nothing_behind()
    {
        var cancel = TestContext.Current.CancellationToken;
        // The shortest time after which the server itself closes what nobody uses.
        var settings = new Dictionary<string, string> { ["SLUICE_CONFIG__USENET__IDLE_CONNECTION_TIMEOUT_SECONDS"] = "15" };
        await using var set = await MockedServer.StartAsync(new MockOptions(), settings, cancel);
        await Film.PublishAsync(set.Client, cancel);

        // The first thousand fill the pools. One block lost per read would be 64 MiB in the second thousand.
        var random = new Random(20260104);
        var memory = new List<long>();
        for (var round = 0; round < 2; round++)
        {
            for (var read = 0; read < 1000; read += Readers)
                await Task.WhenAll(Enumerable.Range(0, Readers).Select(_ => CancelReadAsync(set.Client, random.NextInt64(Film.Size), cancel)));
            memory.Add(set.Server.ResidentBytes);
        }
        Assert.InRange(set.Mock.Stats.ConnectionsPeak, 1, Connections);
        Assert.InRange(memory[1], 0, memory[0] + LostBlocks);
        await WaitForNoConnectionsAsync(set, cancel);

        // A permit that was lost would be a connection that is never used again.
        await ReadOnAllConnectionsAsync(set, cancel);
        await WaitForNoConnectionsAsync(set, cancel);
    }

    private static async Task ReadSteadilyAsync(TimeSpan duration)
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        await Film.PublishAsync(set.Client, cancel);
        var idle = set.Server.ResidentBytes;

        var clock = Stopwatch.StartNew();
        var readers = Enumerable.Range(0, Readers)
            .Select(reader => ReadPacedAsync(set.Client, reader * (Film.Size / Readers), duration, cancel)).ToArray();
        var all = Task.WhenAll(readers);
        var samples = new List<(TimeSpan At, long Bytes)>();
        while (!all.IsCompleted)
        {
            samples.Add((clock.Elapsed, set.Server.ResidentBytes));
            await Task.WhenAny(all, Task.Delay(TimeSpan.FromMilliseconds(250), TimeProvider.System, cancel));
        }
        await all;

        Assert.InRange(samples.Max(sample => sample.Bytes), 0, idle + Allowance);
        // The first third holds the ramp; what comes after must not keep growing.
        var third = duration / 3;
        var first = Median(samples.Where(sample => sample.At < third));
        var last = Median(samples.Where(sample => sample.At >= duration - third));
        Assert.True(last <= first + Growth, $"Memory grew from {first >> 20} to {last >> 20} MiB.");
        TestContext.Current.TestOutputHelper?.WriteLine(
            $"idle {idle >> 20} MiB, peak {samples.Max(sample => sample.Bytes) >> 20} MiB, first third {first >> 20} MiB, last third {last >> 20} MiB");
    }

    /// <summary>Reads at the rate of a film and compares every byte.</summary>
    private static async Task ReadPacedAsync(SluiceClient client, long offset, TimeSpan duration, CancellationToken cancel)
    {
        using var answer = await client.OpenAsync(Film.Path, offset, null, cancel);
        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        await using var body = await answer.Content.ReadAsStreamAsync(cancel);
        var piece = new byte[BytesPerSecond / 10];
        var clock = Stopwatch.StartNew();
        for (var read = 0L; clock.Elapsed < duration && offset + piece.Length <= Film.Size; read += piece.Length, offset += piece.Length)
        {
            await body.ReadExactlyAsync(piece, cancel);
            Film.AssertEqual(offset, piece);
            var due = TimeSpan.FromSeconds((double)(read + piece.Length) / BytesPerSecond) - clock.Elapsed;
            if (due > TimeSpan.Zero)
                await Task.Delay(due, TimeProvider.System, cancel);
        }
    }

    /// <summary>Opens a range, reads a little, and goes as a viewer who seeks on.</summary>
    private static async Task CancelReadAsync(SluiceClient client, long offset, CancellationToken cancel)
    {
        using var answer = await client.OpenAsync(Film.Path, offset, null, cancel);
        await using var body = await answer.Content.ReadAsStreamAsync(cancel);
        await body.ReadAtLeastAsync(new byte[1024], 1, throwOnEndOfStream: false, cancel);
    }

    /// <summary>Reads with as many readers as there are connections, and finds them all in use and every byte right.</summary>
    private static async Task ReadOnAllConnectionsAsync(MockedServer set, CancellationToken cancel)
    {
        // With a round trip to wait for, the readers ask for more than a few connections carry, so all are dialled.
        set.Mock.Change(0, provider => provider with { Latency = TimeSpan.FromMilliseconds(100) });
        set.Mock.Reset();
        await Task.WhenAll(Enumerable.Range(0, Readers).Select(async reader =>
        {
            var from = reader * (Film.Size / Readers);
            Film.AssertEqual(from, await set.Client.GetRangeAsync(Film.Path, from, from + 20_000_000, Film.Size, cancel));
        }));
        Assert.Equal(Connections, set.Mock.Stats.ConnectionsPeak);
    }

    private static async Task WaitForNoConnectionsAsync(MockedServer set, CancellationToken cancel)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(TimeSpan.FromSeconds(60));
        while (set.Mock.Stats.ConnectionsNow > 0)
        {
            Assert.False(limit.IsCancellationRequested, $"{set.Mock.Stats.ConnectionsNow} sockets stay open.");
            await Task.Delay(TimeSpan.FromMilliseconds(100), TimeProvider.System, cancel);
        }
    }

    private static long Median(IEnumerable<(TimeSpan At, long Bytes)> samples)
    {
        var sorted = samples.Select(sample => sample.Bytes).Order().ToArray();
        return sorted[sorted.Length / 2];
    }
}
