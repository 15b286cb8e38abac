using System.Net.Sockets;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

/// <summary>How long a client that has left counts against the cap.</summary>
public sealed class NoticeTests
{
    private static readonly TimeSpan Stall = TimeSpan.FromSeconds(6);
    private readonly ManualTimeProvider _clock = new();

    [Theory]
    [InlineData(0, false)]
    [InlineData(200, false)]
    [InlineData(200, true)]
    [InlineData(Timeout.Infinite, false)]
    [InlineData(Timeout.Infinite, true)]
    public async Task Client_lost_mid_reply_counts_until_the_server_detects_it(int milliseconds, bool resets)
    {
        await using var bench = await StartAsync(milliseconds);
        await using (var client = await bench.OpenAsync())
        {
            await client.SendAsync($"BODY <{FaultBench.FirstId}>");
            await client.ReadLineAsync();
            await Eventually.IsTrueAsync(() => _clock.Waiting == 1);
            client.Socket.LingerState = new LingerOption(resets, 0);
        }

        var noticed = milliseconds == Timeout.Infinite ? Stall : TimeSpan.FromMilliseconds(milliseconds);
        if (noticed > TimeSpan.Zero)
        {
            await AssertRefusedAsync(bench);

            // Waits for both timers: the stalled answer and, unless infinite, the delay until the server notices.
            await Eventually.IsTrueAsync(() => milliseconds == Timeout.Infinite || _clock.Waiting == 2);
            _clock.Advance(noticed - TimeSpan.FromMilliseconds(1));
            await AssertRefusedAsync(bench);
            _clock.Advance(TimeSpan.FromMilliseconds(1));
        }

        await Eventually.IsTrueAsync(() => bench.Mock.Stats.ConnectionsNow == 0);
        await using var next = await bench.OpenAsync();
        Assert.StartsWith("111 ", await next.AskAsync("DATE"), StringComparison.Ordinal);
        Assert.Equal(0, bench.Mock.Stats.Waiting);
    }

    [Fact]
    public async Task Client_leaving_between_replies_is_detected_at_once()
    {
        await using var bench = await StartAsync(Timeout.Infinite);
        for (var i = 0; i < 5; i++)
        {
            await using var client = await bench.OpenAsync();
            Assert.StartsWith("111 ", await client.AskAsync("DATE"), StringComparison.Ordinal);
        }

        Assert.Equal(0, bench.Mock.Stats.Refused);
    }

    private Task<FaultBench> StartAsync(int milliseconds) => FaultBench.StartAsync(
        new MockFault { Kind = FaultKind.BodyStall, Duration = Stall, Offset = 100 },
        _clock,
        new MockProvider { MaxConnections = 1, NoticesAfter = TimeSpan.FromMilliseconds(milliseconds) });

    private static async Task AssertRefusedAsync(FaultBench bench)
    {
        await using var other = await bench.ConnectAsync();
        Assert.StartsWith("502 ", await other.ReadLineAsync(), StringComparison.Ordinal);
    }
}
