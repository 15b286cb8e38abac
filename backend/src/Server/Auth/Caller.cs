using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>Whom failures count against: a known browser, by its cookie hash, at any address; otherwise an address prefix.</summary>
internal readonly record struct Sender(AddressPrefix Address, string? Browser = null);

/// <summary>The client of a request, with its proxy and browser if known.</summary>
/// <param name="Client">The client's address, as forwarded by a trusted proxy; otherwise the peer's address.</param>
/// <param name="Proxy">The trusted proxy; null for a direct connection.</param>
/// <param name="Browser">The cookie hash of a known browser; null for any other client.</param>
internal readonly record struct Caller(AddressPrefix Client, AddressPrefix? Proxy = null, string? Browser = null)
{
    /// <summary>The sender against which failures count. A known browser has a separate budget, so that others at its address cannot lock it out.</summary>
    public Sender Sender => Browser is null ? new Sender(Client) : new Sender(default, Browser);

    /// <summary>Identifies the caller of a request. Call after <see cref="TrustedProxies"/>.</summary>
    public static Caller Of(HttpContext http) => new(
        AddressPrefix.Of(http.Connection.RemoteIpAddress),
        http.Features.Get<Forwarding>() is { IsTrusted: true } forwarding ? AddressPrefix.Of(forwarding.Peer) : null);
}
