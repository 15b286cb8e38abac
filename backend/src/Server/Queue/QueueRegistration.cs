using Sluice.Server.Diagnostics;
using Sluice.Server.Queue.Steps;

namespace Sluice.Server.Queue;

/// <summary>Puts the queue together.</summary>
internal static class QueueRegistration
{
    /// <summary>Adds what takes NZBs in and what works on them.</summary>
    public static IServiceCollection AddQueue(this IServiceCollection services) => services
        .AddSingleton<QueueStore>()
        .AddSingleton(QueueStore.NzbReference)
        .AddSingleton<QueueFileStore>()
        .AddSingleton(QueueFileStore.RawReference)
        .AddSingleton<StoredNzbs>()
        .AddSingleton<UploadReceiver>()
        .AddSingleton<NzbIntake>()
        .AddSingleton<StagingFolder>()
        .AddSingleton<StagedUploads>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<StagedUploads>())
        .AddSingleton<QueueSchedule>()
        .AddSingleton<QueueActivity>()
        .AddSingleton<QueueRemoval>()
        .AddSingleton<QueueRenaming>()
        .AddSingleton<CompleteFolder>()
        .AddSingleton<StepRunner>()
        // The steps run in the order in which they are added.
        .AddSingleton<IImportStep, ReadNzb>()
        .AddSingleton<IImportStep, ProbeHeads>()
        .AddSingleton<IImportStep, Publish>()
        .AddSingleton<ImportJob>()
        .AddSingleton<ReadPosts>()
        .AddSingleton<IWorker, QueueWorker>();
}
