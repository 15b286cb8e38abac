using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>What fetches leave behind that end in every way, and how many sockets they have at any moment (F06).</summary>
public sealed class SocketCapTests
{
    private const int Cap = 5;
    private const int Articles = 30;
    private const int Fetches = 1_500;

    // Four times what is drained: a fetch given up early costs its socket, one given up late does not.
    private const int ArticleSize = 80_000;

    // Slow enough for the rest of an article to be worth a new socket.
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

        // Both ends have happened often, and the news server never saw one socket more than it allows, those that close included.
        Assert.InRange(found, Fetches / 10, Fetches);
        Assert.InRange(givenUp, Fetches / 10, Fetches);
        Assert.Equal(0, host.Mock.Stats.Refused);
        Assert.InRange(host.Mock.Stats.ConnectionsPeak, 1, Cap);
        Assert.InRange(host.Mock.Stats.Opened, Cap + 1, Fetches);
        await host.AssertNothingIsLeftAsync(Token);

        // A permit or a socket that was lost would be missing here: as many at a time as there may be sockets.
        host.Mock.ChangeFaults([]);
        await Task.WhenAll(Enumerable.Range(1, Cap).Select(async part => Assert.True((await FetchAsync(host, part, new CollectingSink(), Token)).IsFound)));
        await host.AssertNothingIsLeftAsync(Token);
    }

    /// <summary>What is given up is drained or its socket replaced; either way the articles pipelined behind it are right, byte by byte.</summary>
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

    /// <summary>Fetches an article and gives it up before it is sent, at any byte of it, or not at all.</summary>
    /// <returns>True when it came.</returns>
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
            // Dropped at each of its tries.
            return false;
        }
    }

    private static async Task<ArticleReply> FetchAsync(EngineHost host, int part, CollectingSink sink, CancellationToken cancellationToken) =>
        await host.Pool.FetchAsync(new ArticleRequest(MessageId.Parse(host.Release.MessageId(0, part)), OperationLane.Playback, ExpectedBytes: ArticleSize), sink, cancellationToken);
}
