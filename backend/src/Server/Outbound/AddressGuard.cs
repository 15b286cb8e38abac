using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Outbound;

/// <summary>
/// Decides which externally supplied addresses may be fetched (S10): public ones at indexer ports, and hosts that the administrator trusts at any
/// port. A host is checked twice: by its name, and by its addresses when connecting.
/// </summary>
/// <remarks>Thread-safe. Resolves no names.</remarks>
internal sealed class AddressGuard(IOptionsMonitor<ApiOptions> options)
{
    /// <summary>Maximum URL length, as in common web servers.</summary>
    public const int MaxLength = 8 << 10;

    private const string NotPublic = "the address is not public; add its host to the trusted hosts";

    // Ports of web servers, and of Jackett and similar tools, which are also reached through public names.
    private static readonly int[] PublicPorts = [80, 443, 8080, 8443, 9117];

    // From the IANA special-purpose registries, plus multicast and reserved ranges.
    private static readonly IPNetwork[] NotPublic4 =
    [
        .. ((string[])
        [
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
            "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        ]).Select(IPNetwork.Parse),
    ];

    // Ranges that no ordinary host has; they include the metadata services of clouds.
    private static readonly IPNetwork[] NoHostRanges =
    [
        .. ((string[])["0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/128", "fe80::/10", "ff00::/8"]).Select(IPNetwork.Parse),
    ];

    private static readonly IPNetwork Public6 = IPNetwork.Parse("2000::/3");

    // Exceptions inside 2000::/3: protocol assignments including Teredo, and documentation.
    private static readonly IPNetwork[] NotPublic6 = [.. ((string[])["2001::/23", "2001:db8::/32", "3fff::/20"]).Select(IPNetwork.Parse)];

    // Ranges that embed an IPv4 address, with its byte offset: NAT64 (RFC 6052) and 6to4 (RFC 3056).
    private static readonly (IPNetwork Network, int At)[] Embedding = [(IPNetwork.Parse("64:ff9b::/96"), 12), (IPNetwork.Parse("2002::/16"), 2)];

    /// <summary>Why a URL must not be fetched, judged by its text alone; null if it may be tried.</summary>
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

    /// <summary>Why a connection to one of a host's addresses is refused; null if allowed.</summary>
    public string? Refuse(string host, IPAddress address, int port)
    {
        if (Trusts(host) || Networks().Any(network => network.Contains(Plain(address))))
            return null;
        if (!IsPublic(address))
            return NotPublic;
        return IsOfPublicPort(port) ? null : PortRefused(port);
    }

    /// <summary>
    /// Why a connection to a host that the administrator configured is refused; null if allowed. Private networks and any port are allowed,
    /// because such programs run at home.
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

    /// <summary>Unmaps IPv4-mapped addresses, and drops the zone of a link-local address because it does not matter here.</summary>
    private static IPAddress Plain(IPAddress address) => address.IsIPv4MappedToIPv6
        ? address.MapToIPv4()
        : address.AddressFamily == AddressFamily.InterNetworkV6 && address.ScopeId != 0 ? new IPAddress(address.GetAddressBytes()) : address;
}

/// <summary>An address must not be fetched. The message is for the user and contains no address.</summary>
internal sealed class AddressRefusedException(string reason) : Exception(reason)
{
    /// <summary>Whether a redirect was refused, which trusting hosts cannot change.</summary>
    public bool IsRedirect { get; init; }
}
