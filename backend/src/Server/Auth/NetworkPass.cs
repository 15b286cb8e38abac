using System.Net;
using Sluice.Server.Listening;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// Admits requests without credentials from trusted networks (DAV-33). Only <see cref="Find"/> creates a pass, because the network alone proves nothing: a
/// malicious website can make a browser inside the network send requests.
/// </summary>
internal sealed class NetworkPass
{
    // Public DNS has no such zones, so a website cannot use these names for DNS rebinding.
    private static readonly string[] LocalZones = [".local", ".lan", ".internal", ".home.arpa"];

    private static readonly string[] Reading = [HttpMethods.Get, HttpMethods.Head, HttpMethods.Options, "PROPFIND"];

    private NetworkPass()
    {
    }

    /// <summary>The user name for such a request.</summary>
    public string Name { get; } = "network";

    /// <summary>
    /// Returns a pass, or null if such a request still needs credentials; <paramref name="refusal"/> then says why. Call after <see cref="TrustedProxies"/>.
    /// </summary>
    public static NetworkPass? Find(HttpContext http, IReadOnlyList<IPNetwork> networks, GeneralOptions general, out string? refusal)
    {
        refusal = null;
        // Every address must match. Clients can forge forwarded addresses, so these may revoke the exemption but never grant it.
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

    /// <summary>Whether Host is a name that another website cannot have.</summary>
    private static bool IsOwn(string host, GeneralOptions general) =>
        host.Length > 0
        && (IPAddress.TryParse(host, out _)
            || !host.Contains('.', StringComparison.Ordinal)
            || LocalZones.Any(zone => host.EndsWith(zone, StringComparison.OrdinalIgnoreCase))
            || (Uri.TryCreate(general.BaseUrl, UriKind.Absolute, out var known) && host.Equals(known.Host, StringComparison.OrdinalIgnoreCase))
            || general.AllowedHosts.Any(allowed => allowed == "*" || host.Equals(allowed, StringComparison.OrdinalIgnoreCase)));
}
