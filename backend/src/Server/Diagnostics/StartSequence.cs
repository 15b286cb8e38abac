using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Yenc;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Establishes what every worker and the listener rely on: the folder is locked, the database is open and belongs to the stored NZBs,
/// and the settings are in force. The first hosted service, and therefore the last one to be stopped.
/// </summary>
/// <remarks>The lock is the first dependency, so that the container releases it after the database is closed.</remarks>
internal sealed class StartSequence(
    FolderLock folderLock,
    DataFolder folder,
    DiskReserve reserve,
    SluiceDatabase database,
    DatabaseOpening opening,
    IntegrityWorker integrity,
    SettingsStore settings,
    ProcessOptions process,
    StartNotes notes,
    ILogger<StartSequence> logger) : IHostedLifecycleService
{
    /// <inheritdoc/>
    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        SelfCheck.Run();
        if (!folder.Prepare())
            DatabaseLog.FilesNotPrivate(logger, folder.Root);
        folderLock.Take();
        if (reserve.Run(() => opening.Open(process.AcceptDatabase, integrity.MayWrite)) is not { } opened)
            return;
        reserve.Keep();
        integrity.Begin(opened);
        try
        {
            await settings.LoadAsync(cancellationToken);
        }
        catch (DatabaseLostException)
        {
            // Damage shows as early as this: the rest of the server explains it.
        }
    }

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public async Task StartedAsync(CancellationToken cancellationToken)
    {
        DiagnosticsLog.Kernels(logger, WiderBuild.Name, YencKernel.Best.Name, Crc32Kernel.Name);
        if (database.IsOpen)
            await notes.WriteAsync("the record of this start", settings.NoteStartedAsync, cancellationToken);
    }

    /// <inheritdoc/>
    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
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
}

/// <summary>Proves at start the functions of the platform that the rest relies on.</summary>
internal static class SelfCheck
{
    /// <summary>Names are NFC, which needs the Unicode tables of the image.</summary>
    /// <exception cref="StartRefusedException">They are missing (exit 70).</exception>
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
