namespace Sluice.Server.Database;

internal static class DatabaseRegistration
{
    /// <summary>Adds <see cref="SluiceDatabase"/> and <see cref="BlobStore"/> for a data folder; opens nothing.</summary>
    public static IServiceCollection AddDatabase(this IServiceCollection services, DataFolder folder) => services
        .AddSingleton(folder)
        .AddSingleton<FolderLock>()
        .AddSingleton(new MigrationRunner(Migration.LoadEmbedded(), folder))
        .AddSingleton<SafeMode>()
        .AddSingleton<StorageState>()
        .AddSingleton<DiskReserve>()
        .AddSingleton<ICommitStep, DiskCommit>()
        .AddSingleton<SluiceDatabase>()
        .AddSingleton<IBlobFiles, DiskBlobFiles>()
        .AddSingleton<BlobQuarantine>()
        .AddSingleton<BlobStore>()
        .AddSingleton<DatabaseOpening>()
        .AddSingleton<IntegrityWorker>()
        .AddSingleton<AcceptedSignal>()
        .AddSingleton(services => services.GetRequiredService<AcceptedSignal>().Table)
        .AddSingleton<AcceptedWorker>();
}
