using System.Net;
using Sluice.Server.Outbound;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Xunit;

namespace Sluice.Server.Tests.Outbound;

/// <summary>Addresses that may be requested (S10).</summary>
public sealed class AddressGuardTests
{
    private const string NotPublic = "the address is not public; add its host to the trusted hosts";
    private const string Scheme = "only http and https are fetched";
    private const string User = "it holds a username or a password";

    [Theory]
    // Public addresses.
    [InlineData("8.8.8.8", true)]
    [InlineData("1.1.1.1", true)]
    [InlineData("9.255.255.255", true)]
    [InlineData("11.0.0.0", true)]
    [InlineData("100.63.255.255", true)]
    [InlineData("100.128.0.0", true)]
    [InlineData("172.15.255.255", true)]
    [InlineData("172.32.0.0", true)]
    [InlineData("192.167.255.255", true)]
    [InlineData("192.169.0.0", true)]
    [InlineData("198.17.255.255", true)]
    [InlineData("198.20.0.0", true)]
    [InlineData("223.255.255.255", true)]
    [InlineData("2606:4700::1111", true)]
    [InlineData("2a00:1450:4001:800::200e", true)]
    // Loopback, private, link-local, shared, test, documentation, multicast and reserved addresses.
    [InlineData("0.0.0.0", false)]
    [InlineData("0.1.2.3", false)]
    [InlineData("10.0.0.1", false)]
    [InlineData("10.255.255.255", false)]
    [InlineData("100.64.0.1", false)]
    [InlineData("127.0.0.1", false)]
    [InlineData("127.255.255.254", false)]
    [InlineData("169.254.169.254", false)]
    [InlineData("172.16.0.1", false)]
    [InlineData("172.31.255.255", false)]
    [InlineData("192.0.0.8", false)]
    [InlineData("192.0.2.1", false)]
    [InlineData("192.88.99.1", false)]
    [InlineData("192.168.1.1", false)]
    [InlineData("198.18.0.1", false)]
    [InlineData("198.19.255.255", false)]
    [InlineData("198.51.100.1", false)]
    [InlineData("203.0.113.1", false)]
    [InlineData("224.0.0.1", false)]
    [InlineData("239.255.255.255", false)]
    [InlineData("240.0.0.1", false)]
    [InlineData("255.255.255.255", false)]
    [InlineData("::", false)]
    [InlineData("::1", false)]
    [InlineData("fe80::1", false)]
    [InlineData("fe80::1%1", false)]
    [InlineData("fec0::1", false)]
    [InlineData("fc00::1", false)]
    [InlineData("fd12:3456::1", false)]
    [InlineData("ff02::1", false)]
    [InlineData("100::1", false)]
    [InlineData("2001:db8::1", false)]
    [InlineData("3fff::1", false)]
    // Addresses that embed other addresses.
    [InlineData("::ffff:8.8.8.8", true)]
    [InlineData("::ffff:127.0.0.1", false)]
    [InlineData("::ffff:192.168.1.1", false)]
    [InlineData("::127.0.0.1", false)]
    [InlineData("64:ff9b::8.8.8.8", true)]
    [InlineData("64:ff9b::10.0.0.1", false)]
    [InlineData("64:ff9b::a9fe:a9fe", false)]
    [InlineData("64:ff9b:1::1", false)]
    [InlineData("2002:0808:0808::1", true)]
    [InlineData("2002:7f00:0001::1", false)]
    [InlineData("2002:c0a8:0101::1", false)]
    [InlineData("2001:0:4136:e378:8000:63bf:3fff:fdd2", false)]
    public void Address_is_classified_as_public_or_not(string address, bool isPublic) =>
        Assert.Equal(isPublic, AddressGuard.IsPublic(IPAddress.Parse(address)));

    [Theory]
    [InlineData("http://indexer.example/x.nzb", null)]
    [InlineData("https://indexer.example:8443/x", null)]
    [InlineData("http://indexer.example:9117/x", null)]
    [InlineData("http://8.8.8.8/x", null)]
    [InlineData("http://[2606:4700::1111]:8080/x", null)]
    [InlineData("ftp://indexer.example/x", Scheme)]
    [InlineData("file:///etc/passwd", Scheme)]
    [InlineData("/etc/passwd", Scheme)]
    [InlineData("gopher://127.0.0.1/x", Scheme)]
    [InlineData("http://user:pw@indexer.example/x", User)]
    [InlineData("http://user@8.8.8.8/x", User)]
    [InlineData("http://127.0.0.1/x", NotPublic)]
    [InlineData("http://127.1/x", NotPublic)]
    [InlineData("http://2130706433/x", NotPublic)]
    [InlineData("http://0x7f000001/x", NotPublic)]
    [InlineData("http://0177.0.0.1/x", NotPublic)]
    [InlineData("http://[::1]/x", NotPublic)]
    [InlineData("http://[::ffff:10.0.0.1]/x", NotPublic)]
    [InlineData("http://169.254.169.254/latest/meta-data", NotPublic)]
    [InlineData("http://8.8.8.8:22/x", "port 22 is not allowed; add its host to the trusted hosts")]
    [InlineData("http://indexer.example:6379/x", "port 6379 is not allowed; add its host to the trusted hosts")]
    public void URL_with_a_bad_scheme_user_address_or_port_is_refused(string url, string? reason) =>
        Assert.Equal(reason, Guard().Refuse(new Uri(url, UriKind.Absolute)));

    [Theory]
    [InlineData("prowlarr", "http://prowlarr:9696/1/download", "prowlarr", "172.18.0.5", 9696, true)]
    [InlineData("prowlarr", "http://PROWLARR.:9696/1/download", "PROWLARR.", "172.18.0.5", 9696, true)]
    [InlineData("prowlarr", "http://prowlarr.example:9696/x", "prowlarr.example", "172.18.0.5", 9696, false)]
    [InlineData("192.168.1.0/24", "http://192.168.1.7:9696/x", "192.168.1.7", "192.168.1.7", 9696, true)]
    [InlineData("192.168.1.0/24", "http://nas:9696/x", "nas", "192.168.1.7", 9696, true)]
    [InlineData("192.168.1.0/24", "http://nas:9696/x", "nas", "192.168.2.7", 9696, false)]
    [InlineData("192.168.1.0/24", "http://indexer.example:9696/x", "indexer.example", "8.8.8.8", 9696, false)]
    [InlineData("192.168.1.7", "http://192.168.1.7:9696/x", "192.168.1.7", "::ffff:192.168.1.7", 9696, true)]
    [InlineData("fd00::/8", "http://[fd00::5]:9696/x", "fd00::5", "fd00::5", 9696, true)]
    [InlineData("*", "http://localhost:1/x", "localhost", "127.0.0.1", 1, true)]
    public void Trusted_host_may_have_any_address_and_port(string trusted, string url, string host, string address, int port, bool isAllowed)
    {
        var guard = Guard(trusted);

        Assert.Equal(isAllowed, guard.Refuse(new Uri(url)) is null && guard.Refuse(host, IPAddress.Parse(address), port) is null);
    }

    [Fact]
    public void Resolved_address_is_checked_not_the_host_name()
    {
        var guard = Guard();

        Assert.Null(guard.Refuse(new Uri("http://rebound.example/x")));
        Assert.Equal(NotPublic, guard.Refuse("rebound.example", IPAddress.Parse("127.0.0.1"), 80));
        Assert.Null(guard.Refuse("rebound.example", IPAddress.Parse("8.8.8.8"), 80));
    }

    [Fact]
    public void URL_above_8192_characters_is_refused()
    {
        var start = "http://indexer.example/";

        Assert.Null(Guard().Refuse(new Uri(start + new string('x', AddressGuard.MaxLength - start.Length))));
        Assert.Equal("it is longer than 8192 characters", Guard().Refuse(new Uri(start + new string('x', AddressGuard.MaxLength - start.Length + 1))));
    }

    private static AddressGuard Guard(params string[] trusted) => new(new FixedOptions<ApiOptions>(new ApiOptions
    {
        Key = "",
        Categories = [],
        ManualCategory = "",
        IgnoreHistoryLimit = true,
        HistoryMaxPageSize = 1,
        FailDuplicates = false,
        TrustedHosts = trusted,
    }));
}
