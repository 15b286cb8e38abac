using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Providers;
using Sluice.Server.Queue.Steps;
using Sluice.Usenet.Archives;

namespace Sluice.Server.Queue;

/// <summary>Puts the queue together.</summary>
internal static class QueueRegistration
{
    /// <summary>Adds the queue and what works on it.</summary>
    public static IServiceCollection AddQueue(this IServiceCollection services) => services
        .AddSingleton<QueueStore>()
        .AddSingleton(QueueStore.NzbReference)
        .AddSingleton(provider => QueueItemsChanged.Watch(provider.GetRequiredService<EventFeed>()))
        .AddSingleton<QueueFileStore>()
        .AddSingleton(QueueFileStore.RawReference)
        .AddSingleton(RemovedStore.QueueReference)
        .AddSingleton(RemovedStore.HistoryReference)
        .AddSingleton(RemovedStore.RawReference)
        .AddSingleton<StoredNzbs>()
        .AddSingleton<CategoryJoin>()
        .AddSingleton<IFormerServer>(provider => provider.GetRequiredService<CategoryJoin>())
        .AddSingleton<QueueFetchStore>()
        .AddSingleton<QueueSchedule>()
        .AddSingleton<QueuePause>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<QueuePause>())
        .AddSingleton<QueueOrderStore>()
        .AddSingleton<QueueMoments>()
        .AddSingleton<QueueListStore>()
        .AddSingleton<ItemPause>()
        .AddSingleton<QueueActivity>()
        .AddSingleton<QueueRemoval>()
        .AddSingleton<QueueRenaming>()
        .AddSingleton<HistoryRemoval>()
        .AddSingleton<IWorker, HistoryRetentionWorker>()
        .AddSingleton<CompleteFolder>()
        .AddSingleton<DeadArticles>()
        .AddSingleton<StrmFiles>()
        .AddSingleton<ReleaseNames>()
        .AddSingleton<IKeyDeriver, KeyDeriver>()
        .AddSingleton<StepRunner>()
        // The steps run in the order in which they are added.
        .AddSingleton<IImportStep, ReadNzb>()
        .AddSingleton<IImportStep, ProbeHeads>()
        .AddSingleton<IImportStep, ResolveNames>()
        .AddSingleton<IImportStep, MapArchives>()
        .AddSingleton<IImportStep, CheckAvailability>()
        .AddSingleton<IImportStep, Publish>()
        .AddSingleton<ImportJob>()
        .AddSingleton<ReadPosts>()
        .AddSingleton<NewestPost>()
        .AddSingleton<SpeedArticles>(provider => provider.GetRequiredService<NewestPost>().ListAsync)
        .AddSingleton<IWorker, PasswordSealWorker>()
        .AddSingleton<IWorker, QueueWorker>()
        .AddSingleton<MeasureWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<MeasureWorker>())
        .AddSingleton<IWorker, RemappingWorker>();
}
