using System.Globalization;
using System.Net;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Allocations while streaming (F04), of server, client and news server together, because they share this process.</summary>
[Collection(EndToEndRun.Name)]
public sealed class AllocationTests : IDisposable
{
#if DEBUG
    // Without optimization each call of an asynchronous method allocates its state, even if it never waits.
    private const long MostPerMegabyte = 128 << 10;
#else
    private const long MostPerMegabyte = 32 << 10;
#endif

    private const long Ramp = 80_000_000;
    private const long Slice = 60_000_000;
    private const int Slices = 5;
    private static readonly SyntheticFilm Film = new(4, Ramp + (Slices * Slice) + 20_000_000, 716_800);

    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public async Task F04_Streaming_allocates_at_most_32_KB_for_each_MB()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var mock = await MockServer.StartAsync();
        await using var server = await RunningServer.StartAsync(_temporary, ProviderSettings.For([.. mock.Ports]));
        using var client = new SluiceClient(server.Address.Port, "admin", RunningServer.Password, RunningServer.ApiKey);
        await Film.PublishAsync(client, cancel);

        // The first read generates the articles. The second is measured after its ramp: pools may grow during one slice or another, but garbage
        // shows in every slice.
        var buffer = new byte[256 << 10];
        await using (var first = await OpenAsync(client, cancel))
            await ReadAsync(first, buffer, Film.Size, cancel);
        await using var body = await OpenAsync(client, cancel);
        await ReadAsync(body, buffer, Ramp, cancel);
        var articles = mock.Stats.Articles;
        var least = long.MaxValue;
        for (var slice = 0; slice < Slices; slice++)
        {
            var before = GC.GetTotalAllocatedBytes(precise: true);
            await ReadAsync(body, buffer, Slice, cancel);
            least = Math.Min(least, GC.GetTotalAllocatedBytes(precise: true) - before);
        }

        // The second read fetched its articles again.
        Assert.InRange(mock.Stats.Articles - articles, Slices * Slice / Film.ArticleSize / 2, Film.Size / Film.ArticleSize);
        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{least / (Slice / 1e6):F0} B per MB"));
        Assert.InRange(least, 0, MostPerMegabyte * (Slice / 1_000_000));
    }

    [Fact]
    public void F04_Blocks_are_small_and_no_code_forces_a_collection()
    {
        Assert.InRange(BlockPool.BlockSize, 1, 64 << 10);
        Assert.DoesNotContain(
            Directory.EnumerateFiles(Repository.PathOf("backend/src"), "*.cs", SearchOption.AllDirectories),
            file => File.ReadAllText(file).Contains("GC.Collect(", StringComparison.Ordinal));

        // Banned symbols make the analyzer reject a forced collection at build time.
        Assert.Contains("M:System.GC.Collect;", File.ReadAllText(Repository.PathOf("backend/BannedSymbols.txt")), StringComparison.Ordinal);
    }

    private static async Task<Stream> OpenAsync(SluiceClient client, CancellationToken cancel)
    {
        var answer = await client.OpenAsync(Film.Path, null, null, cancel);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsStreamAsync(cancel);
    }

    private static async Task ReadAsync(Stream body, byte[] buffer, long count, CancellationToken cancel)
    {
        while (count > 0)
        {
            var read = await body.ReadAsync(buffer.AsMemory(0, (int)Math.Min(buffer.Length, count)), cancel);
            Assert.NotEqual(0, read);
            count -= read;
        }
    }
}
