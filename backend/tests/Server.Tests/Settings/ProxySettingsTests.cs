using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Settings;

/// <summary>Parsing of the settings for a server behind a proxy.</summary>
public sealed class ProxySettingsTests
{
    [Theory]
    [InlineData("", "")]
    [InlineData("/", "")]
    [InlineData("x", "/x")]
    [InlineData("/x/", "/x")]
    [InlineData("//x//y-1._~", "/x/y-1._~")]
    [InlineData("/x/../y", null)]
    [InlineData("/./x", null)]
    [InlineData("/x y", null)]
    [InlineData("/x?y", null)]
    [InlineData("/\u00e9", null)]
    [InlineData("http://host/x", null)]
    public void Base_path_is_normalized_or_refused(string text, string? expected) =>
        Assert.Equal(expected, SettingReader.Read(SettingsValidator.Definition("general.url-base")!, text, out _));

    [Theory]
    [InlineData("TRUST_PROXY", "true", "10.1.2.3", true)]
    [InlineData("TRUST_PROXY", "true", "127.0.0.1", true)]
    [InlineData("TRUST_PROXY", "true", "192.0.2.1", false)]
    [InlineData("TRUST_PROXY", "false", "127.0.0.1", true)]
    [InlineData("TRUST_PROXY", "false", "10.1.2.3", false)]
    [InlineData("TRUSTED_PROXY_CIDRS", "192.0.2.0/24", "192.0.2.1", true)]
    [InlineData("TRUSTED_PROXY_CIDRS", "192.0.2.0/24", "127.0.0.1", false)]
    [InlineData("OTHER", "", "127.0.0.1", true)]
    [InlineData("OTHER", "", "::1", true)]
    public void Proxy_variables_set_the_trusted_networks(string variable, string value, string address, bool isTrusted)
    {
        var resolver = new SettingsResolver(SettingSchema.All, new ProcessEnvironment(new Dictionary<string, string> { [variable] = value }));
        var general = GeneralOptions.Read(resolver.Resolve(new Dictionary<string, string>()));

        Assert.Equal(isTrusted, general.TrustedProxies.Any(network => network.Contains(System.Net.IPAddress.Parse(address))));
    }
}
