using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// What has to be true before any worker or the listener starts: the folder is ours, the database is open, the settings are
/// in force, and leftovers of a crash are gone. The first of the hosted parts.
/// </summary>
/// <remarks>The lock is the first dependency, so that the container releases it after the database is closed.</remarks>
internal sealed class StartSequence(
    FolderLock folderLock,
    DataFolder folder,
    SluiceDatabase database,
    SettingsStore settings,
    BlobStore blobs,
    IEnumerable<IBlobReferences> references,
    Readiness readiness,
    ILogger<StartSequence> logger) : IHostedLifecycleService
{
    private const int SqliteCorrupt = 11;
    private const int SqliteNotADatabase = 26;

    /// <inheritdoc/>
    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        SelfCheck.Run();
        folder.Prepare();
        folderLock.Take();
        try
        {
            database.Open();
            await settings.LoadAsync(cancellationToken);
            await SweepAsync(cancellationToken);
        }
        catch (SqliteException e) when (e.SqliteErrorCode is SqliteCorrupt or SqliteNotADatabase)
        {
            DiagnosticsLog.DatabaseDamaged(logger, folder.Database, e.Message);
            readiness.LoseDatabase();
            await database.CloseAsync();
        }
    }

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    private async Task SweepAsync(CancellationToken cancellationToken)
    {
        var referenced = new HashSet<string>();
        var asked = 0;
        foreach (var owner in references)
        {
            referenced.UnionWith(await owner.GetBlobHashesAsync(cancellationToken));
            asked++;
        }

        // With nobody to ask, every blob would look like an orphan.
        if (asked == 0)
            return;

        var removed = blobs.Sweep(referenced);
        if (removed > 0)
            DiagnosticsLog.Swept(logger, removed);
    }
}
