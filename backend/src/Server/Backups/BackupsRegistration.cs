using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Backups;

internal static class BackupsRegistration
{
    /// <summary>Adds backups; opens nothing.</summary>
    public static IServiceCollection AddBackups(this IServiceCollection services) => services
        .AddSingleton(provider => new BackupFolder(provider.GetRequiredService<DataFolder>().Backups))
        .AddSingleton(provider => new BackupProof(provider.GetServices<BlobReference>(), Random.Shared))
        .AddSingleton<BackedUpBlobs>(provider => provider.GetRequiredService<BackupFolder>().ReadKeys)
        .AddSingleton<BackupMaker>()
        .AddSingleton<BackupWorker>()
        .AddSingleton<SecondFolderWorker>()
        .AddSingleton<ISettingCheck, SecondPlaceCheck>()
        .AddSingleton<BackupPlaces>()
        .AddSingleton<AcceptedLog>()
        .AddSingleton<RestorePlan>()
        .AddSingleton<RestoreSteps>();
}
