using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class ReadCostTests
{
    private const int ArticleSize = 4 * BlockPool.BlockSize;

#if DEBUG
    // Without optimization an asynchronous method allocates its state even if it never waits; each read calls two.
    private const int PerRead = 512;
#else
    private const int PerRead = 0;
#endif

    [Fact]
    public async Task Buffered_read_is_synchronous_and_allocates_nothing()
    {
        const int Reads = 2000;
        var cancel = TestContext.Current.CancellationToken;
        await using var host = await EngineHost.StartAsync(EngineHost.Film(3, ArticleSize));
        await using var stream = host.Open(0, 2 * ArticleSize);
        var buffer = new byte[100];

        // After this read the last article of the range has been requested, and timers and pools have been used once.
        await stream.ReadExactlyAsync(new byte[ArticleSize + 1000], cancel);
        await Eventually.HoldsAsync(() => host.Mock.Stats.Articles == 2, () => $"{host.Mock.Stats.Articles} articles", cancel);

        var asynchronous = 0;
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < Reads; i++)
        {
            var reading = stream.ReadAsync(buffer, cancel);
            if (!reading.IsCompletedSuccessfully)
                asynchronous++;
            await reading;
        }

        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.Equal(0, asynchronous);
        Assert.InRange(allocated, 0, PerRead * Reads);
    }
}
