using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>A sender as it is counted and remembered: an address, or a browser that was right before, wherever it is.</summary>
/// <param name="Address">The address; default for a browser.</param>
/// <param name="Browser">The hash of the browser's cookie; null for an address.</param>
internal readonly record struct Sender(AddressPrefix Address, string? Browser = null);

/// <summary>The sender that is accountable for a request.</summary>
/// <param name="Client">The sender, as far as a trusted proxy names it.</param>
/// <param name="Proxy">The trusted proxy that the request came through; null when it came straight from the client.</param>
/// <param name="Browser">The hash of the cookie of a browser that was right before; null for any other client.</param>
internal readonly record struct Caller(AddressPrefix Client, AddressPrefix? Proxy = null, string? Browser = null)
{
    /// <summary>Whose failures are counted. A browser that was right before answers for itself, not for its address.</summary>
    public Sender Sender => Browser is null ? new Sender(Client) : new Sender(default, Browser);

    /// <summary>Reads a request, after <see cref="TrustedProxies"/> has.</summary>
    public static Caller Of(HttpContext http) => new(
        AddressPrefix.Of(http.Connection.RemoteIpAddress),
        http.Features.Get<Forwarding>() is { IsTrusted: true } forwarding ? AddressPrefix.Of(forwarding.Peer) : null);
}
