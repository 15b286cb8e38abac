using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

/// <summary>Time is virtual. Once a provider without latency has answered, an answer that was not counted has not been sent yet.</summary>
public sealed class LatencyTests
{
    private static readonly MockRelease Release = MockRelease.Plain(1, 4000, articleSize: 1000);
    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public async Task Pipelined_commands_share_one_latency()
    {
        await using var mock = await StartAsync(new MockProvider { Latency = Milliseconds(50) });
        await using var client = await OpenAsync(mock);
        await AskForAllAsync(mock, client);

        _clock.Advance(Milliseconds(49));
        await BarrierAsync(mock);
        Assert.Equal(0, mock.ProviderStats[0].Articles);

        _clock.Advance(Milliseconds(1));
        for (var part = 1; part <= 4; part++)
        {
            Assert.Equal($"222 0 <{Release.MessageId(0, part)}>", await client.ReadLineAsync());
            await client.ReadBlockAsync();
        }

        Assert.Equal(4, mock.Stats.DeepestPipeline);
    }

    [Fact]
    public async Task Serial_latency_delays_pipelined_commands_one_by_one()
    {
        await using var mock = await StartAsync(new MockProvider { Latency = Milliseconds(50), SerialLatency = true });
        await using var client = await OpenAsync(mock);
        await AskForAllAsync(mock, client);

        for (var part = 1; part <= 4; part++)
        {
            await BarrierAsync(mock);
            Assert.Equal(part - 1, mock.ProviderStats[0].Articles);
            // The delay of an answer starts when the previous answer was sent.
            await Eventually.IsTrueAsync(() => _clock.Waiting > 0);
            _clock.Advance(Milliseconds(50));
            await client.ReadLineAsync();
            await client.ReadBlockAsync();
            await Eventually.IsTrueAsync(() => mock.ProviderStats[0].Articles == part);
        }
    }

    [Fact]
    public async Task Jitter_stays_within_its_bounds()
    {
        await using var mock = await StartAsync(new MockProvider { Latency = Milliseconds(50), Jitter = Milliseconds(10) });
        await using var client = await OpenAsync(mock, Milliseconds(60));
        var bytes = "200 sluice.mock ready (posting prohibited)\r\n".Length;
        for (var i = 0; i < 20; i++)
        {
            await Eventually.IsTrueAsync(() => mock.ProviderStats[0].Bytes == bytes);
            await client.SendAsync("DATE");
            await Eventually.IsTrueAsync(() => mock.ProviderStats[0].CommandCount("DATE") == i + 1);
            _clock.Advance(Milliseconds(39));
            await BarrierAsync(mock);
            Assert.Equal(bytes, mock.ProviderStats[0].Bytes);
            _clock.Advance(Milliseconds(21));
            bytes += (await client.ReadLineAsync()).Length + 2;
        }
    }

    [Fact]
    public async Task Tls_handshake_costs_one_extra_round_trip()
    {
        await using var mock = await StartAsync(new MockProvider { Latency = Milliseconds(50), Tls = MockTls.Valid });
        await using var client = await RawClient.ConnectAsync(mock.Port);
        await Eventually.IsTrueAsync(() => mock.ProviderStats[0].Opened == 1);
        var handshake = client.SecureAsync(mock.AuthorityPem!);
        await BarrierAsync(mock);
        Assert.False(handshake.IsCompleted);

        _clock.Advance(Milliseconds(50));
        await handshake;
        await BarrierAsync(mock);
        Assert.Equal(0, mock.ProviderStats[0].Bytes);

        _clock.Advance(Milliseconds(50));
        Assert.StartsWith("200 ", await client.ReadLineAsync(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0, 20_000)]
    [InlineData(40_000, 0)]
    public async Task Bandwidth_limits_set_a_minimum_transfer_time(int all, int each)
    {
        var release = MockRelease.Plain(1, 20_000, articleSize: 10_000);
        await using var mock = await StartAsync(new MockProvider { Bandwidth = all, ConnectionBandwidth = each });
        await using var one = await RawClient.OpenAsync(mock.Port);
        await using var two = await RawClient.OpenAsync(mock.Port);
        var start = _clock.GetUtcNow();

        var bodies = Task.WhenAll(one.ReadBodyAsync(release.MessageId(0, 1)), two.ReadBodyAsync(release.MessageId(0, 2)));
        while (!bodies.IsCompleted)
        {
            await Eventually.IsTrueAsync(() => _clock.Waiting > 0 || bodies.IsCompleted);
            _clock.Advance(Milliseconds(10));
        }

        // Either limit allows 40,000 bytes per second for these 20,000 bytes; the last slices need no wait.
        Assert.All(await bodies, body => Assert.InRange(body.Length, 10_000, 11_000));
        Assert.InRange(_clock.GetUtcNow() - start, Milliseconds(450), TimeSpan.MaxValue);
    }

    private static TimeSpan Milliseconds(int count) => TimeSpan.FromMilliseconds(count);

    /// <summary>Starts a mock whose second provider answers without delay.</summary>
    private Task<MockServer> StartAsync(MockProvider provider) =>
        MockServer.StartAsync(new MockOptions { Time = _clock, Providers = [provider, new MockProvider()] });

    private async Task<RawClient> OpenAsync(MockServer mock, TimeSpan? roundTrip = null)
    {
        var client = await RawClient.ConnectAsync(mock.Port);
        await Eventually.IsTrueAsync(() => mock.ProviderStats[0].Opened == 1);
        await BarrierAsync(mock);
        Assert.Equal(0, mock.ProviderStats[0].Bytes);
        _clock.Advance(roundTrip ?? Milliseconds(50));
        Assert.StartsWith("200 ", await client.ReadLineAsync(), StringComparison.Ordinal);
        return client;
    }

    private static async Task AskForAllAsync(MockServer mock, RawClient client)
    {
        await client.SendAsync([.. Release.MessageIds().Select(id => $"BODY <{id}>")]);
        await Eventually.IsTrueAsync(() => mock.ProviderStats[0].CommandCount("BODY") == 4);
    }

    private static async Task BarrierAsync(MockServer mock)
    {
        await using var other = await RawClient.OpenAsync(mock.Ports[1]);
        Assert.StartsWith("111 ", await other.AskAsync("DATE"), StringComparison.Ordinal);
    }
}
