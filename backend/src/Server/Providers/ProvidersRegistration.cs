using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Server.Providers;

internal static class ProvidersRegistration
{
    /// <summary>Adds <see cref="ProviderHost"/>, which uses <see cref="BuiltInArticles"/> if registered.</summary>
    public static IServiceCollection AddProviders(this IServiceCollection services, ProcessOptions process) => services
        .AddSingleton<ISettingCheck, ProvidersCheck>()
        .AddSingleton<ProviderMemory>()
        .AddSingleton<ProviderMemoryStore>()
        .AddSingleton(provider => new StreamMemory(provider.GetRequiredService<TimeProvider>(), process.ChecksBlocks ? Environment.FailFast : null))
        .AddSingleton<ILearnedMemory, LearnedProviders>()
        .AddSingleton<ProviderUsage>()
        .AddSingleton<ILearnedMemory>(provider => provider.GetRequiredService<ProviderUsage>())
        .AddSingleton<SegmentCacheHost>()
        .AddSingleton<BandwidthLimit>()
        .AddSingleton<SincePaced>(provider => provider.GetRequiredService<BandwidthLimit>().Limiter.SincePaced)
        .AddSingleton<ProviderHost>()
        .AddSingleton<ProviderMetrics>()
        .AddSingleton<MetricSource>(provider => provider.GetRequiredService<ProviderMetrics>().WriteAsync)
        .AddSingleton<ProviderQuotaStore>()
        .AddSingleton<ProviderQuotas>()
        .AddSingleton<ProviderEditor>()
        .AddSingleton(SpeedBudget.Usual)
        .AddSingleton<AccountChecks>()
        .AddSingleton<ProviderAttention>()
        .AddSingleton<AttentionSource>(provider => provider.GetRequiredService<ProviderAttention>().Rows)
        .AddSingleton<EffectiveValues>()
        .AddSingleton<IWorker, LearnedWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<ProviderQuotas>())
        .AddSingleton<IWorker, ProviderStart>();

    /// <summary>Connects once the settings are loaded, without delaying the startup.</summary>
    private sealed class ProviderStart(ProviderHost host) : IWorker
    {
        public string Name => "providers";

        public Task PrepareAsync(CancellationToken cancellationToken)
        {
            host.Start();
            return Task.CompletedTask;
        }
    }
}
