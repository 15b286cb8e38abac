using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Clients without credentials cost hardly any memory and hardly delay clients with credentials (S2, S26).</summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Measures)]
public sealed class StrangerTests
{
    private const int Connections = 40;
    private const int Bodies = 480;
    private const int LongestBody = 64 << 10;
    private const int SentBytes = 16 << 20;
    private const long MemoryAllowance = 40L << 20;
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Siege = TimeSpan.FromSeconds(10);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("fields")]
    [InlineData("one field")]
    [InlineData("form")]
    [InlineData("preamble")]
    [InlineData("headers of parts")]
    [InlineData("chunk extensions")]
    [InlineData("to the tree")]
    public async Task Forty_unauthenticated_connections_take_at_most_40_MiB(string what)
    {
        using var folder = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(folder.File("data"), null, Token);
        await WarmUpAsync(server);
        var idle = server.ResidentBytes;
        var sockets = new List<Socket>();
        try
        {
            for (var i = 0; i < Connections; i++)
                sockets.Add(await ConnectAsync(server, "127.0.0.1"));
            await Task.WhenAll(sockets.Select(socket => SendAsync(socket, what)));
            var held = server.ResidentBytes;

            TestContext.Current.TestOutputHelper?.WriteLine($"{what}: idle {idle >> 20} MiB, held {held >> 20} MiB, peak {server.PeakResidentBytes >> 20} MiB");
            Assert.InRange(held - idle, long.MinValue, MemoryAllowance);
            Assert.InRange(server.PeakResidentBytes - idle, long.MinValue, MemoryAllowance);
        }
        finally
        {
            sockets.ForEach(socket => socket.Dispose());
        }
    }

    [Theory]
    [InlineData("/api/session", "application/json", "{\"user\":\"")]
    [InlineData("/api/setup", "application/json", "{\"code\":\"")]
    [InlineData("/api", "application/x-www-form-urlencoded", "a=")]
    [InlineData("/api", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"name\"; filename=\"a.nzb\"\r\n\r\n")]
    public async Task Unauthenticated_bodies_at_the_limit_take_at_most_40_MiB(string path, string type, string start)
    {
        using var folder = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(folder.File("data"), null, Token);
        await WarmUpAsync(server);
        var body = Encoding.ASCII.GetBytes(start.PadRight(LongestBody, 'x'));
        var head = Encoding.ASCII.GetBytes($"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {type}\r\nContent-Length: {LongestBody}\r\nConnection: close\r\n\r\n");
        // The first request compiles the code of this path, which is not memory used by strangers.
        using (var first = await ConnectAsync(server, "127.0.0.1"))
        {
            await BeginAsync(first);
            await EndAsync(first);
        }

        var sockets = new List<Socket>();
        try
        {
            var idle = server.ResidentBytes;
            for (var i = 0; i < Bodies; i++)
                sockets.Add(await ConnectAsync(server, "127.0.0.1"));
            await Task.WhenAll(sockets.Select(BeginAsync));
            var held = server.ResidentBytes;
            await Task.WhenAll(sockets.Select(EndAsync));

            TestContext.Current.TestOutputHelper?.WriteLine($"{path} {type}: idle {idle >> 20} MiB, held {held >> 20} MiB, peak {server.PeakResidentBytes >> 20} MiB");
            Assert.InRange(server.PeakResidentBytes - idle, long.MinValue, MemoryAllowance);
        }
        finally
        {
            sockets.ForEach(socket => socket.Dispose());
        }

        async Task BeginAsync(Socket socket)
        {
            await socket.SendAsync(head, Token);
            await socket.SendAsync(body.AsMemory(0, LongestBody - 1), Token);
        }

        // The answer to the last byte shows that the server has read all bytes before it.
        async Task EndAsync(Socket socket)
        {
            await socket.SendAsync(body.AsMemory(LongestBody - 1), Token);
            while (await socket.ReceiveAsync(new byte[1024], Token) > 0)
            {
            }
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(64)]
    public async Task Known_client_is_answered_in_a_second_despite_64_guessers(int addresses)
    {
        using var folder = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(folder.File("data"), null, Token);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        using var known = Client(server, "127.0.0.100", ServerProcess.User, ServerProcess.Password);
        using (var first = await known.GetAsync(new Uri("README", UriKind.Relative), Token))
            Assert.Equal(HttpStatusCode.OK, first.StatusCode);
        var guesses = Enumerable.Range(0, 64).Select(i => GuessAsync(server, i, i % addresses, enough.Token)).ToList();

        var clock = Stopwatch.StartNew();
        var worst = TimeSpan.Zero;
        var answers = 0;
        while (clock.Elapsed < Siege)
        {
            var asked = Stopwatch.GetTimestamp();
            using var answer = await known.GetAsync(new Uri("README", UriKind.Relative), Token);
            var took = Stopwatch.GetElapsedTime(asked);
            Assert.True(answer.IsSuccessStatusCode, $"{(int)answer.StatusCode} after {clock.Elapsed}");
            worst = took > worst ? took : worst;
            answers++;
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        }

        await enough.CancelAsync();
        var sent = (await Task.WhenAll(guesses)).Sum();
        TestContext.Current.TestOutputHelper?.WriteLine($"{addresses} addresses: {answers} answers beside {sent} guesses, the slowest in {worst.TotalMilliseconds:F0} ms");
        Assert.InRange(worst, TimeSpan.Zero, LongestWait);
    }

    /// <summary>Sends the first request of each kind, because the memory for compiled code is not a cost of strangers.</summary>
    private static async Task WarmUpAsync(ServerProcess server)
    {
        using var client = new SluiceClient(server);
        await client.GetAsync("README", Token);
        using var http = new HttpClient { BaseAddress = new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{server.Port}/")) };
        using var fields = new MultipartFormDataContent { { new StringContent("x"), "mode" } };
        using var first = await http.PostAsync(new Uri("api", UriKind.Relative), fields, Token);
        using var form = new FormUrlEncodedContent([new("mode", "queue")]);
        using var second = await http.PostAsync(new Uri("api", UriKind.Relative), form, Token);
    }

    private static async Task<Socket> ConnectAsync(ServerProcess server, string from)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Parse(from), 0));
        await socket.ConnectAsync("127.0.0.1", server.Port, Token);
        return socket;
    }

    private static async Task SendAsync(Socket socket, string what)
    {
        var (path, type, piece) = what switch
        {
            "fields" => ("/api", "multipart/form-data; boundary=x", Part("a", 65_000)),
            "one field" => ("/api", "multipart/form-data; boundary=x", Part("a", SentBytes)),
            "form" => ("/api", "application/x-www-form-urlencoded", "a=" + new string('b', 65_000) + "&"),
            "preamble" => ("/api", "multipart/form-data; boundary=x", new string('p', 65_000)),
            "headers of parts" => ("/api", "multipart/form-data; boundary=x", $"--x\r\nContent-Disposition: form-data; name=\"a\"\r\nX: {new string('h', 15_000)}\r\n\r\n1\r\n"),
            "chunk extensions" => ("/api", "multipart/form-data; boundary=x", ""),
            _ => ("/nzbs/movies/a.nzb", "application/x-nzb", new string('n', 65_000)),
        };
        var chunked = what == "chunk extensions";
        var length = chunked ? "Transfer-Encoding: chunked" : $"Content-Length: {2 * SentBytes}";
        var verb = path == "/api" ? "POST" : "PUT";
        var body = chunked ? $"1;{new string('e', 65_000)}\r\na\r\n" : piece;
        try
        {
            await socket.SendAsync(Encoding.ASCII.GetBytes($"{verb} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {type}\r\n{length}\r\n\r\n"), Token);
            using var stall = CancellationTokenSource.CreateLinkedTokenSource(Token);
            var bytes = Encoding.ASCII.GetBytes(body);
            for (var sent = 0; sent < SentBytes; sent += bytes.Length)
            {
                // A server that stops reading has practically refused.
                stall.CancelAfter(TimeSpan.FromSeconds(5));
                await socket.SendAsync(bytes, stall.Token);
            }
        }
        catch (Exception e) when (e is SocketException || (e is OperationCanceledException && !Token.IsCancellationRequested))
        {
            // The server refused while the client was sending.
        }
    }

    private static string Part(string name, int length) => $"--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{new string('v', length)}\r\n";

    private static async Task<int> GuessAsync(ServerProcess server, int guesser, int address, CancellationToken enough)
    {
        using var http = Client(server, string.Create(CultureInfo.InvariantCulture, $"127.0.1.{address + 1}"), null, "");
        var sent = 0;
        try
        {
            for (; !enough.IsCancellationRequested; sent++)
            {
                using var request = new HttpRequestMessage(HttpMethod.Get, "README");
                request.Headers.Authorization = Startup.RunningServer.Basic($"user{guesser}", $"guess {sent}");
                using var answer = await http.SendAsync(request, enough);
                Assert.True(answer.StatusCode is HttpStatusCode.Unauthorized or HttpStatusCode.TooManyRequests);
            }
        }
        catch (OperationCanceledException)
        {
        }

        return sent;
    }

    private static HttpClient Client(ServerProcess server, string from, string? user, string password)
    {
        var handler = new SocketsHttpHandler
        {
            ConnectCallback = async (_, _) => new NetworkStream(await ConnectAsync(server, from), ownsSocket: true),
        };
        var http = new HttpClient(handler) { BaseAddress = new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{server.Port}/")) };
        if (user is not null)
            http.DefaultRequestHeaders.Authorization = Startup.RunningServer.Basic(user, password);
        return http;
    }
}
