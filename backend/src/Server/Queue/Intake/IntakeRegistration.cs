using Sluice.Server.Diagnostics;

namespace Sluice.Server.Queue.Intake;

internal static class IntakeRegistration
{
    public static IServiceCollection AddIntake(this IServiceCollection services) => services
        .AddSingleton<UploadReceiver>()
        .AddSingleton<NzbIntake>()
        .AddSingleton<QueueReturn>()
        .AddSingleton<UrlFetch>()
        .AddSingleton<UrlFetchWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<UrlFetchWorker>())
        .AddSingleton<UndoWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<UndoWorker>())
        .AddSingleton<LaterNzbs>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<LaterNzbs>())
        .AddSingleton<WatchedFileStore>()
        .AddSingleton<WatchFolderWorker>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<WatchFolderWorker>())
        .AddSingleton<AttentionSource>(provider => provider.GetRequiredService<WatchFolderWorker>().Attention)
        .AddSingleton<StagingFolder>()
        .AddSingleton<StagedUploads>()
        .AddSingleton<IWorker>(provider => provider.GetRequiredService<StagedUploads>());
}
