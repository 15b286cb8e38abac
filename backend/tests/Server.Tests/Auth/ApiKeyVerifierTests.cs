using Sluice.Server.Auth;
using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Auth;

public sealed class ApiKeyVerifierTests
{
    private const string Key = "0123456789abcdef0123456789abcdef";
    private static readonly Caller Here = Callers.At("192.0.2.1");

    private readonly SteppedTime _time = new();

    [Theory]
    [InlineData(null, nameof(ApiKeyVerdict.Missing))]
    [InlineData("", nameof(ApiKeyVerdict.Missing))]
    [InlineData(Key, nameof(ApiKeyVerdict.Accepted))]
    [InlineData(Key + "0", nameof(ApiKeyVerdict.Incorrect))]
    [InlineData("0123456789ABCDEF0123456789ABCDEF", nameof(ApiKeyVerdict.Incorrect))]
    public void Only_the_exact_key_is_accepted(string? key, string expected) => Assert.Equal(expected, Verifier(Key).Verify(key, Here).ToString());

    [Theory]
    [InlineData("")]
    [InlineData("x")]
    public void Without_a_configured_key_nothing_is_accepted(string key) => Assert.NotEqual(ApiKeyVerdict.Accepted, Verifier("").Verify(key, Here));

    [Fact]
    public void Wrong_keys_are_throttled_but_never_the_right_one()
    {
        var verifier = Verifier(Key);
        for (var i = 0; i < 10; i++)
            Assert.Equal(ApiKeyVerdict.Incorrect, verifier.Verify($"wrong {i}", Here));

        Assert.Equal(ApiKeyVerdict.Throttled, verifier.Verify("wrong", Here));
        Assert.Equal(ApiKeyVerdict.Accepted, verifier.Verify(Key, Here));
        Assert.Equal(ApiKeyVerdict.Incorrect, verifier.Verify("wrong", Callers.At("127.0.0.1")));
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(ApiKeyVerdict.Incorrect, verifier.Verify("wrong", Here));
    }

    [Fact]
    public void Repeated_stale_key_counts_as_one_guess()
    {
        var budget = Callers.Budget(_time);
        var verifier = Verifier(Key, budget);

        for (var i = 0; i < 1000; i++)
            Assert.Equal(ApiKeyVerdict.Incorrect, verifier.Verify("stale", Here));

        Assert.Equal(1, budget.Rank(CredentialKind.ApiKey, Here));
    }

    private ApiKeyVerifier Verifier(string key, FailureBudget? budget = null) => new(
        new FixedOptions<ApiOptions>(new ApiOptions
        {
            Key = key,
            Categories = [],
            ManualCategory = "x",
            IgnoreHistoryLimit = true,
            HistoryMaxPageSize = 60,
            FailDuplicates = false,
        }),
        budget ?? Callers.Budget(_time));
}
