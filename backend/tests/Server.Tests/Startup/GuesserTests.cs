using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Sluice.Server.Auth;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>The cost of wrong passwords, keys and links for their senders and for all other clients, over HTTP (DAV-31, DAV-32, DAV-83, S2).</summary>
public sealed class GuesserTests : IDisposable
{
    private const string Known = "192.0.2.77";

    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Guesses_with_different_users_share_an_address_budget()
    {
        await using var server = await StartAsync();

        var answers = new List<int>();
        for (var i = 0; i < 25; i++)
            answers.Add(await AskAsync(server, "192.0.2.1", $"user{i}", "guess"));

        Assert.Equal([.. Enumerable.Repeat(401, 10), .. Enumerable.Repeat(429, 15)], answers);
        Assert.Equal(401, await AskAsync(server, "192.0.2.2", "admin", "guess"));
    }

    [Fact]
    public async Task IPv6_addresses_of_one_64_prefix_share_a_budget()
    {
        await using var server = await StartAsync();

        var answers = new List<int>();
        for (var i = 0; i < 25; i++)
            answers.Add(await AskAsync(server, string.Create(CultureInfo.InvariantCulture, $"2001:db8:1:2:{i + 1:x}::{i + 1:x}"), "admin", $"guess {i}"));

        Assert.Equal([.. Enumerable.Repeat(401, 10), .. Enumerable.Repeat(429, 15)], answers);
        Assert.Equal(401, await AskAsync(server, "2001:db8:1:3::1", "admin", "guess"));
    }

    [Fact]
    public async Task IPv4_mapped_and_plain_address_share_a_budget()
    {
        await using var server = await StartAsync();

        for (var i = 0; i < 10; i++)
            Assert.Equal(401, await AskAsync(server, i % 2 == 0 ? "192.0.2.1" : "::ffff:192.0.2.1", "admin", $"guess {i}"));

        Assert.Equal(429, await AskAsync(server, "192.0.2.1", "admin", "guess"));
        Assert.Equal(429, await AskAsync(server, "::ffff:192.0.2.1", "admin", "guess"));
    }

    [Fact]
    public async Task Proxy_forwarding_forged_addresses_has_its_own_budget()
    {
        await using var server = await StartAsync();
        Assert.Equal(200, await AskAsync(server, Known, "admin", RunningServer.Password));

        for (var i = 0; i < 300; i++)
            Assert.Equal(401, await AskAsync(server, Forged(i), "admin", $"guess {i}"));

        for (var i = 300; i < 330; i++)
            Assert.Equal(429, await AskAsync(server, Forged(i), "admin", $"guess {i}"));
        Assert.Equal(301, Hashes(server));
        Assert.Equal(200, await AskAsync(server, Known, "admin", RunningServer.Password));
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(401, await AskAsync(server, Forged(331), "admin", "guess"));
    }

    [Theory]
    [InlineData(6)]
    [InlineData(23 * 60)]
    public async Task Recent_login_still_works_from_a_guessing_address(int minutes)
    {
        await using var server = await StartAsync();
        Assert.Equal(200, await AskAsync(server, "192.0.2.1", "admin", RunningServer.Password));
        _time.Advance(TimeSpan.FromMinutes(minutes));
        for (var i = 0; i < 10; i++)
            Assert.Equal(401, await AskAsync(server, "192.0.2.1", "admin", $"guess {i}"));
        Assert.Equal(429, await AskAsync(server, "192.0.2.1", "admin", "guess"));

        Assert.Equal(200, await AskAsync(server, "192.0.2.1", "admin", RunningServer.Password));

        // The header was hashed again, so the server did not trust it by itself.
        Assert.Equal(12, Hashes(server));
        Assert.Equal(429, await AskAsync(server, "192.0.2.1", "admin", "guess"));
    }

    [Fact]
    public async Task Client_absent_for_a_day_is_throttled_like_a_new_one()
    {
        await using var server = await StartAsync();
        Assert.Equal(200, await AskAsync(server, "192.0.2.1", "admin", RunningServer.Password));
        _time.Advance(TimeSpan.FromHours(24));
        for (var i = 0; i < 10; i++)
            Assert.Equal(401, await AskAsync(server, "192.0.2.1", "admin", $"guess {i}"));

        Assert.Equal(429, await AskAsync(server, "192.0.2.1", "admin", RunningServer.Password));
    }

    [Fact]
    public async Task Keys_links_and_passwords_have_separate_budgets()
    {
        await using var server = await StartAsync();
        for (var i = 0; i < 10; i++)
            Assert.Equal(403, await GetAsync(server, "192.0.2.1", $"api?mode=queue&apikey=wrong{i}"));
        for (var i = 0; i < 10; i++)
            Assert.Equal(401, await GetAsync(server, "192.0.2.1", $"view/content/a?downloadKey={i}x"));
        for (var i = 0; i < 10; i++)
            Assert.Equal(401, await AskAsync(server, "192.0.2.1", "admin", $"guess {i}"));

        Assert.Equal(429, await AskAsync(server, "192.0.2.1", "admin", "guess"));
        Assert.Equal(429, await GetAsync(server, "192.0.2.1", "api?mode=queue&apikey=wrong"));
        Assert.Equal(429, await GetAsync(server, "192.0.2.1", "view/content/a?downloadKey=0"));
        Assert.Equal(200, await GetAsync(server, "192.0.2.1", $"api?mode=queue&apikey={RunningServer.ApiKey}"));
        Assert.Equal(403, await GetAsync(server, "192.0.2.2", "api?mode=queue&apikey=wrong"));
    }

    [Fact]
    public async Task Repeated_stale_key_gets_403_and_locks_nobody_out()
    {
        await using var server = await StartAsync();

        for (var i = 0; i < 100; i++)
            Assert.Equal(403, await GetAsync(server, "192.0.2.1", "api?mode=queue&apikey=stale"));

        Assert.Equal(403, await GetAsync(server, "192.0.2.1", "api?mode=queue&apikey=other"));
        Assert.Equal(200, await AskAsync(server, "192.0.2.1", "admin", RunningServer.Password));
    }

    [Fact]
    public async Task Known_address_passes_a_throttled_proxy_after_a_restart()
    {
        await using (var first = await StartAsync())
            Assert.Equal(200, await AskAsync(first, Known, "admin", RunningServer.Password));
        await using var server = await StartAsync();
        for (var i = 0; i < 300; i++)
            Assert.Equal(401, await AskAsync(server, Forged(i), "admin", $"guess {i}"));
        Assert.Equal(429, await AskAsync(server, Forged(300), "admin", RunningServer.Password));

        // The known address uses its own budget for guesses.
        for (var i = 0; i < 9; i++)
            Assert.Equal(401, await AskAsync(server, Known, "admin", $"guess {i}"));
        Assert.Equal(200, await AskAsync(server, Known, "admin", RunningServer.Password));
        Assert.Equal(401, await AskAsync(server, Known, "admin", "guess 9"));
        Assert.Equal(429, await AskAsync(server, Known, "admin", "guess 10"));
    }

    [Theory]
    [InlineData(30, 200)]
    [InlineData(31, 429)]
    public async Task Known_address_is_remembered_for_thirty_days(int days, int expected)
    {
        await using (var first = await StartAsync())
            Assert.Equal(200, await AskAsync(first, Known, "admin", RunningServer.Password));
        _time.Advance(TimeSpan.FromDays(days) - TimeSpan.FromSeconds(1));
        await using var server = await StartAsync();
        for (var i = 0; i < 300; i++)
            Assert.Equal(401, await AskAsync(server, Forged(i), "admin", $"guess {i}"));

        Assert.Equal(expected, await AskAsync(server, Known, "admin", RunningServer.Password));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(64)]
    public async Task Known_client_waits_for_at_most_2_hashes_after_a_restart(int addresses)
    {
        var password = FullCost();
        await using (var first = await StartAsync(password))
            Assert.Equal(200, await AskAsync(first, Known, "admin", RunningServer.Password));
        await using var server = await StartAsync(password);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var guessers = Task.WhenAll(Enumerable.Range(0, 64).Select(i => GuessOnAsync(server, i, i % addresses, enough.Token)));
        await PassHashesAsync(server, 2);

        var before = Waited(server);
        Assert.Equal(200, await AskAsync(server, Known, "admin", RunningServer.Password));
        var waited = Waited(server) - before;

        await enough.CancelAsync();
        await guessers;
        // The hash in progress began before, so only this login's own begins while it waits.
        Assert.Equal(1, waited);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(64)]
    public async Task Uncached_valid_header_waits_for_at_most_two_hashes(int addresses)
    {
        // A password hash of full cost, so 64 of them in sequence take many seconds.
        await using var server = await StartAsync(FullCost());
        Assert.Equal(200, await AskAsync(server, Known, "admin", RunningServer.Password));
        _time.Advance(TimeSpan.FromMinutes(6));
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var guessers = Task.WhenAll(Enumerable.Range(0, 64).Select(i => GuessOnAsync(server, i, i % addresses, enough.Token)));
        await PassHashesAsync(server, 2);

        var before = Waited(server);
        Assert.Equal(200, await AskAsync(server, Known, "admin", RunningServer.Password));
        var waited = Waited(server) - before;

        await enough.CancelAsync();
        await guessers;
        // The hash in progress began before, so only this header's own begins while it waits.
        Assert.Equal(1, waited);
    }

    [Fact]
    public async Task Guess_burst_from_one_address_does_not_delay_newcomers()
    {
        await using var server = await StartAsync(FullCost());
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var guessers = Task.WhenAll(Enumerable.Range(0, 64).Select(i => GuessOnAsync(server, i, 0, enough.Token)));
        await PassHashesAsync(server, 1);

        var before = Waited(server);
        Assert.Equal(200, await AskAsync(server, Known, "admin", RunningServer.Password));
        var waited = Waited(server) - before;

        await enough.CancelAsync();
        await guessers;
        // At most one guess of the burst waits already.
        Assert.InRange(waited, 1, 2);
    }

    [Fact]
    public async Task Password_with_a_control_character_is_refused_unhashed()
    {
        await using var server = await StartAsync();

        foreach (var suffix in new[] { "\0", "\0\0", "\u0001", "\u007f", "\n" })
            Assert.Equal(401, await AskAsync(server, Known, "admin", RunningServer.Password + suffix));
        Assert.Equal(401, await AskAsync(server, Known, "admin\0", RunningServer.Password));
        Assert.Equal(0, Hashes(server));
    }

    /// <summary>The password as stored in the settings, because checking one in plain text would cost no hash.</summary>
    private static Dictionary<string, string> FullCost() =>
        new() { ["SLUICE_CONFIG__WEBDAV__PASS"] = PasswordHash.Create(ChosenPassword.Judge(RunningServer.Password)!).ToString() };

    private static string Forged(int i) => string.Create(CultureInfo.InvariantCulture, $"198.18.{i >> 8}.{i & 255}");

    private static long Hashes(RunningServer server) => server.Services.GetRequiredService<BasicVerifier>().Hashes;

    /// <summary>Hashes begun while correct passwords were waiting, as the queue counts them, because clients read their answers later.</summary>
    private static long Waited(RunningServer server) => server.Services.GetRequiredService<HashLine>().Waited;

    private static async Task PassHashesAsync(RunningServer server, int count)
    {
        var goal = Hashes(server) + count;
        while (Hashes(server) < goal)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }

    private static async Task GuessOnAsync(RunningServer server, int guesser, int address, CancellationToken enough)
    {
        try
        {
            for (var i = 0; !enough.IsCancellationRequested; i++)
            {
                if (await AskAsync(server, Forged(address), $"user{guesser}", $"guess {i}", enough) == 429)
                    await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, enough);
            }
        }
        catch (OperationCanceledException)
        {
            // The test has canceled the guesses.
        }
    }

    private static async Task<int> AskAsync(RunningServer server, string from, string user, string password, CancellationToken? cancel = null)
    {
        using var request = new HttpRequestMessage(HttpMethod.Head, "README");
        request.Headers.Authorization = RunningServer.Basic(user, password);
        request.Headers.Add("X-Forwarded-For", from);
        using var answer = await server.Client.SendAsync(request, cancel ?? Token);
        return (int)answer.StatusCode;
    }

    private static async Task<int> GetAsync(RunningServer server, string from, string path)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        request.Headers.Add("X-Forwarded-For", from);
        using var answer = await server.Client.SendAsync(request, Token);
        return (int)answer.StatusCode;
    }

    private Task<RunningServer> StartAsync(Dictionary<string, string>? variables = null) =>
        RunningServer.StartAsync(_temporary, variables, null, services => services.Replace(ServiceDescriptor.Singleton<TimeProvider>(_time)));
}
