using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Outbound;

/// <summary>
/// Decides which addresses that come from outside may be asked for (S10): public ones at the ports of indexers, and what the
/// administrator trusts at any port. A name is judged twice, as it is written and by the addresses that it has when a connection is made.
/// </summary>
/// <remarks>Thread-safe. Asks for no name itself.</remarks>
internal sealed class AddressGuard(IOptionsMonitor<ApiOptions> options)
{
    /// <summary>Longest address that is kept: what web servers take.</summary>
    public const int MaxLength = 8 << 10;

    private const string NotPublic = "the address is not public; add its host to the trusted hosts";

    // The ports of web servers, and of Jackett and its kind, which are also reached over names of the public network.
    private static readonly int[] PublicPorts = [80, 443, 8080, 8443, 9117];

    // The IANA registries of special-purpose addresses, multicast and what is reserved.
    private static readonly IPNetwork[] NotPublic4 =
    [
        .. ((string[])
        [
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
            "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        ]).Select(IPNetwork.Parse),
    ];

    // No host of a network has one, or only the machine itself and what manages it: the metadata of clouds among them.
    private static readonly IPNetwork[] Nowhere =
    [
        .. ((string[])["0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/128", "fe80::/10", "ff00::/8"]).Select(IPNetwork.Parse),
    ];

    private static readonly IPNetwork Public6 = IPNetwork.Parse("2000::/3");

    // Inside of what is public: protocols with Teredo among them, documentation.
    private static readonly IPNetwork[] NotPublic6 = [.. ((string[])["2001::/23", "2001:db8::/32", "3fff::/20"]).Select(IPNetwork.Parse)];

    // Addresses that stand for one of IPv4, and where in them it is: NAT64 (RFC 6052) and 6to4 (RFC 3056).
    private static readonly (IPNetwork Network, int At)[] Embedding = [(IPNetwork.Parse("64:ff9b::/96"), 12), (IPNetwork.Parse("2002::/16"), 2)];

    /// <summary>Why an address must not be asked for, as far as it tells by itself; null when it may be tried.</summary>
    public string? Refuse(Uri url)
    {
        if (!url.IsAbsoluteUri || (url.Scheme != Uri.UriSchemeHttp && url.Scheme != Uri.UriSchemeHttps))
            return "only http and https are fetched";
        if (url.UserInfo.Length > 0)
            return "it holds a user name or a password";
        if (url.OriginalString.Length > MaxLength)
            return string.Create(CultureInfo.InvariantCulture, $"it is longer than {MaxLength} characters");
        if (IsLiteral(url.IdnHost, out var address))
            return Refuse(url.IdnHost, address, url.Port);
        return Trusts(url.IdnHost) || IsOfPublicPort(url.Port) || Networks().Any() ? null : PortRefused(url.Port);
    }

    /// <summary>Why no connection must be made to an address that a host has; null when it may be made.</summary>
    /// <param name="host">As it stands in the URL.</param>
    /// <param name="address">One of its addresses, or itself.</param>
    /// <param name="port">The port.</param>
    public string? Refuse(string host, IPAddress address, int port)
    {
        if (Trusts(host) || Networks().Any(network => network.Contains(Plain(address))))
            return null;
        if (!IsPublic(address))
            return NotPublic;
        return IsOfPublicPort(port) ? null : PortRefused(port);
    }

    /// <summary>
    /// Why no connection must be made to an address of a host that the administrator has named as a program of the household; null when it
    /// may be made. Those stand in networks of their own, and at any port.
    /// </summary>
    public static string? RefuseNamed(IPAddress address)
    {
        address = Plain(address);
        foreach (var (network, at) in Embedding)
        {
            if (network.Contains(address))
                return RefuseNamed(new IPAddress(address.GetAddressBytes().AsSpan(at, 4)));
        }

        return Nowhere.Any(network => network.Contains(address)) ? "no program of a network has such an address" : null;
    }

    /// <summary>Whether an address belongs to a host of the public network.</summary>
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

    /// <summary>The address of IPv4 that one of IPv6 only maps; the zone of a link says nothing about it.</summary>
    private static IPAddress Plain(IPAddress address) => address.IsIPv4MappedToIPv6
        ? address.MapToIPv4()
        : address.AddressFamily == AddressFamily.InterNetworkV6 && address.ScopeId != 0 ? new IPAddress(address.GetAddressBytes()) : address;
}

/// <summary>An address must not be asked for. The message is a reason for the user and names no address.</summary>
internal sealed class AddressRefusedException(string reason) : Exception(reason)
{
    /// <summary>Whether it is how the address leads to another one that is refused, whatever hosts are trusted.</summary>
    public bool IsRedirect { get; init; }
}
