using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>The sender that is accountable for a request.</summary>
/// <param name="Client">The sender, as far as a trusted proxy names it.</param>
/// <param name="Proxy">The trusted proxy that the request came through; null when it came straight from the client.</param>
internal readonly record struct Caller(AddressPrefix Client, AddressPrefix? Proxy = null)
{
    /// <summary>Reads a request, after <see cref="TrustedProxies"/> has.</summary>
    public static Caller Of(HttpContext http) => new(
        AddressPrefix.Of(http.Connection.RemoteIpAddress),
        http.Features.Get<Forwarding>() is { IsTrusted: true } forwarding ? AddressPrefix.Of(forwarding.Peer) : null);
}
