using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A line that delivers a body in pieces wakes its reader once per block, and no bytes that a reader waits for are delayed.</summary>
public sealed class GatheringTests
{
    private const int ArticleSize = 700_000;
    private const int Piece = 4096;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Slow_line_costs_a_receive_per_block_not_per_piece(bool tls)
    {
        const int Articles = 6;
        await using var host = await StartAsync(Articles, tls: tls);
        var before = host.Counters.Receives;
        await AssertReadsAsync(host);

        // 175 pieces each arrive in 35 bursts. Without gathering each burst is a receive; a slow machine receives more at a time, never less.
        Assert.InRange(host.Counters.Receives - before, Articles, Articles * 18);
    }

    [Fact]
    public async Task Early_reader_gets_bytes_while_its_article_arrives()
    {
        await using var host = await StartAsync(6);
        await using (var first = host.Open(0, ArticleSize))
            await first.ReadExactlyAsync(new byte[ArticleSize], Token);

        // The rate is known by now, so this article would be gathered if it had no reader while it arrives.
        var landing = 4L * ArticleSize;
        await using var stream = host.Open(landing, landing + ArticleSize);
        var before = host.Mock.Stats.Bytes;
        var early = new byte[100_000];
        await stream.ReadExactlyAsync(early, Token);
        Assert.InRange(host.Mock.Stats.Bytes - before, early.Length, ArticleSize / 2);
        Assert.Equal(host.Truth(landing, early.Length), early);
    }

    [Theory]
    [InlineData(FaultKind.BodyTrickle)]
    [InlineData(FaultKind.BodyStall)]
    public async Task Body_interrupted_midway_is_fetched_from_another_provider(FaultKind kind)
    {
        // Part 3 stops in the middle of a block, which its connection is still gathering.
        var fault = new MockFault { Kind = kind, Articles = ArticleSelection.Parts(3), Offset = 300_000, Duration = TimeSpan.FromSeconds(20), Provider = 0 };
        await using var host = await StartAsync(4, fault: fault, providers: 2, nntp: new NntpOptions());
        await AssertReadsAsync(host);
    }

    private static async Task<EngineHost> StartAsync(int articles, bool tls = false, MockFault? fault = null, int providers = 1, NntpOptions? nntp = null)
    {
        var line = new MockProvider { Tls = tls ? MockTls.Valid : MockTls.None, ConnectionBandwidth = 2_000_000, Piece = Piece };
        return await EngineHost.StartAsync(
            EngineHost.Film(articles, ArticleSize),
            new MockOptions { Providers = [.. Enumerable.Repeat(line, providers)], Faults = fault is null ? [] : [fault] },
            nntp,
            provider: (_, account) => account with { MaxConnections = 1, UseTls = tls, SkipTlsVerification = tls });
    }

    private static Task AssertReadsAsync(EngineHost host) => host.AssertReadsCleanAsync(0, tries: 1, Token);
}
