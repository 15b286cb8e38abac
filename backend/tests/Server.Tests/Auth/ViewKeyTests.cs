using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Auth;
using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Auth;

public sealed class ViewKeyTests
{
    private const string ApiKey = "0123456789abcdef0123456789abcdef";
    private const string StrmKey = "fedcba9876543210fedcba9876543210";
    private const string StaticKey = "one-key-for-everything";
    private const string Film = "content/tv/Rel/a.mkv";
    private const string ById = ".ids/0/1/2/3/4/01234567-0000-4000-8000-000000000000";
    private static readonly Caller Here = Callers.At("192.0.2.1");

    private readonly SteppedTime _time = new();

    [Fact]
    public void Key_is_the_hmac_of_the_path()
    {
        // printf %s content/tv/Rel/a.mkv | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
        Assert.Equal("61e117595e3f7bd20ec9245fc2d8375e93be30702a41b044845c3facec127536", ViewKey.Sign(ApiKey, Film, null));
        Assert.Equal("1c84b2ad1682820ccbb3af67d53e1e507a124d0e8f24ed306058c3e03d1667af", ViewKey.Sign(ApiKey, Film, "4102444800"));
    }

    [Theory]
    [InlineData(Film, ApiKey, nameof(ViewVerdict.Accepted))]
    [InlineData(Film, StrmKey, nameof(ViewVerdict.Incorrect))]
    [InlineData(Film, "", nameof(ViewVerdict.Incorrect))]
    [InlineData(ById, ApiKey, nameof(ViewVerdict.Accepted))]
    [InlineData(ById, StrmKey, nameof(ViewVerdict.Accepted))]
    [InlineData(ById, "another", nameof(ViewVerdict.Incorrect))]
    public void Each_kind_of_path_accepts_its_own_secrets(string path, string secret, string expected) =>
        Assert.Equal(expected, Keys().Verify(path, ViewKey.Sign(secret, path, null), null, Here).ToString());

    [Fact]
    public void Key_opens_its_own_path_and_no_other()
    {
        var keys = Keys();
        var key = ViewKey.Sign(ApiKey, Film, null);

        Assert.Equal(ViewVerdict.Incorrect, keys.Verify("content/tv/Rel/b.mkv", key, null, Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify("/" + Film, key, null, Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(Film, key, "4102444800", Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(Film, key.ToUpperInvariant(), null, Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(Film, key[..^1], null, Here));
        Assert.Equal(ViewVerdict.Missing, keys.Verify(Film, null, null, Here));
        Assert.Equal(ViewVerdict.Missing, keys.Verify(Film, "", null, Here));
    }

    [Fact]
    public void Key_with_an_expiry_expires_on_time()
    {
        var keys = Keys();
        var expires = (_time.GetUtcNow().ToUnixTimeSeconds() + 60).ToString(System.Globalization.CultureInfo.InvariantCulture);
        var key = ViewKey.Sign(ApiKey, Film, expires);

        Assert.Equal(ViewVerdict.Accepted, keys.Verify(Film, key, expires, Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(Film, key, "9" + expires, Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(Film, key, null, Here));
        _time.Advance(TimeSpan.FromSeconds(60));
        Assert.Equal(ViewVerdict.Expired, keys.Verify(Film, key, expires, Here));
    }

    [Theory]
    [InlineData("")]
    [InlineData("-1")]
    [InlineData("1e9")]
    [InlineData("99999999999999999999")]
    public void Invalid_expiry_is_refused(string expires) =>
        Assert.Equal(ViewVerdict.Incorrect, Keys().Verify(Film, ViewKey.Sign(ApiKey, Film, expires), expires, Here));

    [Fact]
    public void Legacy_key_opens_only_id_paths_without_expiry()
    {
        var keys = Keys();

        Assert.Equal(ViewVerdict.Accepted, keys.Verify(ById, Older(ById, ApiKey), null, Here));
        Assert.Equal(ViewVerdict.Accepted, keys.Verify(ById, Older(ById, StrmKey), null, Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(ById, Older(ById, ApiKey), "4102444800", Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(Film, Older(Film, ApiKey), null, Here));
    }

    [Fact]
    public void Static_key_opens_every_path_if_configured()
    {
        Assert.Equal(ViewVerdict.Accepted, Keys(StaticKey).Verify(Film, StaticKey, null, Here));
        Assert.Equal(ViewVerdict.Accepted, Keys(StaticKey).Verify(ById, StaticKey, null, Here));
        Assert.Equal(ViewVerdict.Incorrect, Keys(StaticKey).Verify(Film, StaticKey + "x", null, Here));
        Assert.Equal(ViewVerdict.Incorrect, Keys().Verify(Film, StaticKey, null, Here));
    }

    [Fact]
    public void Without_configured_secrets_nothing_is_accepted()
    {
        var keys = new ViewKey(Api("", ""), WebDav(""), Callers.Budget(_time), _time);

        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(ById, ViewKey.Sign("", ById, null), null, Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(ById, Older(ById, ""), null, Here));
    }

    [Fact]
    public void Wrong_keys_are_throttled_but_never_the_right_one()
    {
        var keys = Keys();
        for (var i = 0; i < 10; i++)
            Assert.Equal(ViewVerdict.Incorrect, keys.Verify(Film, $"wrong {i}", null, Here));

        Assert.Equal(ViewVerdict.Throttled, keys.Verify(Film, "wrong", null, Here));
        Assert.Equal(ViewVerdict.Accepted, keys.Verify(Film, ViewKey.Sign(ApiKey, Film, null), null, Here));
        Assert.Equal(ViewVerdict.Incorrect, keys.Verify(Film, "wrong", null, Callers.At("127.0.0.1")));
    }

    private static string Older(string path, string secret) =>
        Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes($"{path}_{secret}")));

    private static FixedOptions<ApiOptions> Api(string key, string strmKey) => new(new ApiOptions
    {
        Key = key,
        StrmKey = strmKey,
        Categories = [],
        ManualCategory = "x",
        IgnoreHistoryLimit = true,
        HistoryMaxPageSize = 60,
        FailDuplicates = false,
    });

    private static FixedOptions<WebDavOptions> WebDav(string staticKey) => new(new WebDavOptions
    {
        User = "u",
        Password = "p",
        NoAuthNetworks = [],
        WindowsSafePaths = true,
        StaticDownloadKey = staticKey,
    });

    private ViewKey Keys(string staticKey = "") => new(Api(ApiKey, StrmKey), WebDav(staticKey), Callers.Budget(_time), _time);
}
