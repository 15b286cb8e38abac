using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>How serious a problem is.</summary>
internal enum AttentionLevel
{
    /// <summary>Something does not work.</summary>
    Error,

    /// <summary>Something will stop working, or works worse than it could.</summary>
    Warning,
}

/// <summary>Kinds of problem. The target of a row names the provider, program, setting or line of the log.</summary>
internal enum AttentionKind
{
    /// <summary>There is no provider.</summary>
    NoProvider,

    /// <summary>A provider fails; the target is its id.</summary>
    ProviderFails,

    /// <summary>The disk is full or cannot be written.</summary>
    Storage,

    /// <summary>The database is not used; everything is read from memory.</summary>
    SafeMode,

    /// <summary>Settings are locked, because their key file is lost.</summary>
    SecretKey,

    /// <summary>Any client can read the tree.</summary>
    OpenTree,

    /// <summary>A connected program cannot be reached or does not see the files; the target is its id.</summary>
    Arr,

    /// <summary>The watch folder cannot be read.</summary>
    WatchFolder,

    /// <summary>The last backup failed, or is too old.</summary>
    Backup,

    /// <summary>A setting was left out because it cannot be used; the target is its key.</summary>
    Setting,

    /// <summary>A film stopped at a gap; the target is the id of its file.</summary>
    Film,

    /// <summary>A warning of the log; the target is its number.</summary>
    Log,
}

/// <summary>A problem that an operator should look at.</summary>
/// <param name="Kind">Decides which button the row has.</param>
/// <param name="Level">How serious it is.</param>
/// <param name="Sentence">The problem.</param>
/// <param name="Target">The affected object; null if the kind says all.</param>
/// <param name="Since">Since when; null if unknown.</param>
internal sealed record AttentionRow(AttentionKind Kind, AttentionLevel Level, string Sentence, string? Target, DateTimeOffset? Since);

/// <summary>Lists the problems that one room knows of right now. Thread-safe.</summary>
internal delegate IEnumerable<AttentionRow> AttentionSource();

/// <summary>Collects the problems that an operator should look at from all rooms, and adds those of the server itself.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class Attention(
    IEnumerable<AttentionSource> rooms,
    StorageState storage,
    SafeMode safeMode,
    IOptionsMonitor<WebDavOptions> webDav,
    SettingsSource settings,
    SecretBox box,
    RecentWarnings warnings,
    BackupWorker backups,
    TimeProvider time)
{
    private static readonly TimeSpan LogWindow = TimeSpan.FromHours(1);

    // SettingsStore, StorageState and BackupWorker have rows of their own, and so has a film whose response GetAndHeadHandler had to end. FirstStart logs only during the setup.
    private static readonly string[] ShownElsewhere = ["FirstStart", "GetAndHeadHandler", nameof(SettingsStore), nameof(StorageState), nameof(BackupWorker)];

    private static readonly AttentionKind[] Order =
    [
        AttentionKind.SafeMode, AttentionKind.Storage, AttentionKind.SecretKey, AttentionKind.NoProvider, AttentionKind.ProviderFails, AttentionKind.Film, AttentionKind.Arr,
        AttentionKind.WatchFolder, AttentionKind.Backup, AttentionKind.Setting, AttentionKind.OpenTree, AttentionKind.Log,
    ];

    /// <summary>Returns all problems, the most serious first.</summary>
    public IReadOnlyList<AttentionRow> Collect() =>
        [.. OwnRows().Concat(rooms.SelectMany(static room => room())).OrderBy(static row => row.Level).ThenBy(static row => Array.IndexOf(Order, row.Kind))];

    private IEnumerable<AttentionRow> OwnRows()
    {
        if (safeMode.Sentence is { } sentence)
            yield return new(AttentionKind.SafeMode, AttentionLevel.Error, sentence, null, null);
        foreach (var isFull in storage.Faults.Select(static fault => fault.Fault == StorageFault.Full).Distinct())
        {
            yield return new(
                AttentionKind.Storage,
                AttentionLevel.Error,
                isFull ? "The disk is full. NZBs are refused until there is room." : "The data folder cannot be written. NZBs are refused until it can.",
                null,
                null);
        }

        var locked = settings.Current.All.Count(static setting => setting.IsLocked);
        if (locked > 0 || box.IsLocked)
        {
            var count = string.Create(CultureInfo.InvariantCulture, $"{locked} {(locked == 1 ? "setting is" : "settings are")}");
            yield return new(
                AttentionKind.SecretKey, AttentionLevel.Error, $"{count} locked, because {box.Cause}. Put the file back and restart, or give it up.", null, null);
        }

        if (backups.Complaint is { } complaint)
            yield return new(AttentionKind.Backup, AttentionLevel.Warning, complaint, null, backups.State.FailedAt);
        foreach (var warning in settings.Current.Warnings)
            yield return new(AttentionKind.Setting, AttentionLevel.Warning, warning + ".", KeyOf(warning), null);
        if (webDav.CurrentValue.NoAuthNetworks is { Count: > 0 } networks)
        {
            yield return new(
                AttentionKind.OpenTree, AttentionLevel.Warning, $"Anyone at {string.Join(", ", networks)} may read all files without a password.", "webdav.no-auth-networks", null);
        }

        foreach (var row in LogRows())
            yield return row;
    }

    private IEnumerable<AttentionRow> LogRows()
    {
        var since = time.WallTime() - LogWindow;
        return warnings.Lines
            .Where(line => line.At >= since && !ShownElsewhere.Contains(line.Origin))
            .Reverse()
            // A line that repeats with each retry is one problem, shown by its newest line.
            .DistinctBy(static line => (line.Origin, line.Text))
            .Select(static line => new AttentionRow(
                AttentionKind.Log,
                line.Level >= LogLevel.Error ? AttentionLevel.Error : AttentionLevel.Warning,
                line.Text,
                line.Number.ToString(CultureInfo.InvariantCulture),
                line.At));
    }

    /// <summary>Returns the setting at the start of a warning; null if it starts with an environment variable.</summary>
    private static string? KeyOf(string warning)
    {
        var first = warning.Split(' ', 2)[0];
        return SettingSchema.All.Any(definition => definition.Key == first) ? first : null;
    }
}
