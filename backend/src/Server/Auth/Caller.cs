using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>Failures count per sender: per cookie hash of a known browser, wherever it is, otherwise per address prefix.</summary>
internal readonly record struct Sender(AddressPrefix Address, string? Browser = null);

/// <summary>The client of a request and, if known, its proxy and browser.</summary>
/// <param name="Client">The client's address: forwarded by a trusted proxy, otherwise the peer's.</param>
/// <param name="Proxy">The trusted proxy; null for a direct connection.</param>
/// <param name="Browser">The cookie hash of a known browser; null for any other client.</param>
internal readonly record struct Caller(AddressPrefix Client, AddressPrefix? Proxy = null, string? Browser = null)
{
    /// <summary>The sender that failures count against. A known browser has its own budget, so its address cannot lock it out.</summary>
    public Sender Sender => Browser is null ? new Sender(Client) : new Sender(default, Browser);

    /// <summary>Identifies the caller of a request. Call after <see cref="TrustedProxies"/>.</summary>
    public static Caller Of(HttpContext http) => new(
        AddressPrefix.Of(http.Connection.RemoteIpAddress),
        http.Features.Get<Forwarding>() is { IsTrusted: true } forwarding ? AddressPrefix.Of(forwarding.Peer) : null);
}
