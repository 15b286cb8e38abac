using System.Net.Http.Headers;
using System.Net.Sockets;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// Some players pause for longer than the real idle limits while others read a kilobyte a second (F02, gate G6): the server releases
/// their buffers, a new player starts at once, and each paused player resumes with the right bytes.
/// </summary>
public sealed class IdleLimitTests : IDisposable
{
    private const int Paused = 32;
    private const int Slow = 8;
    private const int ArticleSize = 100_000;
    private const int Stretch = 12 * ArticleSize;
    private const long Sent = (Paused + Slow) * 2L * BlockPool.BlockSize;
    private const int BeforePause = 250_000;
    private const int AfterPause = 400_000;

    // Small, so that a paused player blocks the server after kilobytes.
    private const int ReceiveBuffer = 8 * 1024;

    private static readonly StreamOptions Limits = new();
    private static readonly TimeSpan Margin = TimeSpan.FromSeconds(3);
    private static readonly SyntheticFilm Film = new(17, (Paused + Slow + 1) * Stretch, ArticleSize);

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact(Timeout = 180_000)]
    public async Task F02_Paused_players_release_memory_and_resume_correctly()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { Latency = TimeSpan.FromMilliseconds(10) }] });
        var variables = ProviderSettings.For([.. mock.Ports]);
        variables["SLUICE_CONFIG__USENET__IN_FLIGHT_ARTICLE_BUDGET_MB"] = "256";
        await using var server = await RunningServer.StartAsync(_temporary, variables);
        using (var publisher = new SluiceClient(server.Address.Port, "admin", RunningServer.Password, RunningServer.ApiKey))
            await Film.PublishAsync(publisher, Token);
        var engine = server.Services.GetRequiredService<ProviderHost>().Engine;
        using var http = Client(server);

        var goOn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var paused = await Task.WhenAll(Enumerable.Range(0, Paused).Select(i => OpenAsync(http, i)));
        var began = TimeProvider.System.GetTimestamp();
        var players = paused.Select(player => player.ReadAsync(AfterPause, goOn.Task)).ToList();
        var slow = Enumerable.Range(Paused, Slow).Select(async i =>
        {
            using var player = await OpenAsync(http, i);
            await player.TrickleAsync(enough.Token);
        }).ToList();

        // After the first limit each player may hold two segments, after the second the paused players hold none. Blocks that are being sent
        // count in addition: part of one segment for each player, in whole blocks.
        await HoldsByAsync(Limits.IdleTrim, Sent + ((Paused + Slow) * 2L * ArticleSize));
        await HoldsByAsync(Limits.IdleDrop, Sent + (Slow * 2L * ArticleSize));
        var before = mock.Stats.CommandCount("BODY");
        (await OpenAsync(http, Paused + Slow, first: 1)).Dispose();
        Assert.InRange(mock.Stats.CommandCount("BODY") - before, 1, 16);

        goOn.SetResult();
        await Task.WhenAll(players);
        await enough.CancelAsync();
        await Task.WhenAll(slow);
        Array.ForEach(paused, player => player.Dispose());
        await UntilAsync(() => engine.OpenStreams == 0 && Held(engine) == 0, () => $"{engine.OpenStreams} streams and {Held(engine)} bytes are left");

        async Task HoldsByAsync(TimeSpan limit, long bytes)
        {
            var rest = limit - TimeProvider.System.GetElapsedTime(began);
            if (rest > TimeSpan.Zero)
                await Task.Delay(rest, TimeProvider.System, Token);
            await UntilAsync(() => Held(engine) <= bytes, () => $"{Held(engine)} bytes are held {TimeProvider.System.GetElapsedTime(began)} after the pause began");
        }
    }

    /// <summary>Bytes of rented blocks without those of the cache.</summary>
    private static long Held(StreamEngine engine) => (engine.Blocks.Rented * (long)BlockPool.BlockSize) - engine.CachedBytes;

    private static async Task UntilAsync(Func<bool> condition, Func<string> seen)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            Assert.True(TimeProvider.System.GetElapsedTime(started) < 5 * Margin, seen());
            await Task.Delay(TimeSpan.FromMilliseconds(50), TimeProvider.System, Token);
        }
    }

    private static async Task<Player> OpenAsync(HttpClient http, int number, int first = BeforePause)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, Film.Path) { Headers = { Range = new RangeHeaderValue((long)number * Stretch, null) } };
        var answer = await http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Token);
        answer.EnsureSuccessStatusCode();
        var player = new Player(answer, await answer.Content.ReadAsStreamAsync(Token), (long)number * Stretch);
        await player.ReadAsync(first, Task.CompletedTask);
        return player;
    }

    private static HttpClient Client(RunningServer server)
    {
        var handler = new SocketsHttpHandler
        {
            ConnectCallback = async (context, cancel) =>
            {
                var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveBufferSize = ReceiveBuffer };
                await socket.ConnectAsync(context.DnsEndPoint, cancel);
                return new NetworkStream(socket, ownsSocket: true);
            },
        };
        var http = new HttpClient(handler) { BaseAddress = server.Address, Timeout = Timeout.InfiniteTimeSpan };
        http.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
        return http;
    }

    /// <summary>One answer that is read from its current offset.</summary>
    private sealed class Player(HttpResponseMessage answer, Stream body, long position) : IDisposable
    {
        private long _position = position;

        public async Task ReadAsync(int count, Task after)
        {
            await after;
            var bytes = new byte[count];
            await body.ReadExactlyAsync(bytes, Token);
            Film.AssertEqual(_position, bytes);
            _position += count;
        }

        public async Task TrickleAsync(CancellationToken enough)
        {
            while (!enough.IsCancellationRequested)
            {
                await ReadAsync(1024, Task.CompletedTask);
                await Task.WhenAny(Task.Delay(TimeSpan.FromSeconds(1), TimeProvider.System, enough));
            }
        }

        public void Dispose()
        {
            body.Dispose();
            answer.Dispose();
        }
    }
}
