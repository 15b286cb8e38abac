using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Fetches that end in every way leave nothing behind and never exceed the socket cap (F06).</summary>
public sealed class SocketCapTests
{
    private const int Cap = 5;
    private const int Articles = 30;
    private const int Fetches = 1_500;

    // Four times the drain limit: a fetch canceled early costs its socket, one canceled late does not.
    private const int ArticleSize = 80_000;

    // So slow that a new socket is cheaper than the rest of an article.
    private const int BytesPerSecond = 10_000_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 120_000)]
    [InlineData(null)]
    [InlineData(FaultKind.BodyReset)]
    [InlineData(FaultKind.BodyFin)]
    public async Task F06_Ended_fetches_leak_no_permit_and_respect_the_socket_cap(FaultKind? kind)
    {
        MockFault[] faults = kind is { } played ? [new MockFault { Kind = played, Rate = 0.1, Tries = 0 }] : [];
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles, ArticleSize),
            new MockOptions { Providers = [new MockProvider { MaxConnections = Cap, Latency = TimeSpan.FromMilliseconds(1), ConnectionBandwidth = BytesPerSecond }], Faults = faults },
            new NntpOptions { DrainBytes = ArticleSize / 4, DrainTime = TimeSpan.FromMilliseconds(1), CloseGrace = TimeSpan.FromMilliseconds(20), HedgeEnabled = false },
            provider: (_, account) => account with { MaxConnections = Cap, PipeliningDepth = 1 });
        var (next, found, givenUp) = (0, 0, 0);
        await Task.WhenAll(Enumerable.Range(0, 2 * Cap).Select(async reader =>
        {
            var random = new Random(reader);
            while (Interlocked.Increment(ref next) <= Fetches)
            {
                if (await FetchAsync(host, random))
                    Interlocked.Increment(ref found);
                else
                    Interlocked.Increment(ref givenUp);
                Assert.InRange(host.Pool.Sockets(0), 0, Cap);
            }
        }));

        // Both outcomes were frequent, and the news server never saw a socket above its limit, including those being closed.
        Assert.InRange(found, Fetches / 10, Fetches);
        Assert.InRange(givenUp, Fetches / 10, Fetches);
        Assert.Equal(0, host.Mock.Stats.Refused);
        Assert.InRange(host.Mock.Stats.ConnectionsPeak, 1, Cap);
        Assert.InRange(host.Mock.Stats.Opened, Cap + 1, Fetches);
        await host.AssertNothingIsLeftAsync(Token);

        // As many concurrent fetches as sockets would not all succeed if a permit or a socket were lost.
        host.Mock.ChangeFaults([]);
        await Task.WhenAll(Enumerable.Range(1, Cap).Select(async part => Assert.True((await FetchAsync(host, part, new CollectingSink(), Token)).IsFound)));
        await host.AssertNothingIsLeftAsync(Token);
    }

    /// <summary>A canceled article is drained, or its socket replaced; either way the articles pipelined behind it are right, byte by byte.</summary>
    [Theory(Timeout = 120_000)]
    [InlineData(0)]
    [InlineData(10_000_000)]
    public async Task F07_Articles_behind_a_canceled_fetch_are_intact(int bytesPerSecond)
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles, ArticleSize),
            new MockOptions { Providers = [new MockProvider { MaxConnections = 2, Latency = TimeSpan.FromMilliseconds(1), ConnectionBandwidth = bytesPerSecond }] },
            new NntpOptions { DrainBytes = ArticleSize / 4, DrainTime = TimeSpan.FromMilliseconds(1), CloseGrace = TimeSpan.FromMilliseconds(20), HedgeEnabled = false },
            provider: (_, account) => account with { MaxConnections = 2, PipeliningDepth = 4 });
        var (next, found) = (0, 0);
        await Task.WhenAll(Enumerable.Range(0, 8).Select(async reader =>
        {
            var random = new Random(reader);
            while (Interlocked.Increment(ref next) <= Fetches)
            {
                if (await FetchAsync(host, random))
                    Interlocked.Increment(ref found);
            }
        }));

        Assert.InRange(found, Fetches / 10, Fetches * 9 / 10);
        Assert.Equal(0, host.Mock.Stats.Refused);
        Assert.InRange(host.Mock.Stats.DeepestPipeline, 2, 4);
        await host.AssertNothingIsLeftAsync(Token);
    }

    /// <summary>Fetches an article and cancels that before it is sent, at any byte, or not at all.</summary>
    /// <returns>True if the article arrived.</returns>
    private static async Task<bool> FetchAsync(EngineHost host, Random random)
    {
        using var giving = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var sink = random.Next(4) switch
        {
            0 => new CollectingSink(),
            1 => new CollectingSink(random.Next(ArticleSize), giving.Cancel),
            _ => new CollectingSink(random.Next(20_000), giving.Cancel),
        };
        try
        {
            var part = random.Next(1, Articles);
            var fetch = FetchAsync(host, part, sink, giving.Token);
            if (random.Next(8) == 0)
                await giving.CancelAsync();
            Assert.True((await fetch).IsFound);
            Assert.True(sink.Decoded.SequenceEqual(host.Truth((part - 1L) * ArticleSize, ArticleSize)), $"wrong bytes in article {part}");
            return true;
        }
        catch (OperationCanceledException) when (!Token.IsCancellationRequested)
        {
            return false;
        }
        catch (NntpException fault) when (fault.IsTransient)
        {
            // The connection broke at each try.
            return false;
        }
    }

    private static async Task<ArticleReply> FetchAsync(EngineHost host, int part, CollectingSink sink, CancellationToken cancellationToken) =>
        await host.Pool.FetchAsync(new ArticleRequest(MessageId.Parse(host.Release.MessageId(0, part)), OperationLane.Playback, ExpectedBytes: ArticleSize), sink, cancellationToken);
}
