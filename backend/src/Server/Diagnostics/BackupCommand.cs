using System.Data.Common;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Two commands for backups (OPS-15). <c>sluice --verify BACKUP</c> reports whether a backup is intact. <c>sluice --restore BACKUP [--passphrase-file FILE]
/// [--requeue] [--yes]</c> restores it while the server is stopped. BACKUP is a name, a folder, or a tar file.
/// </summary>
internal static class BackupCommand
{
    private const string Verify = "--verify";
    private const string Restore = "--restore";
    private const string PassphraseFile = "--passphrase-file";
    private const string Requeue = "--requeue";
    private const string Yes = "--yes";

    /// <summary>Exit code if the arguments are invalid (EX_USAGE).</summary>
    private const int BadUsage = 64;

    /// <summary>Exit code if the backup is damaged (EX_DATAERR).</summary>
    private const int NotSound = 65;

    // Far longer than any passphrase.
    private const int MaxPassphraseBytes = 8192;

    private static readonly string[] Flags = [Requeue, Yes];

    /// <summary>Whether the arguments request one of these commands.</summary>
    public static bool Takes(string[] arguments) => arguments is [Verify or Restore, ..];

    /// <summary>Runs the command. Returns the exit code. If it is not 0, one line on stderr says why.</summary>
    public static async Task<int> RunAsync(string[] arguments, Func<ProcessEnvironment, WebApplication> build)
    {
        if (Parse(arguments) is not var (command, name, passphraseFile, flags))
            return await EndAsync(BadUsage, $"use {Verify} BACKUP, or {Restore} BACKUP [{PassphraseFile} FILE] [{Requeue}] [{Yes}]");

        var environment = ProcessEnvironment.OfThisProcess();
        try
        {
            ProcessUser.Become(environment);
            await using var app = build(environment);
            return command == Verify ? await VerifyAsync(app.Services, name) : await RestoreAsync(app.Services, name, passphraseFile, flags);
        }
        catch (StartRefusedException e)
        {
            return await EndAsync(e.ExitCode, e.Message);
        }
        catch (Exception e) when (StorageException.From(e, ProcessOptions.Read(environment).ConfigPath) is { } fault)
        {
            return await EndAsync(StartRefusedException.BadConfiguration, fault.Message);
        }
        catch (DbException e)
        {
            return await EndAsync(NotSound, $"the backup cannot be read: {e.Message}");
        }
    }

    /// <summary>Splits the arguments; null if they are invalid.</summary>
    private static (string Command, string Name, string? PassphraseFile, IReadOnlyList<string> Flags)? Parse(string[] arguments)
    {
        if (arguments is not [var command, var name, .. var rest] || name.StartsWith("--", StringComparison.Ordinal))
            return null;
        var (flags, passphraseFile) = (rest.ToList(), (string?)null);
        if (command == Restore && flags.IndexOf(PassphraseFile) is var at and >= 0 && at + 1 < flags.Count)
        {
            passphraseFile = flags[at + 1];
            flags.RemoveRange(at, 2);
        }

        return flags.Except(command == Restore ? Flags : []).Any() ? null : (command, name, passphraseFile, flags);
    }

    private static async Task<int> VerifyAsync(IServiceProvider services, string name)
    {
        // Not in the data folder, because this command must not write there.
        var unpacked = Directory.CreateTempSubdirectory("sluice-backup-");
        try
        {
            return await VerifyAsync(services, name, unpacked.FullName);
        }
        finally
        {
            unpacked.Delete(recursive: true);
        }
    }

    private static async Task<int> VerifyAsync(IServiceProvider services, string name, string unpacked)
    {
        if (await FindAsync(services, name, unpacked) is not { } backup)
            return await EndAsync(NotSound, $"{name} is no backup");
        if (services.GetRequiredService<RestorePlan>().FindObstacle(backup, CancellationToken.None) is { } obstacle)
            return await EndAsync(NotSound, $"{name} cannot be restored: {obstacle}");
        await Console.Out.WriteLineAsync($"{name} is sound: {backup.Manifest.Blobs} NZBs, version {backup.Manifest.Schema}, made at {backup.Manifest.At:u}");
        return 0;
    }

    private static async Task<int> RestoreAsync(IServiceProvider services, string name, string? passphraseFile, IReadOnlyList<string> flags)
    {
        // Start like the server, because the folder must be prepared and locked.
        var folder = services.GetRequiredService<DataFolder>();
        folder.Prepare();
        services.GetRequiredService<FolderLock>().Take();
        Remove(folder.Unpacked);
        PrivateFile.CreateFolder(folder.Unpacked);
        try
        {
            return await FindAsync(services, name, folder.Unpacked) is { } backup
                ? await RestoreAsync(services, name, backup, passphraseFile, flags)
                : await EndAsync(NotSound, $"{name} is no backup");
        }
        finally
        {
            Remove(folder.Unpacked);
        }
    }

    private static async Task<int> RestoreAsync(IServiceProvider services, string name, Backup backup, string? passphraseFile, IReadOnlyList<string> flags)
    {
        var plan = services.GetRequiredService<RestorePlan>();
        if (plan.FindObstacle(backup, CancellationToken.None) is { } obstacle)
            return await EndAsync(NotSound, $"{name} cannot be restored: {obstacle}");
        var passphrase = passphraseFile is null ? null : ReadPassphrase(passphraseFile);
        var key = passphrase is null ? null : SealedKey.TryOpen(backup.Path, passphrase);
        if (passphraseFile is not null && key is null)
            return await EndAsync(passphrase is null ? BadUsage : NotSound, $"{passphraseFile} {(passphrase is null ? "cannot be read" : "does not contain the passphrase of this backup")}");
        await Console.Out.WriteLineAsync(plan.Estimate(backup, key).Sentence);
        if (!flags.Contains(Yes) && !await AgreesAsync())
            return await EndAsync(BadUsage, $"nothing was restored; answer y, or add {Yes}");
        plan.Request(backup, "command line", flags.Contains(Requeue), key);
        return await services.GetRequiredService<RestoreSteps>().RunAsync(CancellationToken.None)
            ? 0
            : await EndAsync(NotSound, $"{name} was not restored; the database is unchanged");
    }

    /// <summary>Finds a backup by name, folder or tar file; null if there is none.</summary>
    /// <param name="unpacked">An empty folder for the content of a tar file.</param>
    private static async Task<Backup?> FindAsync(IServiceProvider services, string name, string unpacked)
    {
        if (BackupFolder.IsName(name) && services.GetRequiredService<BackupPlaces>().Find(name) is { } found)
            return found;
        var path = File.Exists(name) ? await BackupTar.UnpackAsync(name, unpacked, CancellationToken.None) : Path.GetFullPath(name);
        return path is not null && Directory.Exists(path) && BackupManifest.Read(path) is { } manifest ? new Backup(path, manifest) : null;
    }

    private static void Remove(string path)
    {
        if (Directory.Exists(path))
            Directory.Delete(path, recursive: true);
    }

    /// <summary>Returns the first line of a file; null if it is empty or cannot be read.</summary>
    private static string? ReadPassphrase(string path)
    {
        try
        {
            return new FileInfo(path) is { Exists: true, Length: <= MaxPassphraseBytes } && File.ReadLines(path).FirstOrDefault() is { Length: > 0 } line ? line : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static async Task<bool> AgreesAsync()
    {
        await Console.Out.WriteAsync("Restore it? [y/N] ");
        return await Console.In.ReadLineAsync() is { } answer && answer.Trim().Equals("y", StringComparison.OrdinalIgnoreCase);
    }

    private static async Task<int> EndAsync(int code, string sentence)
    {
        await Console.Error.WriteLineAsync($"sluice: {sentence.ReplaceLineEndings(" ")}");
        return code;
    }
}
