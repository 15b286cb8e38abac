using System.Globalization;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A small machine with half a gigabyte of memory for everything (F01).</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Measures)]
public sealed class MemoryLimitTests
{
    private const int Readers = 8;
    private const long Each = 60_000_000;
    private const long Limit = 512L << 20;
    private static readonly SyntheticFilm Film = new(11, Readers * Each, 716_800);

    [Fact]
    public async Task F01_Eight_fast_readers_finish_within_512_MiB()
    {
        var cancel = TestContext.Current.CancellationToken;

        // The runtime limits its heap to three quarters of a container of that size.
        var small = new Dictionary<string, string> { ["DOTNET_GCHeapHardLimit"] = (Limit * 3 / 4).ToString("x", CultureInfo.InvariantCulture) };
        await using var set = await MockedServer.StartAsync(new MockOptions(), small, cancel);
        await Film.PublishAsync(set.Client, cancel);

        await Task.WhenAll(Enumerable.Range(0, Readers).Select(reader => ReadAsync(set.Client, reader * Each, cancel)));

        var peak = set.Server.PeakResidentBytes;
        TestContext.Current.TestOutputHelper?.WriteLine($"peak {peak >> 20} MiB");
        Assert.InRange(peak, 1, Limit);
    }

    private static async Task ReadAsync(SluiceClient client, long offset, CancellationToken cancel)
    {
        using var answer = await client.OpenAsync(Film.Path, offset, offset + Each - 1, cancel);
        await using var body = await answer.Content.ReadAsStreamAsync(cancel);
        var piece = new byte[1_000_000];
        for (var end = offset + Each; offset < end; offset += piece.Length)
        {
            await body.ReadExactlyAsync(piece, cancel);
            Film.AssertEqual(offset, piece);
        }
    }
}
