using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>A sender for counting failures: an address, or the cookie hash of a known browser wherever it is.</summary>
internal readonly record struct Sender(AddressPrefix Address, string? Browser = null);

/// <summary>The sender accountable for a request.</summary>
/// <param name="Client">The client's address, as far as a trusted proxy reports it.</param>
/// <param name="Proxy">The trusted proxy; null for a direct connection.</param>
/// <param name="Browser">The cookie hash of a known browser; null for any other client.</param>
internal readonly record struct Caller(AddressPrefix Client, AddressPrefix? Proxy = null, string? Browser = null)
{
    /// <summary>Whose failures count. A known browser has its own budget, separate from its address.</summary>
    public Sender Sender => Browser is null ? new Sender(Client) : new Sender(default, Browser);

    /// <summary>Reads a request after <see cref="TrustedProxies"/> has processed it.</summary>
    public static Caller Of(HttpContext http) => new(
        AddressPrefix.Of(http.Connection.RemoteIpAddress),
        http.Features.Get<Forwarding>() is { IsTrusted: true } forwarding ? AddressPrefix.Of(forwarding.Peer) : null);
}
