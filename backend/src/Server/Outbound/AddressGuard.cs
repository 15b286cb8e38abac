using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Outbound;

/// <summary>
/// Decides which URLs from outside may be fetched (S10): public addresses at the usual indexer ports, and hosts trusted by the administrator at any port. A
/// host is checked twice: by name, and by address when connecting. Thread-safe. Does not resolve names.
/// </summary>
internal sealed class AddressGuard(IOptionsMonitor<ApiOptions> options)
{
    /// <summary>Maximum URL length, as in common web servers.</summary>
    public const int MaxLength = 8 << 10;

    private const string NotPublic = "the address is not public; add its host to the trusted hosts";

    // Ports of web servers, Jackett and similar tools, which may also be reachable under public names.
    private static readonly int[] PublicPorts = [80, 443, 8080, 8443, 9117];

    // From the IANA special-purpose registries, plus the multicast and reserved ranges.
    private static readonly IPNetwork[] NotPublic4 =
    [
        .. ((string[])
        [
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
            "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        ]).Select(IPNetwork.Parse),
    ];

    // Ranges without ordinary hosts, which contain, for example, the metadata services of cloud providers.
    private static readonly IPNetwork[] NoHostRanges =
    [
        .. ((string[])["0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/128", "fe80::/10", "ff00::/8"]).Select(IPNetwork.Parse),
    ];

    private static readonly IPNetwork Public6 = IPNetwork.Parse("2000::/3");

    // Special ranges inside 2000::/3: protocol assignments including Teredo, and documentation.
    private static readonly IPNetwork[] NotPublic6 = [.. ((string[])["2001::/23", "2001:db8::/32", "3fff::/20"]).Select(IPNetwork.Parse)];

    // Ranges that embed an IPv4 address at a byte offset: NAT64 (RFC 6052) and 6to4 (RFC 3056).
    private static readonly (IPNetwork Network, int At)[] Embedding = [(IPNetwork.Parse("64:ff9b::/96"), 12), (IPNetwork.Parse("2002::/16"), 2)];

    /// <summary>Returns why a URL must not be fetched, judging only by its text; null if it may be fetched.</summary>
    public string? Refuse(Uri url)
    {
        if (!url.IsAbsoluteUri || (url.Scheme != Uri.UriSchemeHttp && url.Scheme != Uri.UriSchemeHttps))
            return "only http and https are fetched";
        if (url.UserInfo.Length > 0)
            return "it holds a username or a password";
        if (url.OriginalString.Length > MaxLength)
            return string.Create(CultureInfo.InvariantCulture, $"it is longer than {MaxLength} characters");
        if (IsLiteral(url.IdnHost, out var address))
            return Refuse(url.IdnHost, address, url.Port);
        return Trusts(url.IdnHost) || IsOfPublicPort(url.Port) || Networks().Any() ? null : PortRefused(url.Port);
    }

    /// <summary>Returns why a connection to a host's address is refused; null if it is allowed.</summary>
    public string? Refuse(string host, IPAddress address, int port)
    {
        if (Trusts(host) || Networks().Any(network => network.Contains(Plain(address))))
            return null;
        if (!IsPublic(address))
            return NotPublic;
        return IsOfPublicPort(port) ? null : PortRefused(port);
    }

    /// <summary>
    /// Returns why a connection to a host configured by the administrator is refused; null if it is allowed. Allows private networks and all ports, because
    /// such programs run in home networks.
    /// </summary>
    public static string? RefuseConfigured(IPAddress address)
    {
        address = Plain(address);
        foreach (var (network, at) in Embedding)
        {
            if (network.Contains(address))
                return RefuseConfigured(new IPAddress(address.GetAddressBytes().AsSpan(at, 4)));
        }

        return NoHostRanges.Any(network => network.Contains(address)) ? "no program of a network has such an address" : null;
    }

    public static bool IsPublic(IPAddress address)
    {
        address = Plain(address);
        if (address.AddressFamily == AddressFamily.InterNetwork)
            return !NotPublic4.Any(network => network.Contains(address));
        foreach (var (network, at) in Embedding)
        {
            if (network.Contains(address))
                return IsPublic(new IPAddress(address.GetAddressBytes().AsSpan(at, 4)));
        }

        return Public6.Contains(address) && !NotPublic6.Any(network => network.Contains(address));
    }

    private bool Trusts(string host)
    {
        var name = host.TrimEnd('.');
        return options.CurrentValue.TrustedHosts.Any(trusted => trusted == "*" || trusted.Equals(name, StringComparison.OrdinalIgnoreCase));
    }

    private IEnumerable<IPNetwork> Networks() => options.CurrentValue.TrustedHosts.Select(SettingReader.ReadNetwork).OfType<IPNetwork>();

    private static bool IsOfPublicPort(int port) => PublicPorts.Contains(port);

    private static string PortRefused(int port) => string.Create(CultureInfo.InvariantCulture, $"port {port} is not allowed; add its host to the trusted hosts");

    private static bool IsLiteral(string host, out IPAddress address) => IPAddress.TryParse(host, out address!);

    /// <summary>Unmaps IPv4-mapped addresses. Drops the zone of a link-local address, because the zone does not affect the checks.</summary>
    private static IPAddress Plain(IPAddress address) => address.IsIPv4MappedToIPv6
        ? address.MapToIPv4()
        : address.AddressFamily == AddressFamily.InterNetworkV6 && address.ScopeId != 0 ? new IPAddress(address.GetAddressBytes()) : address;
}

/// <summary>An address must not be fetched. The message may be shown to users and contains no address.</summary>
internal sealed class AddressRefusedException(string reason) : Exception(reason)
{
    /// <summary>Whether the refusal concerns a redirect, which no setting can allow.</summary>
    public bool IsRedirect { get; init; }
}
