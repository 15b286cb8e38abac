using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>Puts the providers together.</summary>
internal static class ProvidersRegistration
{
    /// <summary>Adds <see cref="ProviderHost"/>; it uses <see cref="BuiltInArticles"/> where those are registered.</summary>
    public static IServiceCollection AddProviders(this IServiceCollection services) => services
        .AddSingleton<ProviderMemory>()
        .AddSingleton<ProviderMemoryStore>()
        .AddSingleton<SegmentCacheHost>()
        .AddSingleton<ProviderHost>()
        .AddHostedService<ProviderMemoryWorker>()
        .AddHostedService<ProviderStart>();

    /// <summary>Starts trying once the settings are in force, without holding up the start.</summary>
    private sealed class ProviderStart(ProviderHost host) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken)
        {
            host.Start();
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
