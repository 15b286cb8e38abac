using System.Diagnostics;
using System.Net;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Readers stay within their memory budget, however long they read.</summary>
[Collection(EndToEndRun.Name)]
public sealed class MemoryTests
{
    private const int Readers = 8;
    private const int BytesPerSecond = 1_000_000;
    private const long Allowance = 256L << 20;
    private const long Growth = 8L << 20;
    private static readonly SyntheticFilm Film = new(7, 500_000_000, 716_800);

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public Task Eight_readers_stay_within_the_memory_budget() => ReadSteadilyAsync(TimeSpan.FromSeconds(10), least: 3, most: 12);

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public Task Eight_readers_stay_in_the_memory_budget_for_three_minutes() => ReadSteadilyAsync(TimeSpan.FromMinutes(1), least: 3, most: 3);

    /// <summary>Runs all readers for a least number of spells, and until memory no longer grows from one spell to the next.</summary>
    /// <remarks>
    /// During the first spells buffers fill and code is compiled, for as long as the machine needs. Memory that still grows
    /// in the last spell is a leak.
    /// </remarks>
    private static async Task ReadSteadilyAsync(TimeSpan spell, int least, int most)
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        await Film.PublishAsync(set.Client, cancel);
        var idle = set.Server.ResidentBytes;

        using var enough = new CancellationTokenSource();
        var readers = Task.WhenAll(Enumerable.Range(0, Readers)
            .Select(reader => ReadPacedAsync(set.Client, reader * (Film.Size / Readers), enough.Token, cancel)));
        var medians = new List<long>();
        while (medians.Count < least || (medians.Count < most && medians[^1] > medians[^2] + Growth))
            medians.Add(await MedianOfAsync(set.Server, spell, idle + Allowance, readers, cancel));
        await enough.CancelAsync();
        await readers;

        Assert.True(medians[^1] <= medians[^2] + Growth, $"Memory keeps growing: {InMebibytes(medians)} MiB.");
        TestContext.Current.TestOutputHelper?.WriteLine($"idle {idle >> 20} MiB, then {InMebibytes(medians)} MiB");
    }

    private static async Task<long> MedianOfAsync(ServerProcess server, TimeSpan spell, long ceiling, Task readers, CancellationToken cancel)
    {
        var samples = new List<long>();
        var clock = Stopwatch.StartNew();
        while (clock.Elapsed < spell)
        {
            if (readers.IsCompleted)
                await readers;
            samples.Add(server.ResidentBytes);
            Assert.InRange(samples[^1], 0, ceiling);
            await Task.Delay(TimeSpan.FromMilliseconds(250), TimeProvider.System, cancel);
        }

        return Median(samples);
    }

    /// <summary>Reads at the rate of a film and compares every byte; restarts from the beginning at the end.</summary>
    private static async Task ReadPacedAsync(SluiceClient client, long offset, CancellationToken enough, CancellationToken cancel)
    {
        var piece = new byte[BytesPerSecond / 10];
        while (!enough.IsCancellationRequested)
        {
            using var answer = await client.OpenAsync(Film.Path, offset, null, cancel);
            Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
            await using var body = await answer.Content.ReadAsStreamAsync(cancel);
            var clock = Stopwatch.StartNew();
            for (var read = 0L; !enough.IsCancellationRequested && offset + piece.Length <= Film.Size; read += piece.Length, offset += piece.Length)
            {
                await body.ReadExactlyAsync(piece, cancel);
                Film.AssertEqual(offset, piece);
                var due = TimeSpan.FromSeconds((double)(read + piece.Length) / BytesPerSecond) - clock.Elapsed;
                if (due > TimeSpan.Zero)
                    await Task.Delay(due, TimeProvider.System, cancel);
            }

            offset = 0;
        }
    }

    private static string InMebibytes(IEnumerable<long> bytes) => string.Join(", ", bytes.Select(each => each >> 20));

    private static long Median(List<long> samples)
    {
        var sorted = samples.Order().ToArray();
        return sorted[sorted.Length / 2];
    }
}
