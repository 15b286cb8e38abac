using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Providers;

namespace Sluice.Server.Queue;

internal static class QueueRegistration
{
    public static IServiceCollection AddQueue(this IServiceCollection services) => services
        .AddSingleton<QueueStore>()
        .AddSingleton(QueueStore.NzbReference)
        .AddSingleton(provider => QueueItemsChanged.Watch(provider.GetRequiredService<EventFeed>()))
        .AddSingleton<QueueFileStore>()
        .AddSingleton(QueueFileStore.RawReference)
        .AddSingleton(RemovedStore.QueueReference)
        .AddSingleton(RemovedStore.HistoryReference)
        .AddSingleton(RemovedStore.RawReference)
        .AddSingleton(RemovedFileStore.NzbReference)
        .AddSingleton<RemovedFileList>()
        .AddSingleton<FileRemoval>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<FileRemoval>())
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
        .AddSingleton<QueueMetrics>()
        .AddSingleton<MetricSource>(provider => provider.GetRequiredService<QueueMetrics>().WriteAsync)
        .AddSingleton<QueueCommands>()
        .AddSingleton<QueueActivity>()
        .AddSingleton<QueueRemoval>()
        .AddSingleton<QueueRenaming>()
        .AddSingleton<HistoryRemoval>()
        .AddSingleton<IWorker, HistoryRetentionWorker>()
        .AddSingleton<CompleteFolder>()
        .AddSingleton<Rejections>()
        .AddSingleton<StrmLinks>()
        .AddSingleton<StrmRemoval>()
        .AddSingleton<NewestPost>()
        .AddSingleton<SpeedArticles>(provider => provider.GetRequiredService<NewestPost>().ListAsync)
        .AddSingleton<IWorker, PasswordSealWorker>()
        .AddSingleton<MeasureWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<MeasureWorker>());
}
