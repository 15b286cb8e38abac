using System.Net;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>An NZB may be 256 MiB of XML, all of it one file (F22, IMP-11).</summary>
public sealed class HugeNzbTests
{
    private const long Limit = 256L << 20;
    private const long Allowance = 64L << 20;
    private const int Places = 40;
    private const int PlaceBytes = 20_000;
    private static readonly TimeSpan Sample = TimeSpan.FromMilliseconds(20);

    [Fact(Timeout = 300_000)]
    [Trait("Category", EndToEndRun.Measures)]
    public Task F22_Maximum_size_NZB_imports_and_plays_in_64_MiB_extra() => ImportAndPlayAsync(ListedOrder.Rising);

    [Theory(Timeout = 300_000)]
    [InlineData(ListedOrder.Shuffled)]
    [InlineData(ListedOrder.Unnumbered)]
    [Trait("Category", EndToEndRun.Measures)]
    public Task F22_Maximum_size_NZB_in_any_order_needs_64_MiB_extra(ListedOrder order) => ImportAndPlayAsync(order);

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task F22_NZB_above_the_size_limit_gets_413_and_leaves_no_file()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        const string start = "<nzb><!--";
        await using var nzb = new GeneratedTextStream(Enumerable.Repeat(new string(' ', 1 << 10), (int)(Limit >> 10)).Prepend(start).Append("--></nzb>"));

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, await set.Client.PutNzbAsync("movies", "long", nzb, cancel));

        Assert.Empty(await set.Client.QueueAsync(cancel));
        Assert.Empty(Directory.GetFiles(Path.Combine(set.Data, "blobs")));
    }

    private static async Task ImportAndPlayAsync(ListedOrder order)
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);

        // A first film warms up the code, the connections and the blocks that each import and each reader needs.
        var small = new SyntheticFilm(8, 40_000_000, 716_800);
        await small.PublishAsync(set.Client, cancel);
        for (var offset = 0L; offset < small.Size; offset += 4_000_000)
            await set.Client.GetRangeAsync(small.Path, offset, Math.Min(offset + 3_999_999, small.Size - 1), small.Size, cancel);

        // Without its number an element is shorter, so nearly 3 million fit.
        var film = new HugeFilm(9, order == ListedOrder.Unnumbered ? 2_990_000 : 2_560_000, 100, order);
        await using (var nzb = film.OpenNzb())
        {
            await Grows(set, "import", async () => await set.Client.PublishedAsync(await set.Client.AddFileAsync("movies", HugeFilm.Name, nzb, cancel), cancel));
            Assert.InRange(nzb.BytesRead, Limit * 9 / 10, Limit);
        }

        await Grows(set, "listing and playing", async () =>
        {
            using (var listing = await set.Client.FindAsync($"content/movies/{HugeFilm.Name}", "", cancel))
                Assert.Contains($">{film.Size}<", await listing.Content.ReadAsStringAsync(cancel), StringComparison.Ordinal);
            var random = new Random(22);
            for (var i = 0; i < Places; i++)
                await ReadAsync(set.Client, film, i == 0 ? film.Size - PlaceBytes : random.NextInt64(film.Size - PlaceBytes), cancel);
        });
    }

    private static async Task ReadAsync(SluiceClient client, HugeFilm film, long from, CancellationToken cancel) =>
        film.AssertEqual(from, await client.GetRangeAsync(HugeFilm.Path, from, from + PlaceBytes - 1, film.Size, cancel));

    /// <summary>Samples the server's memory during an action and fails if it grows beyond the allowance.</summary>
    internal static async Task Grows(MockedServer set, string what, Func<Task> act)
    {
        var cancel = TestContext.Current.CancellationToken;
        var before = set.Server.ResidentBytes;
        var most = before;
        var done = act();
        while (!done.IsCompleted)
        {
            most = Math.Max(most, set.Server.ResidentBytes);
            await Task.WhenAny(done, Task.Delay(Sample, TimeProvider.System, cancel));
        }

        await done;
        TestContext.Current.TestOutputHelper?.WriteLine($"{what}: {before >> 20} MiB before, {most >> 20} MiB at most");
        Assert.True(most - before <= Allowance, $"{what} took {(most - before) >> 20} MiB.");
    }
}
