using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;

namespace Sluice.Server.Playbacks;

/// <summary>Registers playback tracking.</summary>
internal static class PlaybacksRegistration
{
    public static IServiceCollection AddPlaybacks(this IServiceCollection services) => services
        .AddSingleton<ProcessorTime>(static () => Environment.CpuUsage.TotalTime)
        .AddSingleton<PlaybackRegistry>()
        .AddSingleton<PlaybackStops>()
        .AddSingleton<AttentionSource>(provider => provider.GetRequiredService<PlaybackStops>().Rows)
        .AddSingleton<IWorker, HeaderWorker>()
        .AddSingleton<FirstUse>()
        .AddSingleton<ILearnedMemory>(provider => provider.GetRequiredService<FirstUse>())
        .AddSingleton<ThroughputSampler>()
        .AddSingleton<RateStore>()
        .AddSingleton<ILearnedMemory>(provider => provider.GetRequiredService<RateStore>())
        .AddSingleton<ReceiptStore>()
        .AddSingleton<Receipts>()
        .AddSingleton<ILearnedMemory>(provider => provider.GetRequiredService<Receipts>())
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<Receipts>())
        .AddSingleton<PlaybackWaits>()
        .AddSingleton<PlaybackMetrics>()
        .AddSingleton<MetricSource>(provider => provider.GetRequiredService<PlaybackMetrics>().WriteAsync)
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<ThroughputSampler>());
}
