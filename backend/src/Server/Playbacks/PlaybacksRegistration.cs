using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;

namespace Sluice.Server.Playbacks;

/// <summary>Puts together what is known about playbacks.</summary>
internal static class PlaybacksRegistration
{
    /// <summary>Adds the table of playbacks, the samples of the overview and the first evening.</summary>
    public static IServiceCollection AddPlaybacks(this IServiceCollection services) => services
        .AddSingleton<ProcessorTime>(static () => Environment.CpuUsage.TotalTime)
        .AddSingleton<PlaybackRegistry>()
        .AddSingleton<FirstEvening>()
        .AddSingleton<ILearnedMemory>(provider => provider.GetRequiredService<FirstEvening>())
        .AddSingleton<ThroughputSampler>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<ThroughputSampler>());
}
