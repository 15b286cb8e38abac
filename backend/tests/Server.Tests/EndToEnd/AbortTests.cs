using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Streams.Memory;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// Players that leave at any moment, by a reset or in order, leave no stream, command, block or socket behind (F26, DAV-74). The server
/// runs inside the test, which can therefore count its internal resources.
/// </summary>
public sealed class AbortTests : IDisposable
{
    private const int Viewers = 8;

    // Only the long run asserts this time; the short run checks counts alone.
    private static readonly TimeSpan Bar = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(1);
    private static readonly SyntheticFilm Film = new(13, 400_000_000, 300_000);

    private readonly TemporaryFolder _temporary = new();
    private readonly OpenConnections _connections = new();
    private readonly string _credentials = RunningServer.Basic("admin", RunningServer.Password).ToString();

    public void Dispose()
    {
        _connections.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    public async Task Five_thousand_aborts_leak_no_stream_block_or_socket()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var mock = await StartMockAsync();
        await using var server = await StartAsync(mock, cancel);
        await AbortAsync(server, 5_000, cancel);
        await AssertFreeAsync(server, mock, Patience, cancel);
    }

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public async Task Twenty_thousand_aborts_leak_nothing_and_end_within_300_ms()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var mock = await StartMockAsync();
        await using var server = await StartAsync(mock, cancel);
        await AbortAsync(server, 18_000, cancel);
        await AssertFreeAsync(server, mock, Bar, cancel);

        var times = new List<TimeSpan>();
        for (var seed = 0; seed < 2_000; seed++)
        {
            await LeaveAsync(server, new Random(seed), cancel);
            var left = Stopwatch.GetTimestamp();
            await AssertFreeAsync(server, mock, Bar, cancel);
            times.Add(Stopwatch.GetElapsedTime(left));
        }

        times.Sort();
        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"free after an abort: median {times[1_000].TotalMilliseconds:F0} ms, p99 {times[1_980].TotalMilliseconds:F0} ms, worst {times[^1].TotalMilliseconds:F0} ms"));
        Assert.InRange(times[1_980], TimeSpan.Zero, TimeSpan.FromMilliseconds(300));
    }

    private static Task<MockServer> StartMockAsync() =>
        MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(10) }] });

    private async Task<RunningServer> StartAsync(MockServer mock, CancellationToken cancel)
    {
        var server = await RunningServer.StartAsync(_temporary, ProviderSettings.For([.. mock.Ports]));
        try
        {
            using var client = new SluiceClient(server.Address.Port, "admin", RunningServer.Password, RunningServer.ApiKey);
            await Film.PublishAsync(client, cancel);
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    private async Task AbortAsync(RunningServer server, int aborts, CancellationToken cancel)
    {
        var next = 0;
        await Task.WhenAll(Enumerable.Range(0, Viewers).Select(_ => Task.Run(
            async () =>
            {
                for (var seed = Interlocked.Increment(ref next); seed <= aborts; seed = Interlocked.Increment(ref next))
                    await LeaveAsync(server, new Random(seed), cancel);
            },
            cancel)));
    }

    /// <summary>Sends a request, reads some of the answer or nothing, and disconnects by a reset or in order.</summary>
    private async Task LeaveAsync(RunningServer server, Random random, CancellationToken cancel)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveBufferSize = 64 * 1024 };
        await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, server.Address.Port), cancel);
        var from = random.NextInt64(Film.Size);
        var range = random.Next(4) switch
        {
            0 => "X-Range: none",
            1 => $"Range: bytes={from}-{from + (1L << random.Next(24))}",
            2 => $"Range: bytes={from}-{from + 1000},{from / 2}-{(from / 2) + 1_000_000}",
            _ => $"Range: bytes={from}-",
        };
        var request = $"GET /{Film.Path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: {_credentials}\r\n{range}\r\n\r\n";
        // One request in sixteen is cut short.
        await socket.SendAsync(Encoding.ASCII.GetBytes(random.Next(16) == 0 ? request[..random.Next(request.Length)] : request), cancel);
        await ReadAsync(socket, wanted: random.Next(4) switch { 0 => 0, 1 => 1, 2 => 50_000, _ => random.Next(2_000_000) }, cancel);
        if (random.Next(2) == 0)
            socket.LingerState = new LingerOption(true, 0);
    }

    private static async Task ReadAsync(Socket socket, int wanted, CancellationToken cancel)
    {
        // The server never answers a request that was cut short, so the wait has a limit.
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        patience.CancelAfter(TimeSpan.FromMilliseconds(200));
        var buffer = new byte[32 * 1024];
        try
        {
            while (wanted > 0 && await socket.ReceiveAsync(buffer, patience.Token) is > 0 and var read)
                wanted -= read;
        }
        catch (OperationCanceledException) when (!cancel.IsCancellationRequested)
        {
            // The player leaves while it waits.
        }
    }

    private async Task AssertFreeAsync(RunningServer server, MockServer mock, TimeSpan patience, CancellationToken cancel)
    {
        var engine = server.Services.GetRequiredService<ProviderHost>().Engine;
        var started = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var blocks = engine.Blocks.Rented - (engine.CachedBytes / BlockPool.BlockSize);
            var (streams, commands, sockets) = (engine.OpenStreams, mock.Stats.Waiting, _connections.Count(server.Address.Port));
            if ((blocks, streams, commands, sockets) == (0, 0, 0, 0))
                return;
            Assert.True(
                TimeProvider.System.GetElapsedTime(started) < patience,
                $"{streams} streams, {blocks} blocks, {commands} commands and {sockets} sockets are left.");
            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }
}
