using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class PolicyFaultTests
{
    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public async Task Idle_connection_gets_400_and_is_closed()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.PolicyIdle, Duration = TimeSpan.FromSeconds(30) }, _clock);
        await using var client = await bench.OpenAsync();
        await client.ReadBodyAsync(FaultBench.FirstId);
        await Eventually.IsTrueAsync(() => _clock.Waiting > 0);
        _clock.Advance(TimeSpan.FromSeconds(29.9));
        await client.ReadBodyAsync(FaultBench.FirstId);

        await Eventually.IsTrueAsync(() => _clock.Waiting > 0);
        _clock.Advance(TimeSpan.FromSeconds(30));
        Assert.Equal("400 Idle for too long", await client.ReadLineAsync());
        Assert.Empty((await client.ReadToEndAsync()).Bytes);
        bench.AssertCounted(FaultKind.PolicyIdle);
    }

    [Fact]
    public async Task Lowered_cap_keeps_the_oldest_and_refuses_the_others()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.PolicyCap, Limit = 2, After = TimeSpan.FromSeconds(1) }, _clock);
        await using var first = await bench.OpenAsync();
        await using var second = await bench.OpenAsync();
        await using var third = await bench.OpenAsync();
        await third.ReadBodyAsync(FaultBench.FirstId);

        _clock.Advance(TimeSpan.FromSeconds(1));
        await first.ReadBodyAsync(FaultBench.FirstId);
        await second.ReadBodyAsync(FaultBench.FirstId);
        Assert.Equal("502 Too many connections", await third.AskAsync("DATE"));
        await using var fourth = await bench.ConnectAsync();
        Assert.StartsWith("502 ", await fourth.ReadLineAsync(), StringComparison.Ordinal);
        bench.AssertCounted(FaultKind.PolicyCap);
        Assert.Equal(1, bench.Mock.Stats.Refused);
    }

    [Fact]
    public async Task Throttled_connection_is_paced_by_the_clock()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.PolicyThrottle, Limit = 1000 }, _clock);
        await using var client = await bench.OpenAsync();
        await client.SendAsync($"BODY <{FaultBench.FirstId}>");
        await Eventually.IsTrueAsync(() => _clock.Waiting > 0);
        var before = bench.Mock.Stats.Bytes;
        Assert.InRange(before, 1, 2000);
        _clock.Advance(TimeSpan.FromSeconds(2));
        await Eventually.IsTrueAsync(() => bench.Mock.Stats.Bytes > before);
        Assert.InRange(bench.Mock.Stats.Bytes, before + 1, 5000);
        bench.AssertCounted(FaultKind.PolicyThrottle);
    }

    [Fact]
    public async Task STAT_fault_confirms_an_article_missing_for_other_commands()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.PolicyStatLie);
        await using var client = await bench.OpenAsync();
        Assert.Equal($"223 0 <{FaultBench.FirstId}>", await client.AskAsync($"STAT <{FaultBench.FirstId}>"));
        foreach (var verb in new[] { "BODY", "HEAD", "ARTICLE" })
            Assert.StartsWith("430 ", await client.AskAsync($"{verb} <{FaultBench.FirstId}>"), StringComparison.Ordinal);
        bench.AssertCounted(FaultKind.PolicyStatLie, 3);
    }

    [Fact]
    public async Task Flapping_article_is_missing_on_every_other_attempt()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.PolicyFlap);
        await using var client = await bench.OpenAsync();
        for (var round = 0; round < 2; round++)
        {
            Assert.StartsWith("430 ", await client.AskAsync($"BODY <{FaultBench.FirstId}>"), StringComparison.Ordinal);
            await client.ReadBodyAsync(FaultBench.FirstId);
        }

        bench.AssertCounted(FaultKind.PolicyFlap, 2);
    }

    [Fact]
    public async Task Provider_outage_closes_connections_and_ends_on_time()
    {
        await using var bench = await FaultBench.StartAsync(
            new MockFault { Kind = FaultKind.PolicyDown, After = TimeSpan.FromSeconds(1), Until = TimeSpan.FromSeconds(61) }, _clock);
        await using (var client = await bench.OpenAsync())
        {
            _clock.Advance(TimeSpan.FromSeconds(1));
            Assert.Empty((await client.ReadToEndAsync()).Bytes);
        }

        bench.AssertCounted(FaultKind.PolicyDown);
        _clock.Advance(TimeSpan.FromSeconds(60));
        await Eventually.IsTrueAsync(() => CanConnect(bench.Mock.Port));
        await using var again = await bench.OpenAsync();
        await again.ReadBodyAsync(FaultBench.FirstId);
    }

    [Fact]
    public async Task Pipelined_command_gets_no_reply()
    {
        const int Rounds = 20;
        // The latency makes the second command arrive while the first waits, even if they come in two packets.
        await using var bench = await FaultBench.StartAsync(
            new MockFault { Kind = FaultKind.PolicyNoPipelining }, provider: new MockProvider { Latency = TimeSpan.FromMilliseconds(50) });
        await using var client = await bench.OpenAsync();
        for (var round = 0; round < Rounds; round++)
        {
            await client.SendAsync($"STAT <{FaultBench.FirstId}>", $"STAT <{FaultBench.Release.MessageId(0, 2)}>");
            Assert.Equal($"223 0 <{FaultBench.FirstId}>", await client.ReadLineAsync());
            // Sent at once after the reply, so a command that gets none must no longer count as one that waits.
            Assert.Equal($"223 0 <{FaultBench.Release.MessageId(0, 3)}>", await client.AskAsync($"STAT <{FaultBench.Release.MessageId(0, 3)}>"));
        }

        bench.AssertCounted(FaultKind.PolicyNoPipelining, Rounds);
        Assert.Equal(0, bench.Mock.Stats.Waiting);
    }

    [Fact]
    public async Task Pipelined_commands_are_answered_in_the_wrong_order()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.PolicyReorder }, _clock, new MockProvider { Latency = TimeSpan.FromSeconds(1) });
        await using var client = await bench.ConnectAsync();
        await Eventually.IsTrueAsync(() => _clock.Waiting > 0);
        _clock.Advance(TimeSpan.FromSeconds(1));
        await client.ReadLineAsync();

        await client.SendAsync($"STAT <{FaultBench.FirstId}>", $"STAT <{FaultBench.Release.MessageId(0, 2)}>");
        await Eventually.IsTrueAsync(() => bench.Mock.Stats.Waiting == 2 && _clock.Waiting > 0);
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal($"223 0 <{FaultBench.Release.MessageId(0, 2)}>", await client.ReadLineAsync());
        Assert.Equal($"223 0 <{FaultBench.FirstId}>", await client.ReadLineAsync());
        bench.AssertCounted(FaultKind.PolicyReorder);
    }

    private static bool CanConnect(int port)
    {
        try
        {
            using var socket = new System.Net.Sockets.TcpClient("127.0.0.1", port);
            return true;
        }
        catch (System.Net.Sockets.SocketException)
        {
            return false;
        }
    }
}
