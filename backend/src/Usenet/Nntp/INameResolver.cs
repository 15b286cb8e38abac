using System.Net;

namespace Sluice.Usenet.Nntp;

/// <summary>Finds the addresses of a news server.</summary>
/// <remarks>Implementations are thread-safe.</remarks>
public interface INameResolver
{
    /// <summary>Resolves a host name, or takes an address as it is.</summary>
    /// <param name="host">As the settings say it.</param>
    /// <param name="cancellationToken">Gives the wait up.</param>
    /// <returns>In the order in which the system would try them; at least one.</returns>
    /// <exception cref="System.Net.Sockets.SocketException">There is none.</exception>
    ValueTask<IReadOnlyList<IPAddress>> ResolveAsync(string host, CancellationToken cancellationToken);
}

/// <summary>Asks the system.</summary>
public sealed class SystemNameResolver : INameResolver
{
    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<IPAddress>> ResolveAsync(string host, CancellationToken cancellationToken) =>
        await Dns.GetHostAddressesAsync(host, cancellationToken);
}
