using System.Net;
using Sluice.Server.Listening;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// Lets a request in without credentials, because of the network that it comes from (DAV-33). Every entrance that has such an exemption needs
/// one, and only <see cref="Find"/> makes it: the network alone is no proof, because the browser of a client inside sends what pages of any site tell it to.
/// </summary>
internal sealed class NetworkPass
{
    // Names that no public DNS zone holds: a page cannot point one of its own at this server (DNS rebinding).
    private static readonly string[] LocalZones = [".local", ".lan", ".internal", ".home.arpa"];

    private static readonly string[] Reading = [HttpMethods.Get, HttpMethods.Head, HttpMethods.Options, "PROPFIND"];

    private NetworkPass()
    {
    }

    /// <summary>The user that the request counts as.</summary>
    public string Name { get; } = "network";

    /// <summary>Judges a request.</summary>
    /// <param name="http">The request, after <see cref="TrustedProxies"/> has read it.</param>
    /// <param name="networks">Networks that need no credentials.</param>
    /// <param name="general">Has the names of this server.</param>
    /// <param name="refusal">Why a request from these networks needs credentials all the same; else null.</param>
    /// <returns>The pass, or null.</returns>
    public static NetworkPass? Find(HttpContext http, IReadOnlyList<IPNetwork> networks, GeneralOptions general, out string? refusal)
    {
        refusal = null;
        // A forwarded address may be made up by the client, so it may take away the exemption of the peer's own address and never give one.
        if (networks.Count == 0 || !Forwarding.Of(http).AreAll(address => networks.Any(network => network.Contains(address))))
            return null;

        refusal = Refuse(http, general);
        return refusal is null ? new NetworkPass() : null;
    }

    private static string? Refuse(HttpContext http, GeneralOptions general)
    {
        var host = http.Request.Host.Host;
        if (!IsOwn(host, general))
            return $"{(host.Length > 0 ? RequestOrigin.Shown(host) : "An empty Host")} is no known name of this server, so this request needs a password. To go without, add the name to general.allowed-hosts.";
        return Reading.Contains(http.Request.Method) ? null : RequestOrigin.Refuse(http, general, isNeeded: false);
    }

    /// <summary>Whether the name in Host is one that a page of another site cannot have.</summary>
    private static bool IsOwn(string host, GeneralOptions general) =>
        host.Length > 0
        && (IPAddress.TryParse(host, out _)
            || !host.Contains('.', StringComparison.Ordinal)
            || LocalZones.Any(zone => host.EndsWith(zone, StringComparison.OrdinalIgnoreCase))
            || (Uri.TryCreate(general.BaseUrl, UriKind.Absolute, out var known) && host.Equals(known.Host, StringComparison.OrdinalIgnoreCase))
            || general.AllowedHosts.Any(allowed => allowed == "*" || host.Equals(allowed, StringComparison.OrdinalIgnoreCase)));
}
