using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A canceled read releases its permit, socket and blocks.</summary>
public sealed class CancelledReadTests
{
    private const int Reads = 1000;
    private const int Viewers = 8;
    private const int Connections = 8;
    private const long LostBlocks = 32L << 20;
    private static readonly SyntheticFilm Film = new(8, 500_000_000, 716_800);

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public async Task Thousand_canceled_reads_leak_no_socket_or_block()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await StartAsync(permits: 0, cancel);
        // The first thousand reads fill the pools. One lost block per read would add 64 MiB in the second thousand.
        await CancelReadsAsync(set.Client, new Random(20260104), cancel);
        var before = set.Server.ResidentBytes;
        await CancelReadsAsync(set.Client, new Random(20260105), cancel);
        Assert.InRange(set.Server.ResidentBytes, 0, before + LostBlocks);
        Assert.InRange(set.Mock.Stats.ConnectionsPeak, 1, Connections);
        await AssertReadableAsync(set, cancel);
        await AssertNoConnectionsAsync(set, cancel);
    }

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task Thousand_canceled_reads_release_the_only_permit()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await StartAsync(permits: 1, cancel);
        await CancelReadsAsync(set.Client, new Random(20260106), cancel);
        // If the only permit were lost, no read could succeed.
        await AssertReadableAsync(set, cancel);
        await AssertNoConnectionsAsync(set, cancel);
    }

    private static async Task<MockedServer> StartAsync(int permits, CancellationToken cancel)
    {
        var settings = new Dictionary<string, string>
        {
            ["SLUICE_CONFIG__USENET__MAX_DOWNLOAD_CONNECTIONS"] = $"{permits}",
            // The shortest idle time after which the server itself closes connections.
            ["SLUICE_CONFIG__USENET__IDLE_CONNECTION_TIMEOUT_SECONDS"] = "15",
        };
        var provider = new MockProvider { Latency = TimeSpan.FromMilliseconds(10) };
        var set = await MockedServer.StartAsync(new MockOptions { Providers = [provider] }, settings, cancel);
        await Film.PublishAsync(set.Client, cancel);
        return set;
    }

    private static async Task CancelReadsAsync(SluiceClient client, Random random, CancellationToken cancel)
    {
        for (var read = 0; read < Reads; read += Viewers)
        {
            var viewers = Enumerable.Range(0, Viewers).Select(_ =>
            {
                var offset = random.NextInt64(Film.Size);
                return random.Next(2) == 0
                    ? LeaveAfterFirstByteAsync(client, offset, cancel)
                    : LeaveWhileWaitingAsync(client, offset, TimeSpan.FromMilliseconds(random.Next(30)), cancel);
            });
            await Task.WhenAll(viewers);
        }
    }

    private static async Task LeaveAfterFirstByteAsync(SluiceClient client, long offset, CancellationToken cancel)
    {
        using var answer = await client.OpenAsync(Film.Path, offset, null, cancel);
        await using var body = await answer.Content.ReadAsStreamAsync(cancel);
        await body.ReadAtLeastAsync(new byte[1024], 1, throwOnEndOfStream: false, cancel);
    }

    private static async Task LeaveWhileWaitingAsync(SluiceClient client, long offset, TimeSpan patience, CancellationToken cancel)
    {
        using var leave = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        leave.CancelAfter(patience);
        try
        {
            using var answer = await client.OpenAsync(Film.Path, offset, null, leave.Token);
        }
        catch (OperationCanceledException) when (!cancel.IsCancellationRequested)
        {
            // The client left before the headers arrived.
        }
    }

    private static Task AssertReadableAsync(MockedServer set, CancellationToken cancel) =>
        Task.WhenAll(Enumerable.Range(0, Viewers).Select(async viewer =>
        {
            var from = viewer * (Film.Size / Viewers);
            Film.AssertEqual(from, await set.Client.GetRangeAsync(Film.Path, from, from + 5_000_000, Film.Size, cancel));
        }));

    private static async Task AssertNoConnectionsAsync(MockedServer set, CancellationToken cancel)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(TimeSpan.FromSeconds(60));
        while (set.Mock.Stats.ConnectionsNow > 0)
        {
            Assert.False(limit.IsCancellationRequested, $"{set.Mock.Stats.ConnectionsNow} sockets stay open.");
            await Task.Delay(TimeSpan.FromMilliseconds(100), TimeProvider.System, cancel);
        }
    }
}
