using System.Data.Common;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Two commands for backups (OPS-15). <c>sluice --verify BACKUP</c> reports whether a backup is intact. <c>sluice --restore BACKUP [--requeue] [--yes]</c>
/// restores it while the server is stopped. A backup is given by its folder, or by its name.
/// </summary>
internal static class BackupCommand
{
    private const string Verify = "--verify";
    private const string Restore = "--restore";
    private const string Requeue = "--requeue";
    private const string Yes = "--yes";

    /// <summary>Exit code if the arguments are invalid (EX_USAGE).</summary>
    private const int BadUsage = 64;

    /// <summary>Exit code if the backup is damaged (EX_DATAERR).</summary>
    private const int NotSound = 65;

    private static readonly string[] Flags = [Requeue, Yes];

    /// <summary>Whether the arguments are one of these commands.</summary>
    public static bool Takes(string[] arguments) => arguments is [Verify or Restore, ..];

    /// <summary>Runs the command. Returns the exit code, after one line on stderr if it is not 0.</summary>
    public static async Task<int> RunAsync(string[] arguments, Func<ProcessEnvironment, WebApplication> build)
    {
        if (arguments is not [var command, var name, .. var flags] || name.StartsWith("--", StringComparison.Ordinal)
            || flags.Except(command == Restore ? Flags : []).Any())
        {
            return await EndAsync(BadUsage, $"use {Verify} BACKUP, or {Restore} BACKUP [{Requeue}] [{Yes}]");
        }

        var environment = ProcessEnvironment.OfThisProcess();
        try
        {
            ProcessUser.Become(environment);
            await using var app = build(environment);
            return command == Verify ? await VerifyAsync(app.Services, name) : await RestoreAsync(app.Services, name, flags);
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

    private static async Task<int> VerifyAsync(IServiceProvider services, string name)
    {
        if (Find(services, name) is not { } backup)
            return await EndAsync(NotSound, $"{name} is no backup");
        if (services.GetRequiredService<RestorePlan>().FindObstacle(backup, CancellationToken.None) is { } obstacle)
            return await EndAsync(NotSound, $"{backup.Path} cannot be restored: {obstacle}");
        await Console.Out.WriteLineAsync($"{backup.Path} is sound: {backup.Manifest.Blobs} NZBs, version {backup.Manifest.Schema}, made at {backup.Manifest.At:u}");
        return 0;
    }

    private static async Task<int> RestoreAsync(IServiceProvider services, string name, string[] flags)
    {
        // Start as the server does, because the folder must be prepared and locked.
        services.GetRequiredService<DataFolder>().Prepare();
        services.GetRequiredService<FolderLock>().Take();
        if (Find(services, name) is not { } backup)
            return await EndAsync(NotSound, $"{name} is no backup");
        var plan = services.GetRequiredService<RestorePlan>();
        if (plan.FindObstacle(backup, CancellationToken.None) is { } obstacle)
            return await EndAsync(NotSound, $"{backup.Path} cannot be restored: {obstacle}");
        await Console.Out.WriteLineAsync(plan.Estimate(backup).Sentence);
        if (!flags.Contains(Yes) && !await AgreesAsync())
            return await EndAsync(BadUsage, $"nothing was restored; answer y, or add {Yes}");
        plan.Request(backup, "command line", flags.Contains(Requeue));
        return await services.GetRequiredService<RestoreSteps>().RunAsync(CancellationToken.None)
            ? 0
            : await EndAsync(NotSound, $"{backup.Path} was not restored; the database is unchanged");
    }

    private static Backup? Find(IServiceProvider services, string name)
    {
        if (BackupFolder.IsName(name) && services.GetRequiredService<BackupPlaces>().Find(name) is { } found)
            return found;
        var path = Path.GetFullPath(name);
        return Directory.Exists(path) && BackupManifest.Read(path) is { } manifest ? new Backup(path, manifest) : null;
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
