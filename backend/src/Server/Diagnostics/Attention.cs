using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

internal enum AttentionLevel
{
    /// <summary>Part of the server does not work.</summary>
    Error,

    /// <summary>Part of the server will stop working, or does not work as well as it could.</summary>
    Warning,
}

/// <summary>Kinds of problems. A row's target identifies the provider, program, setting, file or log line.</summary>
internal enum AttentionKind
{
    /// <summary>No provider is configured.</summary>
    NoProvider,

    /// <summary>A provider fails. The target is the provider's id.</summary>
    ProviderFails,

    /// <summary>The data cap of a provider is nearly or entirely used up. The target is its id.</summary>
    ProviderQuota,

    /// <summary>The disk is full or not writable.</summary>
    Storage,

    /// <summary>The database is not used, so everything is read from memory.</summary>
    SafeMode,

    /// <summary>Settings are locked, because their key file is lost.</summary>
    SecretKey,

    /// <summary>Clients of some networks can read the tree without a password.</summary>
    OpenTree,

    /// <summary>A connected program is unreachable or cannot see the files. The target is the program's id.</summary>
    Arr,

    /// <summary>The watch folder is not readable.</summary>
    WatchFolder,

    /// <summary>The last backup failed or is too old.</summary>
    Backup,

    /// <summary>A setting was skipped because its value cannot be used. The target is the setting's key.</summary>
    Setting,

    /// <summary>A film stopped at a gap. The target is the id of the film's file.</summary>
    Film,

    /// <summary>The log contains a warning. The target is its line number.</summary>
    Log,
}

/// <summary>A problem that needs an operator's attention.</summary>
/// <param name="Kind">The kind, which determines the button of the row.</param>
/// <param name="Sentence">A description of the problem.</param>
/// <param name="Target">The affected object; null if the kind is sufficient.</param>
/// <param name="Since">When the problem began; null if unknown.</param>
internal sealed record AttentionRow(AttentionKind Kind, AttentionLevel Level, string Sentence, string? Target, DateTimeOffset? Since);

/// <summary>Lists the current problems of one part of the server. Must be thread-safe.</summary>
internal delegate IEnumerable<AttentionRow> AttentionSource();

/// <summary>Collects the problems that need an operator's attention, from all parts and the server itself. Thread-safe.</summary>
internal sealed class Attention(
    IEnumerable<AttentionSource> rooms,
    StorageState storage,
    SafeMode safeMode,
    IOptionsMonitor<WebDavOptions> webDav,
    SettingsSource settings,
    SecretBox box,
    RecentWarnings warnings,
    BackupWorker backups,
    SecondFolderWorker second,
    TimeProvider time)
{
    private static readonly TimeSpan LogWindow = TimeSpan.FromHours(1);

    // These log warnings about problems that already have a row. FirstStart logs only during setup.
    private static readonly string[] ShownElsewhere = ["FirstStart", "GetAndHeadHandler", "ProviderQuotas", nameof(SettingsStore), nameof(StorageState), nameof(BackupWorker), nameof(SecondFolderWorker)];

    private static readonly AttentionKind[] Order =
    [
        AttentionKind.SafeMode, AttentionKind.Storage, AttentionKind.SecretKey, AttentionKind.NoProvider, AttentionKind.ProviderFails, AttentionKind.ProviderQuota, AttentionKind.Film, AttentionKind.Arr,
        AttentionKind.WatchFolder, AttentionKind.Backup, AttentionKind.Setting, AttentionKind.OpenTree, AttentionKind.Log,
    ];

    /// <summary>Returns all problems, most serious first.</summary>
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
                AttentionKind.SecretKey, AttentionLevel.Error, $"{count} locked, because {box.Cause}. Put the file back and restart, or create a new one in Settings.", null, null);
        }

        if (backups.Complaint is { } complaint)
            yield return new(AttentionKind.Backup, AttentionLevel.Warning, complaint, null, backups.State.FailedAt);
        if (second.Complaint is { } notCopied)
            yield return new(AttentionKind.Backup, AttentionLevel.Warning, notCopied, null, second.State.FailedAt);
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
            // A line that repeats with each retry is a single problem, so show only its newest copy.
            .DistinctBy(static line => (line.Origin, line.Text))
            .Select(static line => new AttentionRow(
                AttentionKind.Log,
                line.Level >= LogLevel.Error ? AttentionLevel.Error : AttentionLevel.Warning,
                line.Text,
                line.Number.ToString(CultureInfo.InvariantCulture),
                line.At));
    }

    /// <summary>Returns the setting at the start of a warning; null if the warning starts with an environment variable.</summary>
    private static string? KeyOf(string warning)
    {
        var first = warning.Split(' ', 2)[0];
        return SettingSchema.All.Any(definition => definition.Key == first) ? first : null;
    }
}
