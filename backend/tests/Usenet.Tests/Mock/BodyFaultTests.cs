using System.Text;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Wire;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class BodyFaultTests
{
    private static readonly string Ask = $"BODY <{FaultBench.FirstId}>";

    [Theory]
    [InlineData(FaultKind.BodyFin, false)]
    [InlineData(FaultKind.BodyReset, true)]
    public async Task Body_is_truncated_at_the_offset_once_and_whole_on_the_retry(FaultKind kind, bool reset)
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = kind, Offset = 5000 });
        var whole = await WholeAsync();
        await using (var client = await bench.OpenAsync())
        {
            await client.AskAsync(Ask);
            var (bytes, wasReset) = await client.ReadToEndAsync();
            Assert.Equal(reset, wasReset);
            Assert.True(reset ? bytes.Length <= 5000 : bytes.Length == 5000);
            Assert.Equal(whole[..bytes.Length], bytes);
        }

        Assert.Equal(FaultBench.Truth(1), (await bench.ReadFirstAsync()).Decoded);
        bench.AssertCounted(kind);
        Assert.Equal((2, 1), (bench.Mock.Stats.BodyCount(FaultBench.FirstId), bench.Mock.Stats.Articles));
    }

    [Theory]
    [InlineData(FaultKind.BodyEmpty, "")]
    [InlineData(FaultKind.BodyTakedown, "This article was removed at the request of its owner.\r\n")]
    public async Task Fault_text_replaces_the_article_data(FaultKind kind, string text)
    {
        await using var bench = await FaultBench.StartAsync(kind);
        await using var client = await bench.OpenAsync();
        await client.SendAsync(Ask, "DATE");
        Assert.Equal($"222 0 <{FaultBench.FirstId}>", await client.ReadLineAsync());
        foreach (var line in text.Split("\r\n", StringSplitOptions.RemoveEmptyEntries))
            Assert.Equal(line, await client.ReadLineAsync());
        Assert.Equal(".", await client.ReadLineAsync());
        Assert.StartsWith("111 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        bench.AssertCounted(kind);
    }

    [Fact]
    public async Task One_byte_packets_carry_the_correct_bytes()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.BodyPackets);
        Assert.Equal(FaultBench.Truth(1), (await bench.ReadFirstAsync()).Decoded);
        bench.AssertCounted(FaultKind.BodyPackets);
    }

    [Fact]
    public async Task Unlimited_count_truncates_every_attempt()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.BodyFin, Count = 0 });
        for (var attempt = 1; attempt <= 3; attempt++)
        {
            await using var client = await bench.OpenAsync();
            await client.AskAsync(Ask);
            await client.ReadToEndAsync();
            bench.AssertCounted(FaultKind.BodyFin, attempt);
        }
    }

    [Fact]
    public async Task Stalled_body_pauses_at_the_offset_and_is_then_closed()
    {
        var clock = new ManualTimeProvider();
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.BodyStall, Offset = 100, Duration = TimeSpan.FromSeconds(10) }, clock);
        await using var client = await bench.OpenAsync();
        await client.AskAsync(Ask);
        Assert.Equal(100, (await client.ReadAtLeastAsync(100)).Length);
        await Eventually.IsTrueAsync(() => clock.Waiting > 0);
        clock.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal((0, false), (await client.ReadToEndAsync()) is var (bytes, reset) ? (bytes.Length, reset) : default);
        bench.AssertCounted(FaultKind.BodyStall);
    }

    [Fact]
    public async Task Stalled_body_continues_if_closing_is_off()
    {
        var clock = new ManualTimeProvider();
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.BodyStall, Offset = 100, Duration = TimeSpan.FromSeconds(10), CloseAfterStall = false }, clock);
        await using var client = await bench.OpenAsync();
        await client.AskAsync(Ask);
        var head = await client.ReadAtLeastAsync(100);
        await Eventually.IsTrueAsync(() => clock.Waiting > 0);
        clock.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(await WholeAsync(), (byte[])[.. head, .. await client.ReadBlockAsync()]);
    }

    [Fact]
    public async Task Endless_stall_lasts_until_the_client_disconnects()
    {
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.BodyStall, Offset = 100 });
        var client = await bench.OpenAsync();
        await client.AskAsync(Ask);
        await client.ReadAtLeastAsync(100);
        await client.DisposeAsync();
        await Eventually.IsTrueAsync(() => bench.Mock.Stats is { CancelledBodies: 1, ConnectionsNow: 0 });
    }

    [Fact]
    public async Task Trickle_sends_one_byte_per_pause()
    {
        var clock = new ManualTimeProvider();
        await using var bench = await FaultBench.StartAsync(new MockFault { Kind = FaultKind.BodyTrickle, Offset = 0 }, clock);
        await using var client = await bench.OpenAsync();
        await client.AskAsync(Ask);
        for (var i = 0; i < 5; i++)
        {
            await Eventually.IsTrueAsync(() => clock.Waiting > 0);
            clock.Advance(TimeSpan.FromSeconds(1));
            Assert.Equal([(byte)"=ybeg"[i]], await client.ReadAtLeastAsync(1));
        }

        bench.AssertCounted(FaultKind.BodyTrickle);
    }

    [Fact]
    public async Task Body_without_terminator_runs_into_the_next_reply()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.BodyNoTerminator);
        await using var client = await bench.OpenAsync();
        await client.SendAsync(Ask, "QUIT");
        var (bytes, _) = await client.ReadToEndAsync();
        Assert.Matches("=yend size=20000 part=1 pcrc32=[0-9a-f]{8}\r\n205 Bye\r\n$", Encoding.Latin1.GetString(bytes));
        bench.AssertCounted(FaultKind.BodyNoTerminator);
    }

    [Fact]
    public async Task Extra_line_follows_the_terminator()
    {
        await using var bench = await FaultBench.StartAsync(FaultKind.BodyTrailing);
        await using var client = await bench.OpenAsync();
        await client.ReadBodyAsync(FaultBench.FirstId);
        Assert.Equal("bytes after the end", await client.ReadLineAsync());
        bench.AssertCounted(FaultKind.BodyTrailing);
    }

    [Theory]
    [InlineData(FaultKind.BodySplitTerminator)]
    [InlineData(FaultKind.BodyDotEdge)]
    [InlineData(FaultKind.YencEscapeEdge)]
    public async Task Packet_boundaries_change_no_byte(FaultKind kind)
    {
        // Long enough for lines that begin with a dot.
        var id = MockRelease.Plain(1, 200_000, articleSize: 200_000).MessageId(0, 1);
        await using var bench = await FaultBench.StartAsync(kind);
        await using var client = await bench.OpenAsync();
        await client.AskAsync($"BODY <{id}>");
        Assert.Equal(await WholeAsync(id), await client.ReadBlockAsync());
        bench.AssertCounted(kind);
    }

    [Fact]
    public void Terminator_is_sent_byte_by_byte()
    {
        var whole = new Answer { Bytes = "222 0 <a@b>\r\ntext\r\n.\r\n"u8.ToArray(), BodyStart = 13, IsArticle = true };
        var split = Delivery.Disturb(whole, new MockFault { Kind = FaultKind.BodySplitTerminator });
        Assert.Equal([whole.Bytes.Length - 4, whole.Bytes.Length - 3, whole.Bytes.Length - 2, whole.Bytes.Length - 1], split.PacketEdges);
        Assert.Equal(whole.Bytes, split.Bytes);
    }

    private static async Task<byte[]> WholeAsync(string? id = null)
    {
        await using var mock = await MockServer.StartAsync();
        await using var client = await RawClient.OpenAsync(mock.Port);
        await client.AskAsync($"BODY <{id ?? FaultBench.FirstId}>");
        return await client.ReadBlockAsync();
    }
}
