using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.Arr;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary>Collects what an operator should look at, from all who know of something.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class Attention(
    ProviderHost providers,
    StorageState storage,
    SafeMode safeMode,
    IOptionsMonitor<WebDavOptions> webDav,
    IOptionsMonitor<UsenetOptions> usenet,
    IOptionsMonitor<QueueOptions> queue,
    SettingsSource settings,
    SecretBox box,
    ArrStore arr,
    WatchFolderWorker watchFolder,
    RecentWarnings warnings,
    TimeProvider time)
{
    private static readonly TimeSpan Told = TimeSpan.FromHours(1);

    // Their lines are about what has a row of its own as long as it lasts, or about the setup, which is over once this can be read.
    private static readonly string[] ToldElsewhere = [nameof(FirstStart), nameof(SettingsStore), nameof(StorageState)];

    /// <summary>All there is, the worst first.</summary>
    public IReadOnlyList<AttentionRow> Collect() =>
    [
        .. new[] { SafeModeRows(), StorageRows(), SecretKeyRows(), ProviderRows(), ArrRows(), WatchFolderRows(), SettingRows(), OpenTreeRows(), LogRows() }
            .SelectMany(static rows => rows)
            .OrderBy(static row => row.Level),
    ];

    private IEnumerable<AttentionRow> SafeModeRows()
    {
        if (safeMode.Sentence is { } sentence)
            yield return new AttentionRow(AttentionKind.SafeMode, AttentionLevel.Error, sentence, null, null);
    }

    private IEnumerable<AttentionRow> StorageRows() => storage.Faults
        .Select(static fault => fault.Fault == StorageFault.Full ? "The disk is full. NZBs are refused until there is room." : "The data folder cannot be written. NZBs are refused until it can.")
        .Distinct()
        .Select(static sentence => new AttentionRow(AttentionKind.Storage, AttentionLevel.Error, sentence, null, null));

    private IEnumerable<AttentionRow> SecretKeyRows()
    {
        var locked = settings.Current.All.Count(static setting => setting.IsLocked);
        if (locked > 0 || box.IsLocked)
        {
            var sentence = string.Create(
                CultureInfo.InvariantCulture, $"{locked} {(locked == 1 ? "setting is" : "settings are")} locked, because {box.Cause}. Put the file back and restart, or give it up.");
            yield return new AttentionRow(AttentionKind.SecretKey, AttentionLevel.Error, sentence, null, null);
        }
    }

    private IEnumerable<AttentionRow> ProviderRows()
    {
        // Absent, not tried with an empty password: the row of the key file says why.
        if (settings.Current.IsLocked(ProviderEditor.Setting))
            yield break;
        if (!providers.HasProviders)
        {
            yield return new AttentionRow(AttentionKind.NoProvider, AttentionLevel.Error, "No provider is set up. Nothing can be fetched until one is.", null, null);
            yield break;
        }

        var all = providers.Providers.Where(static provider => provider.Options.Kind != ProviderKind.Disabled).ToArray();
        var level = Array.TrueForAll(all, static provider => provider.Fault is not null) ? AttentionLevel.Error : AttentionLevel.Warning;
        foreach (var provider in all)
        {
            if (provider.Fault is { } fault)
                yield return new AttentionRow(AttentionKind.ProviderFails, level, $"{provider.Options.Name} {Describe(fault)}", provider.Options.Id.ToString("D"), null);
        }
    }

    private IEnumerable<AttentionRow> ArrRows() => arr.All.SelectMany(server => arr.CheckOf(server.Id) is { Failure: { } failure } check
        ? [new AttentionRow(AttentionKind.Arr, AttentionLevel.Warning, $"{server.Name}: {failure}", server.Id, check.At)]
        : Enumerable.Empty<AttentionRow>());

    private IEnumerable<AttentionRow> WatchFolderRows()
    {
        if (queue.CurrentValue.WatchFolder is not null && watchFolder.IsUnreadable)
            yield return new AttentionRow(AttentionKind.WatchFolder, AttentionLevel.Warning, "The watch folder cannot be read.", "queue.watch-dir", null);
    }

    private IEnumerable<AttentionRow> SettingRows()
    {
        _ = ProviderJson.Read(usenet.CurrentValue.Providers, out var elements);
        _ = ArrJson.Read(settings.Current.Text("arr.instances"), out var instances);
        return settings.Current.Warnings.Select(static warning => Row(warning, KeyOf(warning)))
            .Concat(elements.Select(static warning => Row(warning, "usenet.providers")))
            .Concat(instances.Select(static warning => Row(warning, "arr.instances")));

        static AttentionRow Row(string warning, string? key) => new(AttentionKind.Setting, AttentionLevel.Warning, warning + ".", key, null);
    }

    private IEnumerable<AttentionRow> OpenTreeRows()
    {
        if (webDav.CurrentValue.NoAuthNetworks is { Count: > 0 } networks)
        {
            yield return new AttentionRow(
                AttentionKind.OpenTree, AttentionLevel.Warning, $"Anyone at {string.Join(", ", networks)} may read all files without a password.", "webdav.no-auth-networks", null);
        }
    }

    private IEnumerable<AttentionRow> LogRows()
    {
        var since = time.WallTime() - Told;
        return warnings.Lines
            .Where(line => line.At >= since && !ToldElsewhere.Contains(line.Origin))
            .Reverse()
            // What is said again with each try is one thing to look at: its newest line.
            .DistinctBy(static line => (line.Origin, line.Text))
            .Select(static line => new AttentionRow(
                AttentionKind.Log,
                line.Level >= LogLevel.Error ? AttentionLevel.Error : AttentionLevel.Warning,
                line.Text,
                line.Number.ToString(CultureInfo.InvariantCulture),
                line.At));
    }

    /// <summary>The setting that a warning begins with; null where it begins with a variable of the environment.</summary>
    private static string? KeyOf(string warning)
    {
        var first = warning.Split(' ', 2)[0];
        return SettingSchema.All.Any(definition => definition.Key == first) ? first : null;
    }

    private static string Describe(NntpFault fault) => fault switch
    {
        NntpFault.NameNotResolved => "has a host name that cannot be found.",
        NntpFault.ConnectFailed => "cannot be connected to.",
        NntpFault.ConnectTimeout => "does not answer in time.",
        NntpFault.TlsFailed => "does not agree on TLS, or has a certificate that is not valid.",
        NntpFault.LoginRefused => "refuses the user or the password.",
        NntpFault.TooManyConnections => "allows no more connections.",
        NntpFault.Stalled => "sends nothing for too long.",
        NntpFault.ConnectionClosed => "closes its connections.",
        _ => "fails again and again.",
    };
}
