using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Stalled articles are requested a second time (F11). No test waits for a stall limit: without a hedge its fetch would not end.</summary>
public sealed class HedgeTests
{
    private const int Articles = 60;

    private static readonly NntpOptions Patient = new()
    {
        HedgeFloor = TimeSpan.FromMilliseconds(400),
        PlaybackStall = TimeSpan.FromMinutes(10),
        RetriesPerProvider = 0,
        CloseGrace = TimeSpan.FromMilliseconds(1),
    };

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 60_000)]
    [InlineData(1)]
    [InlineData(2)]
    public async Task F11_Stalled_article_is_hedged_elsewhere(int providers)
    {
        await using var host = await StartAsync(providers, Stall("7,21,44") with { Provider = 0, Tries = 1 });
        await FetchAllAsync(host, atATime: 1);
        var counters = host.Counters;
        Assert.Equal(3, host.Mock.Stats.FaultCount(FaultKind.BodyStall));
        Assert.InRange(counters.Hedges, 3, 5);
        Assert.True(counters.HedgesWon >= 3);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Stalled_hedge_is_hedged_again()
    {
        await using var host = await StartAsync(1, Stall("9") with { Tries = 3 });
        await FetchAllAsync(host, atATime: 1);
        Assert.Equal(3, host.Mock.Stats.FaultCount(FaultKind.BodyStall));
        Assert.Equal((3, 3), (host.Counters.Hedges, host.Counters.HedgesWon));
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Article_behind_a_stall_is_refetched_without_a_fault()
    {
        // One article stalls on the first of two connections, with three pipelined behind it. There are no retries after a fault.
        await using var host = await StartAsync(1, Stall("1") with { Connection = 1 }, account => account with { MaxConnections = 2, PipeliningDepth = 4 });
        await host.Pool.ProbeAsync(0, Token);
        var urgency = new FetchUrgency(this, isHeadOfLine: false);
        var fetches = Enumerable.Range(1, 8).Select(part => FetchAsync(host, part, part == 1 ? urgency : null)).ToArray();
        await Eventually.HoldsAsync(() => host.Mock.Stats.FaultCount(FaultKind.BodyStall) == 1, () => "no stall", Token);
        urgency.Raise();
        await Task.WhenAll(fetches);
        Assert.Equal((1, 1), (host.Counters.Hedges, host.Counters.HedgesWon));
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Article_behind_a_stall_does_not_wait_for_the_hedge()
    {
        // No try of the first article ever gets a byte, so no try wins.
        await using var host = await StartAsync(1, Stall("1") with { Offset = 0 }, account => account with { MaxConnections = 4, PipeliningDepth = 4 });
        await host.Pool.ProbeAsync(0, Token);
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var first = FetchAsync(host, 1, new FetchUrgency(this, isHeadOfLine: true), ends.Token);
        await Task.WhenAll(Enumerable.Range(2, 7).Select(part => FetchAsync(host, part, null)));
        Assert.False(first.IsCompleted);
        Assert.Equal(0, host.Counters.HedgesWon);
        await ends.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => first);
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Hedge_receiving_no_byte_is_followed_by_another()
    {
        await using var host = await StartAsync(1, Stall("9") with { Offset = 0, Tries = 3 });
        await FetchAllAsync(host, atATime: 1);
        Assert.Equal(3, host.Mock.Stats.FaultCount(FaultKind.BodyStall));
        Assert.Equal((3, 1), (host.Counters.Hedges, host.Counters.HedgesWon));
        await host.AssertNothingIsLeftAsync(Token);
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Read_ahead_is_hedged_once_a_reader_waits()
    {
        await using var host = await StartAsync(1, Stall("2") with { Tries = 1 }, account => account with { PipeliningDepth = 1 });
        var ahead = new FetchUrgency(this, isHeadOfLine: false);
        var fetch = FetchAsync(host, 2, ahead);
        await Eventually.HoldsAsync(() => host.Mock.Stats.FaultCount(FaultKind.BodyStall) == 1, () => "no stall", Token);
        Assert.Equal(0, host.Counters.Hedges);
        ahead.Raise();
        await fetch;
        Assert.Equal((1, 1), (host.Counters.Hedges, host.Counters.HedgesWon));
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Read_ahead_is_hedged_while_others_are_delivered()
    {
        await using var host = await StartAsync(1, Stall("2") with { Tries = 1 }, account => account with { PipeliningDepth = 1 });
        var fetch = FetchAsync(host, 2, new FetchUrgency(this, isHeadOfLine: false));
        for (var part = 3; !fetch.IsCompleted; part = part == Articles ? 3 : part + 1)
            await FetchAsync(host, part, new FetchUrgency(this, isHeadOfLine: true));
        await fetch;
        Assert.True(host.Counters.HedgesWon > 0);
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_A_bad_provider_cannot_spend_more_than_the_budget()
    {
        // Every body pauses for longer than the hedge delay and then continues.
        var pauses = new MockFault { Kind = FaultKind.BodyStall, Duration = TimeSpan.FromMilliseconds(600), CloseAfterStall = false };
        await using var host = await StartAsync(1, pauses, account => account with { PipeliningDepth = 1 });
        await FetchAllAsync(host, atATime: 10);
        Assert.InRange(host.Counters.Hedges, 4, 4 + (Articles / 20));
        Assert.True(host.Mock.Stats.CommandCount("BODY") <= Articles + host.Counters.Hedges + (2 * host.Counters.HedgesWon));
    }

    /// <summary>
    /// The first provider accepts connections and commands, but stops answering after some articles. No stall limit ends during the test: the
    /// film plays on from the second provider although more articles are outstanding than the hedge budget covers.
    /// </summary>
    [Fact(Timeout = 60_000)]
    public async Task F10_Articles_move_off_a_dead_provider_before_the_stall_limit()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles),
            new MockOptions { Providers = [new MockProvider(), new MockProvider()], Faults = [Stall("5-60") with { Provider = 0, Offset = 0 }] },
            Patient with { LeaseTimeout = TimeSpan.FromMinutes(10), AheadTimeout = TimeSpan.FromMinutes(10) });
        var read = new byte[host.Release.Files[0].Size];
        await using (var stream = host.Open())
            await stream.ReadExactlyAsync(read, Token);
        Assert.True(read.AsSpan().SequenceEqual(host.Truth(0, read.Length)), "wrong bytes");
        await host.AssertNothingIsLeftAsync(Token);
    }

    /// <summary>The budget is spent on four articles that the second provider does not have; the first provider does not answer at all.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F10_Waiting_reader_is_hedged_after_the_budget_is_spent()
    {
        var time = new ManualTimeProvider();
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles),
            new MockOptions
            {
                Providers = [new MockProvider(), new MockProvider()],
                Faults = [Stall("1-5") with { Provider = 0, Offset = 0 }, new MockFault { Kind = FaultKind.Command430, Provider = 1, Articles = ArticleSelection.Parse("1-4") }],
            },
            new NntpOptions { RetriesPerProvider = 0 },
            provider: (_, account) => account with { PipeliningDepth = 1 },
            nntpTime: time);
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var lost = Enumerable.Range(1, 4).Select(part => FetchAsync(host, part, new FetchUrgency(this, isHeadOfLine: true), ends.Token)).ToArray();

        // Then all four turn late at once; otherwise the second provider, known to lack the first article, would not be asked for the last.
        await Eventually.HoldsAsync(() => host.Mock.Stats.FaultCount(FaultKind.BodyStall) == 4, () => $"no four stalls: {host.Pools}", Token);
        await AdvanceUntilAsync(time, () => host.Counters.Hedges == 4);
        await Eventually.HoldsAsync(() => host.Mock.ProviderStats[1].CommandCount("BODY") == 4, () => $"not four second tries: {host.Pools}", Token);

        var began = time.GetTimestamp();
        var fetch = FetchAsync(host, 5, new FetchUrgency(this, isHeadOfLine: true));
        await Eventually.HoldsAsync(() => host.Mock.Stats.FaultCount(FaultKind.BodyStall) == 5, () => "no fifth stall", Token);
        await AdvanceUntilAsync(time, () => host.Mock.ProviderStats[1].CommandCount("BODY") == 5);

        Assert.InRange(time.GetElapsedTime(began), TimeSpan.FromSeconds(3), TimeSpan.FromSeconds(5.5));
        await fetch;
        await ends.CancelAsync();
        foreach (var one in lost)
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => one);
    }

    /// <summary>The only connection of the first provider hangs, and a second reader waits for it. Hedging is off.</summary>
    [Fact(Timeout = 60_000)]
    public async Task F10_Fetch_behind_a_silent_connection_waits_only_once()
    {
        var time = new ManualTimeProvider();
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles),
            new MockOptions { Providers = [new MockProvider(), new MockProvider()], Faults = [Stall("1-2") with { Provider = 0, Offset = 0 }] },
            new NntpOptions { HedgeEnabled = false, RetriesPerProvider = 0 },
            provider: (_, account) => account with { MaxConnections = 1, PipeliningDepth = 1 },
            nntpTime: time);
        var first = FetchAsync(host, 1, new FetchUrgency(this, isHeadOfLine: true));
        await Eventually.HoldsAsync(() => host.Mock.Stats.FaultCount(FaultKind.BodyStall) == 1, () => "no stall", Token);

        var began = time.GetTimestamp();
        var second = FetchAsync(host, 2, new FetchUrgency(host, isHeadOfLine: true));
        await AdvanceUntilAsync(time, () => time.GetElapsedTime(began) > TimeSpan.FromSeconds(6.5));
        await first;
        await second;

        Assert.Equal((1, 2), (host.Mock.ProviderStats[0].CommandCount("BODY"), host.Mock.ProviderStats[1].CommandCount("BODY")));
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Disabled_hedging_sends_no_second_request()
    {
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles),
            new MockOptions { Faults = [Stall("3") with { Tries = 1, Duration = TimeSpan.FromMilliseconds(900) }] },
            Patient with { HedgeEnabled = false, RetriesPerProvider = 1 });
        await FetchAllAsync(host, atATime: 6);
        Assert.Equal(0, host.Counters.Hedges);
    }

    /// <summary>
    /// The first provider reports a miss late, with another reply outstanding behind it; the second provider has the article. The attempt
    /// that still waits for the confirmation of its miss has lost by then, but the fetch must succeed.
    /// </summary>
    [Fact(Timeout = 60_000)]
    public async Task F11_Hedge_wins_while_the_first_miss_is_unconfirmed()
    {
        using var misses = new ManualResetEventSlim();
        using var delivers = new ManualResetEventSlim();
        await using var first = new ScriptedServer(connection =>
        {
            connection.Send("200 ready\r\n"u8);
            connection.ReadCommand();
            connection.ReadCommand();
            misses.Wait(connection.Stopping);
            connection.Send("430 no such article\r\n"u8);
            while (true)
                connection.ReadCommand();
        });
        await using var second = new ScriptedServer(connection =>
        {
            // On a busy machine this server is late too and gets the command again.
            connection.Send("200 ready\r\n"u8);
            while (Encoding.ASCII.GetString(connection.ReadCommand()) is var command && command.StartsWith("BODY", StringComparison.Ordinal))
            {
                delivers.Wait(connection.Stopping);
                connection.Send(Encoding.ASCII.GetBytes($"222 0 {command["BODY ".Length..]}\r\nlate\r\n.\r\n"));
            }
        });
        ProviderOptions[] accounts = [.. new[] { first.Port, second.Port }.Select((port, index) => new ProviderOptions
        {
            Name = $"scripted{index}", Host = "127.0.0.1", Port = port, UseTls = false, MaxConnections = 1, Priority = index, PipeliningDepth = 2,
        })];
        await using var pool = new ProviderPool(accounts, Patient, new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance);
        using var counters = new NntpListener(pool.Meter);
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var late = FetchAsync("late@t", Token);
        var behind = FetchAsync("behind@t", ends.Token);
        await Eventually.HoldsAsync(() => counters.Now is { Hedges: >= 1, Bodies: >= 3 }, () => $"{counters.Now.Hedges} hedges, {counters.Now.Bodies} commands", Token);

        misses.Set();
        await Eventually.HoldsAsync(() => counters.Now.Misses == 1, () => "no miss", Token);
        delivers.Set();

        Assert.Equal(1, (await late).Provider);
        await ends.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => behind);

        Task<ArticleReply> FetchAsync(string id, CancellationToken cancellationToken) =>
            pool.FetchAsync(new ArticleRequest(MessageId.Parse(id), OperationLane.Import, ExpectedBytes: 100), new CollectingSink(), cancellationToken).AsTask();
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Failed_hedge_leaves_the_first_try_running()
    {
        var pause = new MockFault { Kind = FaultKind.BodyStall, Provider = 0, Duration = TimeSpan.FromSeconds(4), CloseAfterStall = false };
        await using var host = await StartAsync(3, pause, account => account with { MaxConnections = 1 });
        host.Mock.ChangeFaults([pause, new MockFault { Kind = FaultKind.Command430, Provider = 1 }, new MockFault { Kind = FaultKind.Command503, Provider = 2 }]);
        await FetchAsync(host, 5, new FetchUrgency(this, isHeadOfLine: true));
        Assert.Equal((1, 0), (host.Counters.Hedges, host.Counters.HedgesWon));
        Assert.Equal([1, 1, 1], host.Mock.ProviderStats.Select(stats => stats.CommandCount("BODY")));
    }

    [Fact(Timeout = 60_000)]
    public async Task F11_Concurrent_tries_never_write_to_the_same_sink()
    {
        // Pauses end around the moment of the hedge: which try wins is random, but the bytes must be right.
        var options = Patient with { HedgeFloor = TimeSpan.FromMilliseconds(15), ReceiveBufferBytes = 4096 };
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles),
            new MockOptions { Providers = [new MockProvider(), new MockProvider()], Faults = [.. Enumerable.Range(0, 8).Select(Pause)] },
            options);
        for (var round = 0; round < 4; round++)
            await FetchAllAsync(host, atATime: 6);
        Assert.True(host.Counters.Hedges > 0, $"{host.Counters.Hedges} hedges");
        await host.AssertNothingIsLeftAsync(Token);

        static MockFault Pause(int index) => new()
        {
            Kind = FaultKind.BodyStall,
            Rate = 0.04,
            Offset = 1500 + (index * 2200),
            Duration = TimeSpan.FromMilliseconds(60 << (index / 2)),
            CloseAfterStall = false,
        };
    }

    /// <summary>Returns a stall that lasts until the mock ends.</summary>
    private static MockFault Stall(string articles) =>
        new() { Kind = FaultKind.BodyStall, Articles = ArticleSelection.Parse(articles), Duration = TimeSpan.Zero };

    private static Task<EngineHost> StartAsync(int providers, MockFault fault, Func<ProviderOptions, ProviderOptions>? account = null) => EngineHost.StartAsync(
        EngineHost.Film(Articles),
        new MockOptions { Providers = [.. Enumerable.Range(0, providers).Select(_ => new MockProvider())], Faults = [fault] },
        Patient,
        provider: (_, options) => account is null ? options : account(options));

    private static async Task FetchAsync(EngineHost host, int part, FetchUrgency? urgency, CancellationToken? cancellationToken = null)
    {
        var file = host.Release.Files[0];
        var sink = new SoleWriterSink();
        var id = MessageId.Parse(host.Release.MessageId(0, part));
        var reply = await host.Pool.FetchAsync(new ArticleRequest(id, OperationLane.Playback, urgency, file.ArticleSize), sink, cancellationToken ?? Token);
        Assert.True(reply.IsFound);
        sink.AssertIs(host.Truth((long)(part - 1) * file.ArticleSize, (int)Math.Min(file.ArticleSize, file.Size - ((long)(part - 1) * file.ArticleSize))));
    }

    /// <summary>Advances the engine's clock about ten times as fast as real time, while the mock keeps its own clock.</summary>
    private static async Task AdvanceUntilAsync(ManualTimeProvider time, Func<bool> holds)
    {
        while (!holds())
        {
            await Task.Delay(TimeSpan.FromMilliseconds(2), TimeProvider.System, Token);
            time.Advance(TimeSpan.FromMilliseconds(20));
        }
    }

    /// <summary>Fetches all articles, a few at a time, as if a reader waited for each.</summary>
    private static async Task FetchAllAsync(EngineHost host, int atATime)
    {
        for (var first = 1; first <= Articles; first += atATime)
            await Task.WhenAll(Enumerable.Range(first, atATime).Select(part => FetchAsync(host, part, new FetchUrgency(host, isHeadOfLine: true))));
    }
}
