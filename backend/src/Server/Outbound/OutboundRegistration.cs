using System.Net;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Outbound;

/// <summary>Calls to other servers in the composition root.</summary>
internal static class OutboundRegistration
{
    /// <summary>Adds what fetches from addresses of clients, and what tells rclone of changes.</summary>
    public static IServiceCollection AddOutbound(this IServiceCollection services) => services
        .AddSingleton<AddressGuard>()
        .AddSingleton(new HostLookup(Dns.GetHostAddressesAsync))
        .AddSingleton<GuardedClient>()
        .AddSingleton<RcloneClient>()
        .AddSingleton<RcloneNotifier>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<RcloneNotifier>());
}
