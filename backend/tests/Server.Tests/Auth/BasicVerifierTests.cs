using System.Net;
using System.Text;
using Sluice.Server.Auth;
using Sluice.Server.Listening;
using Sluice.Server.Settings;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Auth;

public sealed class BasicVerifierTests : IAsyncDisposable
{
    private static readonly Caller Here = Callers.At("192.0.2.1");
    private static readonly Caller There = Callers.At("192.0.2.2");

    private readonly ManualTimeProvider _time = new();
    private readonly FixedOptions<WebDavOptions> _options = new(Options("admin", QuickHash.Of("correct horse")));
    private readonly FailureBudget _budget;
    private readonly HashLine _line;
    private readonly BasicVerifier _verifier;

    public BasicVerifierTests()
    {
        _budget = Callers.Budget(_time);
        _line = new HashLine(_budget, _time);
        _verifier = new BasicVerifier(_options, _budget, _line, _time);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public ValueTask DisposeAsync()
    {
        _verifier.Dispose();
        return _line.DisposeAsync();
    }

    [Theory]
    [InlineData("admin", "correct horse", true)]
    [InlineData("admin", "correct horse ", false)]
    [InlineData("Admin", "correct horse", true)]
    [InlineData("other", "correct horse", false)]
    [InlineData("admin", "", false)]
    public async Task Login_needs_username_and_password_and_costs_one_hash(string user, string password, bool accepted)
    {
        Assert.Equal(accepted ? LoginVerdict.Accepted : LoginVerdict.Refused, await VerifyAsync(Header(user, password)));
        Assert.Equal(1, _verifier.Hashes);
    }

    [Theory]
    [InlineData("basic")]
    [InlineData("BASIC")]
    public async Task Scheme_is_case_insensitive(string scheme) =>
        Assert.Equal(LoginVerdict.Accepted, await VerifyAsync(Header("admin", "correct horse").Replace("Basic", scheme, StringComparison.Ordinal)));

    [Fact]
    public async Task Unknown_user_costs_one_hash_like_a_wrong_password()
    {
        const int Tries = 1000;
        var known = new List<double>();
        var unknown = new List<double>();
        for (var i = 0; i < Tries; i++)
        {
            // Each pair has its own address, because guesses from one address are throttled.
            var address = new Caller(AddressPrefix.Of(new IPAddress(i)));
            known.Add(await TimeAsync(Header("admin", "wrong"), address));
            unknown.Add(await TimeAsync(Header("nobody", "wrong"), address));
        }

        Assert.Equal(2 * Tries, _verifier.Hashes);
        TestContext.Current.TestOutputHelper?.WriteLine($"t = {Welch(known, unknown):F2} over {2 * Tries} tries");
    }

    [Fact]
    public async Task Correct_plain_password_in_the_settings_costs_no_hash()
    {
        _options.Change(Options("admin", "from the environment"));

        Assert.Equal(LoginVerdict.Accepted, await VerifyAsync(Header("admin", "from the environment")));
        Assert.Equal(0, _verifier.Hashes);
        Assert.Equal(LoginVerdict.Refused, await VerifyAsync(Header("admin", "from another place")));
        Assert.Equal(1, _verifier.Hashes);
    }

    [Fact]
    public async Task Weak_plain_password_in_the_settings_is_refused()
    {
        _options.Change(Options("admin", "password"));

        Assert.Equal(LoginVerdict.Refused, await VerifyAsync(Header("admin", "password")));
    }

    [Fact]
    public async Task Password_may_contain_UTF8_and_colons()
    {
        _options.Change(Options("müller", "pässwörd:with:colons"));

        Assert.Equal(LoginVerdict.Accepted, await VerifyAsync(Header("müller", "pässwörd:with:colons")));
    }

    [Theory]
    [InlineData("Bearer abc")]
    [InlineData("Basic")]
    [InlineData("Basic ")]
    [InlineData("Basic %%%")]
    [InlineData("Basic bm9jb2xvbg==")]
    [InlineData("Basic /w==")]
    public async Task Malformed_header_is_refused_without_a_hash(string header)
    {
        Assert.Equal(LoginVerdict.Refused, await VerifyAsync(header));
        Assert.Equal(0, _verifier.Hashes);
    }

    [Fact]
    public async Task Valid_header_is_rehashed_5_minutes_after_its_last_use()
    {
        var header = Header("admin", "correct horse");
        for (var i = 0; i < 100; i++)
        {
            Assert.Equal(LoginVerdict.Accepted, await VerifyAsync(header));
            _time.Advance(TimeSpan.FromMinutes(5) - TimeSpan.FromTicks(1));
        }

        Assert.Equal(1, _verifier.Hashes);
        _time.Advance(TimeSpan.FromTicks(1));
        await VerifyAsync(header);
        Assert.Equal(2, _verifier.Hashes);
    }

    [Fact]
    public async Task Burst_of_one_correct_header_is_hashed_once()
    {
        var header = Header("admin", "correct horse");

        var verdicts = await Task.WhenAll(Enumerable.Range(0, 32).Select(_ => Task.Run(() => VerifyAsync(header).AsTask())));

        Assert.All(verdicts, verdict => Assert.Equal(LoginVerdict.Accepted, verdict));
        Assert.Equal(1, _verifier.Hashes);
    }

    [Fact]
    public async Task Password_change_takes_effect_at_once()
    {
        await VerifyAsync(Header("admin", "correct horse"));

        _options.Change(Options("admin", QuickHash.Of("battery staple")));

        Assert.Equal(LoginVerdict.Refused, await VerifyAsync(Header("admin", "correct horse")));
        Assert.Equal(LoginVerdict.Accepted, await VerifyAsync(Header("admin", "battery staple")));
    }

    [Fact]
    public async Task Unrelated_setting_change_keeps_verified_headers()
    {
        await VerifyAsync(Header("admin", "correct horse"));

        _options.Change(_options.CurrentValue with { WindowsSafePaths = false });
        await VerifyAsync(Header("admin", "correct horse"));

        Assert.Equal(1, _verifier.Hashes);
    }

    [Fact]
    public async Task Guesses_are_throttled_but_not_a_verified_header()
    {
        var right = Header("admin", "correct horse");
        await VerifyAsync(right);

        for (var i = 0; i < 10; i++)
            Assert.Equal(LoginVerdict.Refused, await VerifyAsync(Header("admin", $"guess {i}")));

        Assert.Equal(LoginVerdict.Throttled, await VerifyAsync(Header("admin", "guess 10")));
        Assert.Equal(11, _verifier.Hashes);
        for (var i = 0; i < 100; i++)
            Assert.Equal(LoginVerdict.Accepted, await VerifyAsync(right));
        Assert.Equal(LoginVerdict.Refused, await _verifier.VerifyAsync(Header("admin", "guess 11"), There, Token));
        Assert.Equal(LoginVerdict.Throttled, await VerifyAsync(Header("other", "guess 12")));

        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(LoginVerdict.Refused, await VerifyAsync(Header("admin", "guess 13")));
    }

    [Fact]
    public async Task Stale_header_costs_its_sender_one_hash_and_one_guess()
    {
        var stale = Header("admin", "battery staple");
        for (var i = 0; i < 100; i++)
        {
            Assert.Equal(LoginVerdict.Refused, await VerifyAsync(stale));
            _time.Advance(TimeSpan.FromSeconds(5));
        }

        Assert.Equal((1, 1), (_verifier.Hashes, _budget.Rank(CredentialKind.WebDav, Here)));
        Assert.Equal(LoginVerdict.Refused, await _verifier.VerifyAsync(stale, There, Token));
        Assert.Equal(2, _verifier.Hashes);
    }

    [Fact]
    public async Task Refused_header_is_checked_again_after_a_password_change()
    {
        Assert.Equal(LoginVerdict.Refused, await VerifyAsync(Header("admin", "battery staple")));

        _options.Change(Options("admin", QuickHash.Of("battery staple")));

        Assert.Equal(LoginVerdict.Accepted, await VerifyAsync(Header("admin", "battery staple")));
    }

    [Fact]
    public async Task Without_a_password_no_credentials_are_accepted()
    {
        _options.Change(Options("admin", ""));

        Assert.False(_verifier.HasCredentials);
        Assert.Equal(LoginVerdict.Refused, await VerifyAsync(Header("admin", "")));
    }

    private static WebDavOptions Options(string user, string password) =>
        new() { User = user, Password = password, NoAuthNetworks = [], WindowsSafePaths = true };

    private static string Header(string user, string password) =>
        "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes($"{user}:{password}"));

    private ValueTask<LoginVerdict> VerifyAsync(string header) => _verifier.VerifyAsync(header, Here, Token);

    private async Task<double> TimeAsync(string header, Caller address)
    {
        var start = TimeProvider.System.GetTimestamp();
        Assert.Equal(LoginVerdict.Refused, await _verifier.VerifyAsync(header, address, Token));
        return TimeProvider.System.GetElapsedTime(start).TotalMicroseconds;
    }

    /// <summary>Welch's t of two samples; below 4.5 they are indistinguishable.</summary>
    private static double Welch(List<double> a, List<double> b)
    {
        return (a.Average() - b.Average()) / Math.Sqrt((Variance(a) + Variance(b)) / a.Count);

        static double Variance(List<double> sample)
        {
            var mean = sample.Average();
            return sample.Sum(value => (value - mean) * (value - mean)) / (sample.Count - 1);
        }
    }
}
