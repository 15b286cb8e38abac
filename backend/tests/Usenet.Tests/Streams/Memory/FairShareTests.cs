using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Greedy readers on a line too thin for them (gate G7). Only the division of the bytes matters, not their speed.</summary>
public sealed class FairShareTests
{
    private const int ArticleSize = 32_768;
    private const int BytesPerSecond = 16_000_000;

    // Fewer commands in flight than waiting readers, so the scheduler alone decides who is next, and no queue behind it.
    private const int Connections = 4;
    private const int Depth = 1;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 120_000)]
    [InlineData(8)]
    [InlineData(32)]
    public async Task G7_Greedy_readers_share_a_slow_line_within_15_percent(int readers)
    {
        const int RampArticles = 20;
        const int CountedArticles = 60;
        var perFile = 4 * (RampArticles + CountedArticles);
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(readers * perFile, ArticleSize, files: readers),
            new MockOptions { Providers = [new MockProvider { Bandwidth = BytesPerSecond, Latency = TimeSpan.FromMilliseconds(5) }] },
            provider: (_, account) => account with { MaxConnections = Connections, PipeliningDepth = Depth });
        var read = new long[readers];
        var all = 0L;
        long[]? ramp = null;
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        await Task.WhenAll(Enumerable.Range(0, readers).Select(reader => Task.Run(async () =>
        {
            await using var stream = host.Engine.Open([FileExtent.Whole(host.File(reader))], OperationLane.Playback);
            var buffer = new byte[ArticleSize];
            try
            {
                while (await stream.ReadAsync(buffer, enough.Token) is > 0 and var count)
                {
                    Interlocked.Add(ref read[reader], count);
                    var now = Interlocked.Add(ref all, count);
                    if (now >= (long)readers * RampArticles * ArticleSize)
                        Interlocked.CompareExchange(ref ramp, [.. read], null);
                    if (now >= (long)readers * (RampArticles + CountedArticles) * ArticleSize)
                        await enough.CancelAsync();
                }

                Assert.Fail($"reader {reader} came to the end of its file before the others had their share");
            }
            catch (OperationCanceledException) when (!Token.IsCancellationRequested)
            {
                // All readers together have read enough.
            }
        })));

        var shares = read.Zip(ramp!, (end, begin) => end - begin).ToArray();
        var fair = shares.Average();
        TestContext.Current.TestOutputHelper?.WriteLine($"{readers} readers, fair {fair / ArticleSize:F1} articles, least {shares.Min() / fair:P1}, most {shares.Max() / fair:P1}");
        Assert.InRange(shares.Min() / fair, 0.85, 1);
        Assert.InRange(shares.Max() / fair, 1, 1.15);
        await host.AssertNothingIsLeftAsync(Token);
    }
}
