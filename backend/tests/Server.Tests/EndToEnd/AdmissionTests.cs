using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>More clients than stream places: a place belongs to a stream that reads, and paused streams resume byte-exact (DAV-78).</summary>
public sealed class AdmissionTests
{
    private const int Slow = 400;
    private const int Paused = 60;

    // Larger than the buffers between the server and a client that reads nothing.
    private const int BodyBytes = 1_000_000;

    // Clients of one region share its articles, because the tests are about places and not about the speed of the machine.
    private const int Regions = 46;

    private static readonly SyntheticFilm Film = new(9, 150_000_000, 716_800);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact(Timeout = 120_000)]
    [Trait("Category", EndToEndRun.Name)]
    public async Task Reader_gets_503_while_a_stream_reads_but_not_while_it_pauses()
    {
        var settings = new Dictionary<string, string>
        {
            ["SLUICE_CONFIG__USENET__MAX_STREAMS"] = "1",
            ["SLUICE_CONFIG__USENET__STREAMING_READ_TIMEOUT_SECONDS"] = "5",
        };

        // So slow that the one stream reads during the whole test.
        await using var set = await MockedServer.StartAsync(new MockOptions { Providers = [new MockProvider { Bandwidth = 4_000_000 }] }, settings, Token);
        await Film.PublishAsync(set.Client, Token);
        using var http = From(set.Server, 2);
        using var viewer = await OpenAsync(http, 0, Film.Size);
        using var enough = new CancellationTokenSource();
        var watching = WatchAsync(viewer, enough.Token);

        using (var refused = await set.Client.OpenAsync(Film.Path, 5, null, Token))
        {
            Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
            Assert.NotNull(refused.Headers.RetryAfter);
        }

        // Once the viewer pauses, the next stream gets its place, and then the viewer waits for a place in turn.
        await enough.CancelAsync();
        await watching;
        using (var next = await OpenAsync(http, 70_000_000, BodyBytes))
            await next.ReadAsync(BodyBytes);
        await viewer.ReadAsync(5_000_000);
    }

    [Theory(Timeout = 240_000)]
    [InlineData(8)]
    [InlineData(1)]
    [Trait("Category", EndToEndRun.Measures)]
    public async Task Crowd_of_slow_clients_leaves_room_for_readers(int addresses)
    {
        // StreamPlaces makes readers wait, so none gets 503 on a slow machine.
        var settings = new Dictionary<string, string> { ["SLUICE_CONFIG__USENET__STREAMING_READ_TIMEOUT_SECONDS"] = "120" };
        await using var set = await MockedServer.StartAsync(new MockOptions(), settings, Token);
        await Film.PublishAsync(set.Client, Token);
        var clients = Enumerable.Range(0, addresses).Select(number => From(set.Server, 2 + number)).ToArray();
        using var enough = new CancellationTokenSource();
        var crowd = Enumerable.Range(0, Slow + Paused).Select(async number =>
        {
            var player = await OpenAsync(clients[number % addresses], number % Regions * 3_000_000L, BodyBytes);
            if (number < Slow)
                await TrickleAsync(player, enough.Token);
            return player;
        }).ToList();

        await Task.Delay(TimeSpan.FromSeconds(5), TimeProvider.System, Token);
        using var stranger = From(set.Server, 99);
        Tell($"{addresses} addresses: first byte of another one {await NextAsync(stranger)} ms, of theirs {await NextAsync(clients[0])} ms, "
            + $"{set.Server.ResidentBytes >> 20} MiB");

        // All of them got a place; now they read on to the end.
        await enough.CancelAsync();
        var players = await Task.WhenAll(crowd);
        await Task.WhenAll(players.Select(player => player.ReadAsync(player.Left)));
        Tell($"peak {set.Server.PeakResidentBytes >> 20} MiB");
        foreach (var player in players)
            player.Dispose();
        foreach (var client in clients)
            client.Dispose();
    }

    [Fact(Timeout = 240_000)]
    [Trait("Category", EndToEndRun.Name)]
    public async Task Hundred_streams_read_concurrently_by_default()
    {
        const int Streams = 100;
        const int Bytes = 6_000_000;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, Token);
        await Film.PublishAsync(set.Client, Token);
        using var http = From(set.Server, 2, receiveBuffer: null);
        var clock = Stopwatch.StartNew();
        await Task.WhenAll(Enumerable.Range(0, Streams).Select(async number =>
        {
            using var player = await OpenAsync(http, number * 1_400_000L, Bytes);
            await player.ReadAsync(Bytes);
        }));
        Tell($"{Streams} streams of {Bytes} bytes: {clock.ElapsedMilliseconds} ms, peak {set.Server.PeakResidentBytes >> 20} MiB");
    }

    private static void Tell(string line) => TestContext.Current.TestOutputHelper?.WriteLine(line);

    private static async Task<long> NextAsync(HttpClient http)
    {
        var clock = Stopwatch.StartNew();
        using var next = await OpenAsync(http, 145_000_000, BodyBytes);
        await next.ReadAsync(1);
        var first = clock.ElapsedMilliseconds;
        await next.ReadAsync(next.Left);
        return first;
    }

    private static async Task WatchAsync(Player player, CancellationToken enough)
    {
        while (!enough.IsCancellationRequested)
            await player.ReadAsync(50_000);
    }

    private static async Task TrickleAsync(Player player, CancellationToken enough)
    {
        while (!enough.IsCancellationRequested)
        {
            await player.ReadAsync(1);
            await Task.WhenAny(Task.Delay(TimeSpan.FromSeconds(1), TimeProvider.System, enough));
        }
    }

    private static async Task<Player> OpenAsync(HttpClient http, long offset, long length)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, Film.Path) { Headers = { Range = new RangeHeaderValue(offset, offset + length - 1) } };
        var answer = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        return new Player(answer, await answer.Content.ReadAsStreamAsync(Token), offset);
    }

    /// <summary>Returns a client with an address of its own and a small receive buffer, so that it blocks the server after kilobytes.</summary>
    private static HttpClient From(ServerProcess server, int address, int? receiveBuffer = 8 * 1024)
    {
        var handler = new SocketsHttpHandler
        {
            ConnectCallback = async (_, cancel) =>
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
                if (receiveBuffer is { } bytes)
                    socket.ReceiveBufferSize = bytes;
                socket.Bind(new IPEndPoint(new IPAddress([127, 0, 0, (byte)address]), 0));
                await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, server.Port), cancel);
                return new NetworkStream(socket, ownsSocket: true);
            },
        };
        var http = new HttpClient(handler)
        {
            BaseAddress = new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{server.Port}/")),
            Timeout = Timeout.InfiniteTimeSpan,
        };
        var login = Convert.ToBase64String(Encoding.UTF8.GetBytes($"{ServerProcess.User}:{ServerProcess.Password}"));
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", login);
        return http;
    }

    /// <summary>One answer that is read from its current offset, with every byte compared.</summary>
    private sealed class Player(HttpResponseMessage answer, Stream body, long position) : IDisposable
    {
        private readonly long _end = position + answer.Content.Headers.ContentLength!.Value;
        private long _position = position;

        public int Left => (int)(_end - _position);

        public async Task ReadAsync(int count)
        {
            var bytes = new byte[count];
            await body.ReadExactlyAsync(bytes, Token);
            Film.AssertEqual(_position, bytes);
            _position += count;
        }

        public void Dispose()
        {
            body.Dispose();
            answer.Dispose();
        }
    }
}
