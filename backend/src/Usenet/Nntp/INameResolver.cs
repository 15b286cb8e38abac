using System.Net;

namespace Sluice.Usenet.Nntp;

/// <summary>Resolves the addresses of news servers. Implementations are thread-safe.</summary>
public interface INameResolver
{
    /// <summary>Resolves a host name or parses an address. Returns at least one address, in the order in which to try them.</summary>
    /// <exception cref="System.Net.Sockets.SocketException">The host has no address.</exception>
    ValueTask<IReadOnlyList<IPAddress>> ResolveAsync(string host, CancellationToken cancellationToken);
}

/// <summary>Uses the resolver of the operating system.</summary>
public sealed class SystemNameResolver : INameResolver
{
    public async ValueTask<IReadOnlyList<IPAddress>> ResolveAsync(string host, CancellationToken cancellationToken) =>
        await Dns.GetHostAddressesAsync(host, cancellationToken);
}
