using System.Diagnostics;
using System.Net;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Readers stay within the memory that they were given, however long they read.</summary>
[Collection(EndToEndRun.Name)]
public sealed class MemoryTests
{
    private const int Readers = 8;
    private const int BytesPerSecond = 1_000_000;
    private const long Allowance = 256L << 20;
    private const long Growth = 8L << 20;
    private static readonly SyntheticFilm Film = new(7, 500_000_000, 716_800);

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public Task Eight_readers_stay_within_the_budget() => ReadSteadilyAsync(TimeSpan.FromSeconds(30));

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public Task Eight_readers_stay_within_the_budget_for_three_minutes() => ReadSteadilyAsync(TimeSpan.FromMinutes(3));

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

    private static long Median(IEnumerable<(TimeSpan At, long Bytes)> samples)
    {
        var sorted = samples.Select(sample => sample.Bytes).Order().ToArray();
        return sorted[sorted.Length / 2];
    }
}
