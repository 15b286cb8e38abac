using Sluice.Server.Diagnostics;
using Sluice.Usenet.Archives;

namespace Sluice.Server.Queue.Steps;

internal static class StepsRegistration
{
    public static IServiceCollection AddSteps(this IServiceCollection services) => services
        .AddSingleton<DeadArticles>()
        .AddSingleton<StrmFiles>()
        .AddSingleton<ReleaseNames>()
        .AddSingleton<SameReleases>()
        .AddSingleton<IKeyDeriver, KeyDeriver>()
        .AddSingleton<StepRunner>()
        .AddSingleton<MetricSource>(provider => provider.GetRequiredService<StepRunner>().WriteMetricsAsync)
        // The steps run in this order.
        .AddSingleton<IImportStep, ReadNzb>()
        .AddSingleton<IImportStep, ProbeHeads>()
        .AddSingleton<IImportStep, ResolveNames>()
        .AddSingleton<IImportStep, MapArchives>()
        .AddSingleton<IImportStep, CheckAvailability>()
        .AddSingleton<IImportStep, Publish>()
        .AddSingleton<ImportJob>()
        .AddSingleton<ReadPosts>()
        .AddSingleton<IWorker, QueueWorker>()
        .AddSingleton<IWorker, RemappingWorker>();
}
