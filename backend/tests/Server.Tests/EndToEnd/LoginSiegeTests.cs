using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// Response times of a browser and a WebDAV client during an attack by 400 guessers and polls with a stale key, before and after a restart.
/// Only measured here: <see cref="Auth.HashLineTests"/> and <see cref="Startup.LoginGuesserTests"/> assert the order of the hashes.
/// </summary>
[Collection(EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Lengthy)]
public sealed class LoginSiegeTests
{
    private const int Guessers = 400;
    private const string Home = "192.0.2.77";
    private const string Admin = "correct-horse-of-the-house";

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan Longest = TimeSpan.FromMinutes(8);

    private long _guesses;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Known_clients_are_answered_despite_400_guessers(bool proxied)
    {
        using var folder = new ScratchFolder();
        // Without a trusted proxy each loopback address counts as a client of its own; with one, the proxy passes the client's address.
        var settings = new Dictionary<string, string>
        {
            ["SLUICE_ADMIN_PASSWORD"] = Admin,
            ["SLUICE_CONFIG__GENERAL__TRUSTED_PROXIES"] = proxied ? "127.0.0.1" : "192.0.2.1",
        };
        string browser;
        await using (var server = await ServerProcess.StartAsync(folder.File("data"), settings, Token))
        {
            using var home = Client(server, proxied, Home, "127.0.0.100");
            browser = (await LogInAsync(home, Admin, null)).Browser!;
            Assert.Equal(200, await ReadAsync(home, ServerProcess.Password));
            await BesiegeAsync(server, proxied, async () =>
            {
                await MeasureAsync("known browser", async () => (await LogInAsync(home, Admin, browser)).Status, 200);
                await MeasureAsync("known WebDAV client", () => ReadAsync(home, ServerProcess.Password), 200);
            });
        }

        await using (var server = await ServerProcess.StartAsync(folder.File("data"), settings, Token))
        {
            using var home = Client(server, proxied, Home, "127.0.0.100");
            await BesiegeAsync(server, proxied, async () =>
            {
                await MeasureAsync("after a restart, browser", async () => (await LogInAsync(home, Admin, browser)).Status, 200);
                await MeasureAsync("after a restart, WebDAV client", () => ReadAsync(home, ServerProcess.Password), 200);
                using var stranger = Client(server, proxied, "192.0.2.78", "127.0.0.101");
                await ArriveAsync("new browser", async () => (await LogInAsync(stranger, Admin, null)).Status, proxied);
                await ArriveAsync("new WebDAV client", () => ReadAsync(stranger, ServerProcess.Password), proxied);
            });
        }
    }

    private static async Task MeasureAsync(string what, Func<Task<int>> ask, int expected)
    {
        var start = Stopwatch.GetTimestamp();
        var status = await ask();
        Write($"{what}: {status} after {Stopwatch.GetElapsedTime(start).TotalMilliseconds:F0} ms");
        Assert.Equal(expected, status);
    }

    /// <summary>Repeats a request until it succeeds; behind the proxy of the guessers one answer is enough.</summary>
    private static async Task ArriveAsync(string what, Func<Task<int>> ask, bool proxied)
    {
        var (start, slowest, tries) = (Stopwatch.GetTimestamp(), TimeSpan.Zero, 0);
        while (true)
        {
            var asked = Stopwatch.GetTimestamp();
            var status = await ask();
            tries++;
            slowest = Stopwatch.GetElapsedTime(asked) is var took && took > slowest ? took : slowest;
            Assert.True(status is 200 or 429, $"{what}: {status}");
            if (status == 200 || proxied)
            {
                Write($"{what}: {status} at try {tries} after {Stopwatch.GetElapsedTime(start).TotalSeconds:F1} s, slowest answer {slowest.TotalMilliseconds:F0} ms");
                return;
            }

            Assert.True(Stopwatch.GetElapsedTime(start) < Longest, what);
            await Task.Delay(Pause, TimeProvider.System, Token);
        }
    }

    private static void Write(string line) => TestContext.Current.TestOutputHelper?.WriteLine(line);

    private async Task BesiegeAsync(ServerProcess server, bool proxied, Func<Task> measure)
    {
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        Interlocked.Exchange(ref _guesses, 0);
        var siege = Enumerable.Range(0, Guessers).Select(i => GuessAsync(server, proxied, i, enough.Token)).Append(PollAsync(server, proxied, enough.Token)).ToList();
        while (Interlocked.Read(ref _guesses) < Guessers)
            await Task.Delay(Pause, TimeProvider.System, Token);
        await measure();
        await enough.CancelAsync();
        await Task.WhenAll(siege);
        Write($"beside {Interlocked.Read(ref _guesses)} guesses");
    }

    /// <summary>Guesses passwords of the web UI and of WebDAV in turn.</summary>
    private async Task GuessAsync(ServerProcess server, bool proxied, int guesser, CancellationToken enough)
    {
        var address = string.Create(CultureInfo.InvariantCulture, $"{guesser >> 7}.{(guesser & 127) + 1}");
        using var http = Client(server, proxied, $"198.18.{address}", $"127.1.{address}");
        try
        {
            for (var i = 0; !enough.IsCancellationRequested; i++)
            {
                var status = (i + guesser) % 2 == 0 ? (await LogInAsync(http, $"guess {i}", null, enough)).Status : await ReadAsync(http, $"guess {i}", enough);
                Interlocked.Increment(ref _guesses);
                if (status == 429)
                    await Task.Delay(Pause, TimeProvider.System, enough);
            }
        }
        catch (OperationCanceledException)
        {
        }
    }

    /// <summary>Polls from the home network with an outdated key.</summary>
    private static async Task PollAsync(ServerProcess server, bool proxied, CancellationToken enough)
    {
        using var http = Client(server, proxied, Home, "127.0.0.100");
        try
        {
            while (!enough.IsCancellationRequested)
            {
                using var answer = await http.GetAsync(new Uri("api?mode=queue&apikey=stale", UriKind.Relative), enough);
                Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
                await Task.Delay(Pause, TimeProvider.System, enough);
            }
        }
        catch (OperationCanceledException)
        {
        }
    }

    private static async Task<(int Status, string? Browser)> LogInAsync(HttpClient http, string password, string? browser, CancellationToken? cancel = null)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "api/session")
        {
            Content = new StringContent($$"""{"user":"admin","password":"{{password}}"}""", Encoding.UTF8, "application/json"),
        };
        if (browser is not null)
            request.Headers.Add("Cookie", browser);
        using var answer = await http.SendAsync(request, cancel ?? Token);
        var cookie = answer.Headers.TryGetValues("Set-Cookie", out var set) ? set.Single(text => text.StartsWith("sluice-device-", StringComparison.Ordinal)) : null;
        return ((int)answer.StatusCode, cookie?.Split(';')[0]);
    }

    private static async Task<int> ReadAsync(HttpClient http, string password, CancellationToken? cancel = null)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "README");
        request.Headers.Authorization = Startup.RunningServer.Basic(ServerProcess.User, password);
        using var answer = await http.SendAsync(request, cancel ?? Token);
        return (int)answer.StatusCode;
    }

    private static HttpClient Client(ServerProcess server, bool proxied, string named, string address)
    {
        var handler = new SocketsHttpHandler
        {
            UseCookies = false,
            ConnectCallback = async (_, cancel) =>
            {
                var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                socket.Bind(new IPEndPoint(IPAddress.Parse(proxied ? "127.0.0.1" : address), 0));
                await socket.ConnectAsync("127.0.0.1", server.Port, cancel);
                return new NetworkStream(socket, ownsSocket: true);
            },
        };
        var http = new HttpClient(handler) { BaseAddress = new Uri(string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{server.Port}/")) };
        if (proxied)
            http.DefaultRequestHeaders.Add("X-Forwarded-For", named);
        return http;
    }
}
