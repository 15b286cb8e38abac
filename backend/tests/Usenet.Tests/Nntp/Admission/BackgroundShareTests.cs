using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A health check during playback, on the wire (F14).</summary>
public sealed class BackgroundShareTests : IAsyncDisposable
{
    private const int Connections = 10;
    private const int Share = Connections / 5;
    private const int Checked = 100_000;
    private const int ArticleSize = 20_000;

    // A reader waits now and then until the read-ahead has reached its size.
    private const int Ramp = 100;
    private const int Articles = 500;
    private static readonly TimeSpan Pace = TimeSpan.FromMilliseconds(10);

    // A longer wait than the buffer of a player covers.
    private static readonly TimeSpan Rebuffers = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly Heartbeat _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public ValueTask DisposeAsync() => _time.DisposeAsync();

    [Fact(Timeout = 240_000)]
    public async Task F14_100000_STATs_add_no_rebuffering_and_never_pause()
    {
        await using var host = await StartAsync();
        var answers = new ArticlePresence[Checked];
        var alone = await PlayAsync(host, from: 0, () => Task.CompletedTask);
        var beside = await PlayAsync(host, from: Checked / 2, () => CheckAsync(host, answers, Token));

        TestContext.Current.TestOutputHelper?.WriteLine($"alone {alone}, beside a check {beside}");
        Assert.InRange(beside.Rebuffers, 0, alone.Rebuffers);
        Assert.InRange(beside.MostChecking, 1, Share);
        Assert.InRange(beside.FewestChecked, 1, Checked);

        // Every article was found and requested once.
        Assert.All(answers, answer => Assert.True(answer.IsPresent));
        Assert.Equal(Checked, host.Mock.Stats.CommandCount("STAT"));
        Assert.InRange(host.Mock.Stats.ConnectionsPeak, 1, Connections);
        await host.AssertNothingIsLeftAsync(Token);
    }

    /// <summary>Checks the first articles of a film; the model of the scheduler shows that the check takes at most 100 ms of the line.</summary>
    [Fact(Timeout = 120_000)]
    public async Task F14_Health_check_yields_to_starting_playback()
    {
        const int Films = 5;
        const int First = 20;
        await using var host = await StartAsync();
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var check = CheckOnAndOnAsync(host, enough.Token);
        var buffer = new byte[ArticleSize];
        for (var film = 0; film < Films; film++)
        {
            await Eventually.HoldsAsync(() => host.Limiter.InUse(OperationLane.HealthCheck) > Share, () => "the check has no more than its share", Token);
            await using var stream = host.Open(film * 1000L * ArticleSize);
            for (var article = 0; article < First; article++)
                await stream.ReadExactlyAsync(buffer, Token);
            Assert.InRange(host.Limiter.InUse(OperationLane.HealthCheck), 0, Share);
        }

        await enough.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => check);
        await host.AssertNothingIsLeftAsync(Token);
    }

    private static async Task CheckOnAndOnAsync(EngineHost host, CancellationToken enough)
    {
        while (true)
            await CheckAsync(host, new ArticlePresence[Checked], enough);
    }

    private static Task<EngineHost> StartAsync() => EngineHost.StartAsync(
        EngineHost.Film(Checked),
        new MockOptions { Providers = [new MockProvider { MaxConnections = Connections, Latency = TimeSpan.FromMilliseconds(5) }] },
        provider: (_, account) => account with { MaxConnections = Connections });

    private static Task CheckAsync(EngineHost host, ArticlePresence[] answers, CancellationToken cancel)
    {
        var ids = Enumerable.Range(1, answers.Length).Select(part => MessageId.Parse(host.Release.MessageId(0, part))).ToArray();
        return host.Pool.StatAsync(new StatRequest(ids, OperationLane.HealthCheck), answers, cancel).AsTask();
    }

    /// <summary>Plays at an even pace, at least until the started background work has ended.</summary>
    private async Task<Played> PlayAsync(EngineHost host, int from, Func<Task> begin)
    {
        var buffer = new byte[ArticleSize];
        var played = new Played(0, 0, TimeSpan.Zero, 0, int.MaxValue);
        await using var stream = host.Open(from * (long)ArticleSize);
        await stream.ReadExactlyAsync(buffer, Token);
        var beside = begin();
        var (second, stats) = (_time.Now, host.Mock.Stats.CommandCount("STAT"));
        for (var article = 1; article < Articles || !beside.IsCompleted; article++)
        {
            var began = _time.Now;
            var reading = ReadAsync(stream, buffer);
            var waits = !reading.IsCompleted;
            await reading;
            Assert.True(buffer.AsSpan().SequenceEqual(host.Truth((from + article) * (long)ArticleSize, ArticleSize)), $"wrong bytes in article {article}");
            if (article >= Ramp)
                played = played.With(waits, _time.Since(began));

            var checking = host.Limiter.InUse(OperationLane.HealthCheck);
            Assert.InRange(checking, 0, Share);
            played = played with { MostChecking = Math.Max(played.MostChecking, checking) };
            if (_time.Since(second) >= Second && !beside.IsCompleted)
            {
                var now = host.Mock.Stats.CommandCount("STAT");
                played = played with { FewestChecked = (int)Math.Min(played.FewestChecked, now - stats) };
                (second, stats) = (_time.Now, now);
            }

            await Task.Delay(Pace, TimeProvider.System, Token);
        }

        await beside;
        return played;
    }

    private static async Task ReadAsync(ReadOnlyStream stream, byte[] buffer) => await stream.ReadExactlyAsync(buffer, Token);

    /// <summary>Measurements of a player and of a concurrent check.</summary>
    private sealed record Played(int Waits, int Rebuffers, TimeSpan Longest, int MostChecking, int FewestChecked)
    {
        public Played With(bool waits, TimeSpan took) => this with
        {
            Waits = Waits + (waits ? 1 : 0),
            Rebuffers = Rebuffers + (took > BackgroundShareTests.Rebuffers ? 1 : 0),
            Longest = took > Longest ? took : Longest,
        };
    }
}
