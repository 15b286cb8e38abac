using Sluice.Server.Diagnostics;

namespace Sluice.Server.Queue.Intake;

/// <summary>Puts together what takes NZBs in.</summary>
internal static class IntakeRegistration
{
    /// <summary>Adds the door of the queue, and the workers that bring NZBs to it by themselves.</summary>
    public static IServiceCollection AddIntake(this IServiceCollection services) => services
        .AddSingleton<UploadReceiver>()
        .AddSingleton<NzbIntake>()
        .AddSingleton<QueueReturn>()
        .AddSingleton<UrlFetch>()
        .AddSingleton<UrlFetchWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<UrlFetchWorker>())
        .AddSingleton<UndoWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<UndoWorker>())
        .AddSingleton<WatchedFileStore>()
        .AddSingleton<WatchFolderWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<WatchFolderWorker>())
        .AddSingleton<AttentionSource>(provider => provider.GetRequiredService<WatchFolderWorker>().Attention)
        .AddSingleton<StagingFolder>()
        .AddSingleton<StagedUploads>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<StagedUploads>());
}
