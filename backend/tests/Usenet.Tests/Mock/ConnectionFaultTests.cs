using System.Net.Sockets;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class ConnectionFaultTests
{
    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public async Task Connections_are_refused_while_the_fault_lasts()
    {
        await using var bench = await FaultBench.StartAsync(
            new MockFault { Kind = FaultKind.ConnectRefuse, After = TimeSpan.FromSeconds(1), Until = TimeSpan.FromSeconds(2) }, _clock);
        await using (await bench.OpenAsync())
            _clock.Advance(TimeSpan.FromSeconds(1));

        await Eventually.IsTrueAsync(() => bench.Mock.Stats.FaultCount(FaultKind.ConnectRefuse) == 1);
        var refused = await Assert.ThrowsAsync<SocketException>(() => bench.ConnectAsync());
        Assert.Equal(SocketError.ConnectionRefused, refused.SocketErrorCode);

        _clock.Advance(TimeSpan.FromSeconds(1));
        await Eventually.IsTrueAsync(() => CanConnect(bench.Mock.Port));
        await using var client = await bench.OpenAsync();
        bench.AssertCounted(FaultKind.ConnectRefuse);
    }

    [Fact]
    public async Task Connection_attempts_hang_while_the_fault_lasts()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.ConnectBlackhole);
        await Eventually.IsTrueAsync(() => bench.Mock.Stats.FaultCount(FaultKind.ConnectBlackhole) == 1);
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using var patience = new CancellationTokenSource(TimeSpan.FromMilliseconds(300), TimeProvider.System);
        await Assert.ThrowsAsync<OperationCanceledException>(async () => await socket.ConnectAsync("127.0.0.1", bench.Mock.Port, patience.Token));

        bench.Mock.ChangeFaults([]);
        await Eventually.IsTrueAsync(() => CanConnect(bench.Mock.Port));
        await using var client = await bench.OpenAsync();
    }

    [Fact]
    public async Task Slow_greeting_arrives_after_three_seconds()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.ConnectSlow, _clock);
        await using var client = await bench.ConnectAsync();
        await Eventually.IsTrueAsync(() => _clock.Waiting > 0);
        _clock.Advance(TimeSpan.FromMilliseconds(2999));
        Assert.Equal(0, bench.Mock.Stats.Bytes);
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.StartsWith("200 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        bench.AssertCounted(FaultKind.ConnectSlow);
    }

    [Theory]
    [InlineData(FaultKind.ConnectClose, false)]
    [InlineData(FaultKind.ConnectReset, true)]
    public async Task Accepted_connection_closes_without_a_greeting(FaultKind kind, bool reset)
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = kind, Connection = 1 });
        try
        {
            await using var client = await bench.ConnectAsync();
            var (bytes, wasReset) = await client.ReadToEndAsync();
            Assert.Empty(bytes);
            Assert.Equal(reset, wasReset);
        }
        catch (SocketException e) when (reset && e.SocketErrorCode == SocketError.ConnectionReset)
        {
            // A reset may arrive before connecting has returned.
        }

        await using var second = await bench.OpenAsync();
        bench.AssertCounted(kind);
    }

    [Theory]
    [InlineData(FaultKind.Greeting400, "400 ")]
    [InlineData(FaultKind.Greeting502, "502 ")]
    public async Task Refusal_greeting_closes_the_connection(FaultKind kind, string greeting)
    {
        await using var bench = await FaultBench.StartAsync(kind);
        await using var client = await bench.ConnectAsync();
        Assert.StartsWith(greeting, await client.ReadLineAsync(), StringComparison.Ordinal);
        Assert.Empty((await client.ReadToEndAsync()).Bytes);
        bench.AssertCounted(kind);
        Assert.Equal(0, bench.Mock.Stats.Refused);
    }

    [Fact]
    public async Task Greeting_faults_send_garbage_a_long_banner_or_nothing()
    {
        await using var garbage = await FaultBench.StartAsync(FaultKind.GreetingGarbage);
        await using var first = await garbage.ConnectAsync();
        Assert.DoesNotMatch("^[0-9]{3}", await first.ReadLineAsync());
        garbage.AssertCounted(FaultKind.GreetingGarbage);

        await using var banner = await FaultBench.StartAsync(FaultKind.GreetingBanner);
        await using var second = await banner.ConnectAsync();
        Assert.InRange((await second.ReadLineAsync()).Length, 10 * 1024, 11 * 1024);
        banner.AssertCounted(FaultKind.GreetingBanner);

        await using var none = await FaultBench.StartAsync(FaultKind.GreetingNone);
        var third = await none.ConnectAsync();
        await third.SendAsync("DATE");
        await Eventually.IsTrueAsync(() => none.Mock.Stats.CommandCount("DATE") == 1);
        Assert.Equal(0, none.Mock.Stats.Bytes);
        await third.DisposeAsync();
        await Eventually.IsTrueAsync(() => none.Mock.Stats.ConnectionsNow == 0);
        none.AssertCounted(FaultKind.GreetingNone);
    }

    [Theory]
    [InlineData(FaultKind.Auth480, "480 ")]
    [InlineData(FaultKind.Auth481, "481 ")]
    [InlineData(FaultKind.Auth482, "482 ")]
    [InlineData(FaultKind.Auth502, "502 Too many connections")]
    public async Task Login_fault_replaces_the_reply_to_a_correct_password(FaultKind kind, string answer)
    {
        await using var bench = await StartWithLoginAsync(new MockFault { Kind = kind });
        await using var client = await bench.OpenAsync();
        Assert.StartsWith("381 ", await client.AskAsync("AUTHINFO USER u"), StringComparison.Ordinal);
        Assert.StartsWith(answer, await client.AskAsync("AUTHINFO PASS p"), StringComparison.Ordinal);
        bench.AssertCounted(kind);
    }

    [Fact]
    public async Task Slow_login_reply_arrives_after_five_seconds()
    {
        await using var bench = await StartWithLoginAsync(new MockFault { Kind = FaultKind.AuthSlow });
        await using var client = await bench.OpenAsync();
        Assert.StartsWith("381 ", await client.AskAsync("AUTHINFO USER u"), StringComparison.Ordinal);
        var bytes = bench.Mock.Stats.Bytes;
        await client.SendAsync("AUTHINFO PASS p");
        await Eventually.IsTrueAsync(() => _clock.Waiting > 0);
        _clock.Advance(TimeSpan.FromMilliseconds(4999));
        Assert.Equal(bytes, bench.Mock.Stats.Bytes);
        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.StartsWith("281 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        bench.AssertCounted(FaultKind.AuthSlow);
    }

    [Fact]
    public async Task Login_forgotten_at_the_first_command_must_be_repeated()
    {
        await using var bench = await StartWithLoginAsync(new MockFault { Kind = FaultKind.AuthThen480, Count = 1 });
        await using var client = await bench.OpenAsync();
        await client.AskAsync("AUTHINFO USER u");
        Assert.StartsWith("281 ", await client.AskAsync("AUTHINFO PASS p"), StringComparison.Ordinal);
        Assert.StartsWith("480 ", await client.AskAsync($"STAT <{FaultBench.FirstId}>"), StringComparison.Ordinal);
        await client.AskAsync("AUTHINFO USER u");
        Assert.StartsWith("281 ", await client.AskAsync("AUTHINFO PASS p"), StringComparison.Ordinal);
        Assert.StartsWith("223 ", await client.AskAsync($"STAT <{FaultBench.FirstId}>"), StringComparison.Ordinal);
        bench.AssertCounted(FaultKind.AuthThen480);
    }

    private Task<FaultBench> StartWithLoginAsync(MockFault fault) =>
        FaultBench.StartAsync(fault, _clock, new MockProvider { User = "u", Password = "p" });

    private static bool CanConnect(int port)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            socket.Connect("127.0.0.1", port);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
