using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Yenc;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Prepares everything that workers and the listener need: locks the folder, completes a restore, opens the database, checks that it matches the NZBs, and
/// applies the settings. It is the first hosted service, so that it stops last.
/// </summary>
/// <remarks>The lock is the first dependency, so that the container releases it only after the database has closed.</remarks>
internal sealed class StartSequence(
    FolderLock folderLock,
    DataFolder folder,
    DiskReserve reserve,
    SluiceDatabase database,
    RestoreSteps restore,
    BackupPlaces backups,
    DatabaseOpening opening,
    IntegrityWorker integrity,
    SettingsStore settings,
    ProcessOptions process,
    StartNotes notes,
    ILogger<StartSequence> logger) : IHostedLifecycleService
{
    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        SelfCheck.Run();
        if (!folder.Prepare())
            DatabaseLog.FilesNotPrivate(logger, folder.Root);
        folderLock.Take();
        await restore.RunAsync(cancellationToken);
        if (Open() is not { } opened)
            return;
        reserve.Keep();
        integrity.Begin(opened);
        try
        {
            await settings.LoadAsync(cancellationToken);
        }
        catch (DatabaseLostException)
        {
            // The database turned out to be corrupt. Safe mode reports this itself.
        }
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StartedAsync(CancellationToken cancellationToken)
    {
        DiagnosticsLog.Kernels(logger, WiderBuild.Name, YencKernel.Best.Name, Crc32Kernel.Name);
        if (database.IsOpen)
            await notes.WriteAsync("the record of this start", settings.NoteStartedAsync, cancellationToken);
    }

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StoppedAsync(CancellationToken cancellationToken)
    {
        integrity.Dispose();
        try
        {
            await opening.NoteNumbersAsync(CancellationToken.None);
        }
        finally
        {
            await database.CloseAsync();
        }

        if (integrity.CheckedAt is { } checkedAt)
            opening.NoteClosed(checkedAt);
    }

    /// <summary>Opens the database. If a newer program wrote it, the error names the newest backup that this one can restore (OPS-21).</summary>
    private OpenedDatabase? Open()
    {
        try
        {
            return reserve.Run(() => opening.Open(process.AcceptDatabase, integrity.MayWrite));
        }
        catch (NewerDatabaseException e) when (backups.FindNewest(e.Known) is { } backup)
        {
            throw e.With($"restore the newest backup that this one can use: sluice --restore {backup.Id}");
        }
    }
}

internal static class SelfCheck
{
    /// <summary>Checks that NFC normalization works, because it needs the Unicode tables of the image.</summary>
    /// <exception cref="StartRefusedException">The tables are missing (exit 70).</exception>
    public static void Run()
    {
        const string decomposed = "Ame\u0301lie";
        const string composed = "Am\u00e9lie";
        if (NfcName.Of(decomposed) != composed)
        {
            throw new StartRefusedException(
                StartRefusedException.AssertionFailed, "Unicode normalisation does not work here; install the ICU libraries");
        }
    }
}
