using System.Globalization;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Sluice.Server.Auth;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>The administrator's login during a guessing attack: order of hashes and budgets, over HTTP and after a restart (S2, S5).</summary>
public sealed class LoginGuesserTests : IDisposable
{
    private const string Home = "192.0.2.77";
    private const string Secret = RunningServer.Password;

    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _time = new();
    private readonly HttpClient _http = new(new SocketsHttpHandler { UseCookies = false });

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _http.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    public async Task Repeated_stale_login_costs_one_hash_and_no_lockout()
    {
        await using var server = await StartAsync();

        for (var i = 0; i < 100; i++)
            Assert.Equal(401, (await LogInAsync(server, Home, "stale")).Status);

        Assert.Equal(1, Hashes(server));
        Assert.Equal(200, (await LogInAsync(server, Home, Secret)).Status);
    }

    [Fact]
    public async Task Wrong_API_keys_do_not_block_logins_from_their_address()
    {
        await using var server = await StartAsync();
        for (var i = 0; i < 20; i++)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(server.Address, $"/api?mode=queue&apikey=wrong{i}"));
            request.Headers.Add("X-Forwarded-For", Home);
            using var answer = await _http.SendAsync(request, Token);
        }

        Assert.Equal(200, (await LogInAsync(server, Home, Secret)).Status);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Known_browser_logs_in_despite_a_throttled_address(bool restarts)
    {
        var server = await StartAsync();
        try
        {
            var (status, browser) = await LogInAsync(server, Home, Secret);
            Assert.Equal(200, status);
            if (restarts)
            {
                await server.DisposeAsync();
                server = await StartAsync();
            }

            for (var i = 0; i < 10; i++)
                Assert.Equal(401, (await LogInAsync(server, Home, $"guess {i}")).Status);

            Assert.Equal(429, (await LogInAsync(server, Home, Secret)).Status);
            Assert.Equal(429, (await LogInAsync(server, Home, Secret, "sluice-device-00000000=made-up")).Status);
            Assert.Equal((200, browser), await LogInAsync(server, Home, Secret, browser));
        }
        finally
        {
            await server.DisposeAsync();
        }
    }

    [Fact]
    public async Task Known_browser_logs_in_despite_a_throttled_proxy()
    {
        await using var server = await StartAsync();
        var (_, browser) = await LogInAsync(server, Home, Secret);
        for (var i = 0; i < 300; i++)
            Assert.Equal(401, (await LogInAsync(server, Forged(i), $"guess {i}")).Status);

        Assert.Equal(429, (await LogInAsync(server, Forged(300), Secret)).Status);
        Assert.Equal(200, (await LogInAsync(server, Forged(301), Secret, browser)).Status);
    }

    [Fact]
    public async Task Known_browser_has_its_own_guess_budget()
    {
        await using var server = await StartAsync();
        var (_, browser) = await LogInAsync(server, Home, Secret);
        for (var i = 0; i < 10; i++)
            Assert.Equal(401, (await LogInAsync(server, Home, $"guess {i}", browser)).Status);

        Assert.Equal(429, (await LogInAsync(server, Home, Secret, browser)).Status);
        Assert.Equal(429, (await LogInAsync(server, Forged(1), Secret, browser)).Status);
        Assert.Equal(200, (await LogInAsync(server, Home, Secret)).Status);
    }

    [Fact]
    public async Task Browser_cookie_is_stored_hashed_and_grants_no_access()
    {
        await using var server = await StartAsync();
        var (_, browser) = await LogInAsync(server, Home, Secret);

        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(server.Address, "/api/session"));
        request.Headers.Add("Cookie", browser);
        using var answer = await _http.SendAsync(request, Token);

        Assert.Equal(401, (int)answer.StatusCode);
        var stored = new StringBuilder();
        foreach (var path in Directory.GetFiles(_temporary.Root, "sluice.db*"))
        {
            await using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
            using var reader = new StreamReader(file, Encoding.Latin1);
            stored.Append(await reader.ReadToEndAsync(Token));
        }

        var secret = browser!.Split('=')[1];
        Assert.Contains(KnownSenders.HashOf(secret), stored.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain(secret, stored.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(64, false)]
    [InlineData(64, true)]
    public async Task Known_browser_waits_for_at_most_two_hashes(int addresses, bool restarts)
    {
        // A password hash of full cost, so 64 of them in sequence take many seconds.
        var server = await StartAsync(Secret);
        try
        {
            var (_, browser) = await LogInAsync(server, Home, Secret);
            if (restarts)
            {
                await server.DisposeAsync();
                server = await StartAsync(Secret);
            }

            using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
            var guessers = Task.WhenAll(Enumerable.Range(0, 64).Select(i => GuessOnAsync(server, i, i % addresses, enough.Token)));
            var goal = Hashes(server) + 2;
            while (Hashes(server) < goal)
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);

            var before = Hashes(server);
            Assert.Equal(200, (await LogInAsync(server, Home, Secret, browser)).Status);
            var waited = Hashes(server) - before;

            await enough.CancelAsync();
            await guessers;
            // The hash in progress was counted before. After that comes this login's own, and possibly one that starts before its response is sent.
            Assert.InRange(waited, 1, 2);
        }
        finally
        {
            await server.DisposeAsync();
        }
    }

    [Fact]
    public async Task Second_login_from_one_address_gets_429_with_retry_after()
    {
        await using var server = await StartAsync(Secret);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var first = LogInAsync(server, Home, "first guess", null, enough.Token);
        while (Hashes(server) == 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);

        // Each sender may have one login in progress, so the second one is rejected at once.
        using var request = Login(server, Home, "second guess", null);
        using var answer = await _http.SendAsync(request, Token);

        Assert.Equal((429, "5"), ((int)answer.StatusCode, answer.Headers.GetValues("Retry-After").Single()));
        Assert.Contains("Too many others are logging in", await answer.Content.ReadAsStringAsync(Token), StringComparison.Ordinal);
        Assert.Equal(401, (await first).Status);
    }

    private static string Forged(int i) => string.Create(CultureInfo.InvariantCulture, $"198.18.{i >> 8}.{i & 255}");

    private static long Hashes(RunningServer server) => server.Services.GetRequiredService<AdminPassword>().Hashes;

    private static HttpRequestMessage Login(RunningServer server, string from, string password, string? cookie)
    {
        var request = new HttpRequestMessage(HttpMethod.Post, new Uri(server.Address, "/api/session"))
        {
            Content = new StringContent($$"""{"user":"admin","password":"{{password}}"}""", Encoding.UTF8, "application/json"),
        };
        request.Headers.Add("X-Forwarded-For", from);
        if (cookie is not null)
            request.Headers.Add("Cookie", cookie);
        return request;
    }

    private async Task GuessOnAsync(RunningServer server, int guesser, int address, CancellationToken enough)
    {
        try
        {
            for (var i = 0; !enough.IsCancellationRequested; i++)
            {
                if ((await LogInAsync(server, Forged(address), $"guess {guesser} {i}", null, enough)).Status == 429)
                    await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, enough);
            }
        }
        catch (OperationCanceledException)
        {
            // The test has canceled the guesses.
        }
    }

    /// <summary>Logs in and returns the status and the cookie that identifies the browser.</summary>
    private async Task<(int Status, string? Browser)> LogInAsync(RunningServer server, string from, string password, string? cookie = null, CancellationToken? cancel = null)
    {
        using var request = Login(server, from, password, cookie);
        using var answer = await _http.SendAsync(request, cancel ?? Token);
        var browser = answer.Headers.TryGetValues("Set-Cookie", out var set)
            ? set.Single(text => text.StartsWith("sluice-device-", StringComparison.Ordinal)).Split(';')[0]
            : null;
        return ((int)answer.StatusCode, browser);
    }

    private Task<RunningServer> StartAsync(string? password = null) => RunningServer.StartAsync(
        _temporary,
        new() { ["SLUICE_ADMIN_PASSWORD"] = password ?? QuickHash.Of(Secret) },
        null,
        services => services.Replace(ServiceDescriptor.Singleton<TimeProvider>(_time)));
}
