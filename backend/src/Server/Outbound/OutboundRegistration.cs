using System.Net;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Outbound;

internal static class OutboundRegistration
{
    public static IServiceCollection AddOutbound(this IServiceCollection services) => services
        .AddSingleton<AddressGuard>()
        .AddSingleton(new HostLookup(Dns.GetHostAddressesAsync))
        .AddSingleton<GuardedClient>()
        .AddSingleton<RcloneClient>()
        .AddSingleton<RcloneNotifier>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<RcloneNotifier>())
        .AddSingleton<UpdateFeed>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<UpdateFeed>());
}
