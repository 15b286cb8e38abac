using Sluice.Testing;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>A canceled dial: the provider may have accepted a connection that the client never held.</summary>
public sealed class CancelledDialTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Canceled_dials_count_every_connection_the_server_accepted()
    {
        const int dials = 100;
        await using var mock = await MockServer.StartAsync();
        using var meter = new NntpMeter(TimeProvider.System);
        using var counted = new NntpListener(meter.Source);
        var dialer = Dialer(mock, meter);
        for (var i = 0; i < dials; i++)
        {
            // On loopback the kernel completes the connect at once after the call, so the cancellation races with that.
            using var unwanted = CancellationTokenSource.CreateLinkedTokenSource(Token);
            var dial = dialer.DialAsync(unwanted.Token);
            await unwanted.CancelAsync();
            try
            {
                await (await dial).DisposeAsync();
                meter.SocketClosed();
            }
            catch (OperationCanceledException) when (!Token.IsCancellationRequested)
            {
                // The cancellation was faster.
            }
        }

        await Eventually.HoldsAsync(() => mock.Stats.Opened == dials && mock.Stats.ConnectionsNow == 0, () => $"{mock.Stats.Opened} opened, {mock.Stats.ConnectionsNow} open", Token);
        var counters = counted.Now;
        Assert.Equal(dials, counters.SocketsOpened + counters.SocketsAbandoned);
        Assert.Equal(1, counters.SocketsPeak);
    }

    [Fact]
    public async Task Unanswered_dial_counts_as_abandoned()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Faults = [new MockFault { Kind = FaultKind.ConnectBlackhole }] });
        await Eventually.HoldsAsync(() => mock.Stats.FaultCount(FaultKind.ConnectBlackhole) == 1, () => "the mock listens", Token);
        using var meter = new NntpMeter(TimeProvider.System);
        using var counted = new NntpListener(meter.Source);
        var failure = await Assert.ThrowsAsync<NntpException>(() => Dialer(mock, meter, new NntpOptions { ConnectTimeout = TimeSpan.FromMilliseconds(50) }).DialAsync(Token));
        Assert.Equal(NntpFault.ConnectTimeout, failure.Fault);
        Assert.Equal((0, 1, 1), (counted.Now.SocketsOpened, counted.Now.SocketsAbandoned, counted.Now.SocketsPeak));
    }

    [Fact]
    public async Task Refused_dial_counts_no_socket()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Faults = [new MockFault { Kind = FaultKind.ConnectRefuse }] });
        await Eventually.HoldsAsync(() => mock.Stats.FaultCount(FaultKind.ConnectRefuse) == 1, () => "the mock listens", Token);
        using var meter = new NntpMeter(TimeProvider.System);
        using var counted = new NntpListener(meter.Source);
        var failure = await Assert.ThrowsAsync<NntpException>(() => Dialer(mock, meter).DialAsync(Token));
        Assert.Equal(NntpFault.ConnectFailed, failure.Fault);
        Assert.Equal((0, 0), (counted.Now.SocketsOpened, counted.Now.SocketsAbandoned));
    }

    [Fact]
    public async Task Unanswered_login_command_is_counted_separately()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { User = "u", Password = "p" }],
            Faults = [new MockFault { Kind = FaultKind.AuthSlow, Verb = "AUTHINFO PASS", Duration = TimeSpan.FromMinutes(1) }],
        });
        using var meter = new NntpMeter(TimeProvider.System);
        using var counted = new NntpListener(meter.Source);
        using var unwanted = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var dial = Dialer(mock, meter).DialAsync(unwanted.Token);
        await Eventually.HoldsAsync(() => mock.Stats.CommandCount("AUTHINFO PASS") == 1, () => "the password was not sent", Token);
        await unwanted.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => dial);
        Assert.Equal((2, 1), (counted.Now.Commands, counted.Now.Unanswered));
    }

    /// <summary>A failing dial ends: its slot is free for another dial, and the fetch gets the reason.</summary>
    [Fact(Timeout = 60_000)]
    public async Task Throwing_dial_frees_its_slot_for_the_next_one()
    {
        var dials = 0;
        var time = new ManualTimeProvider();
        var account = new ProviderOptions { Name = "broken", Host = "127.0.0.1", UseTls = false, MaxConnections = 1 };
        var shared = TestResources.Of(new NntpOptions(), time, new GlobalOperationLimiter(1, time: time), (_, _) =>
        {
            dials++;
            throw new InvalidOperationException("broken");
        });
        await using var pool = new NntpConnectionPool(account, shared);
        for (var round = 1; round <= 3; round++)
        {
            using var lease = new ConnectionLease(new ArticleRequest(MessageId.Parse("a@t"), OperationLane.Playback));
            var failure = await Assert.ThrowsAsync<NntpException>(() => pool.LeaseAsync(lease, Token).AsTask());
            Assert.Equal(NntpFault.Broken, failure.Fault);
            await Eventually.HoldsAsync(() => pool.Sockets == 0, () => $"{pool}", Token);
            Assert.Equal(round, dials);
            time.Advance(TimeSpan.FromMinutes(1));
        }
    }

    /// <summary>The settings may remove an account during its probe: the dial ends with the pool and leaves no socket.</summary>
    [Fact(Timeout = 60_000)]
    public async Task Pool_dispose_ends_a_probe_in_progress()
    {
        var dialling = new TaskCompletionSource();
        var account = new ProviderOptions { Name = "slow", Host = "127.0.0.1", UseTls = false, MaxConnections = 1 };
        var shared = TestResources.Of(new NntpOptions(), TimeProvider.System, dial: async (_, token) =>
        {
            dialling.SetResult();
            await Task.Delay(Timeout.InfiniteTimeSpan, TimeProvider.System, token);
            throw new InvalidOperationException("The dial was not given up.");
        });
        var pool = new NntpConnectionPool(account, shared);
        var probe = pool.ProbeAsync(Token);
        await dialling.Task;

        await pool.DisposeAsync();

        Assert.Equal(0, pool.Sockets);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => probe);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => pool.ProbeAsync(Token));
    }

    private static NntpDialer Dialer(MockServer mock, NntpMeter meter, NntpOptions? options = null) => new(
        new ProviderOptions { Name = "mock", Host = "127.0.0.1", Port = mock.Port, UseTls = false, User = mock.Providers[0].User, Password = mock.Providers[0].Password },
        options ?? new NntpOptions(),
        meter,
        TimeProvider.System);
}
