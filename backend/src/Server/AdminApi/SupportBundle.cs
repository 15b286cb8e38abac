using System.Data.Common;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary>
/// Collects the content of a bug report from an allow-list (OPS-50): versions, settings without secrets, self-checks, providers, the latest failed imports, the
/// log, and table sizes. Never includes the database, an NZB or a key. Thread-safe.
/// </summary>
internal sealed partial class SupportBundle(
    SystemViews system, SettingsSource settings, ProviderTable providers, HistoryListStore history, LogRing log, LogRedactor redactor, SluiceDatabase database,
    DataFolder folder, MigrationRunner migrations, TimeProvider time)
{
    private const int MaxFailures = 100;
    private const int MaxLogBytes = 5_000_000;

    // All files together stay below 20 MB before compression. Replacing names with words can make the log longer.
    private const int MaxLogFileBytes = 2 * MaxLogBytes;
    private const int MaxFileBytes = 1_500_000;

    // Time, level and source before the text of a log line.
    private const int LineHeadBytes = 60;

    /// <summary>Reads everything except the log texts, because a client may download slowly.</summary>
    /// <param name="withNames">Whether to keep names of releases and client addresses unchanged.</param>
    /// <param name="cancellationToken">Cancels reading.</param>
    public async Task<SupportFiles> ReadAsync(bool withNames, CancellationToken cancellationToken)
    {
        var lines = Newest(log.Lines);
        var (failures, stored) = await ReadStoredAsync(lines, withNames, cancellationToken);
        var names = withNames ? null : new SupportNames(NamesOf(lines, failures).Concat(stored.Names), Random.Shared);
        return new SupportFiles(
            [
                new SupportFile("about.txt", About(withNames), MaxFileBytes),
                new SupportFile("system.txt", DescribeSystem(), MaxFileBytes),
                new SupportFile("settings.txt", DescribeSettings(), MaxFileBytes),
                new SupportFile("providers.jsonl", DescribeProviders(), MaxFileBytes),
                new SupportFile("failures.txt", failures.Select(item => Describe(item, names)), MaxFileBytes),
                new SupportFile("tables.txt", stored.Tables, MaxFileBytes),
                new SupportFile("log.txt", lines.Select(line => Describe(line, names)), MaxLogFileBytes),
            ],
            redactor,
            time.WallTime());
    }

    private static IReadOnlyList<KeptLine> Newest(IReadOnlyList<KeptLine> lines)
    {
        var (first, bytes) = (lines.Count, 0L);
        while (first > 0 && (bytes += LineHeadBytes + Encoding.UTF8.GetByteCount(lines[first - 1].Text)) <= MaxLogBytes)
            first--;
        return [.. lines.Skip(first)];
    }

    /// <summary>Reads the facts in the database. If it is unreadable, which is often the reason for a report, the bundle contains the rest.</summary>
    private async Task<(IReadOnlyList<HistoryItem> Failures, Stored Stored)> ReadStoredAsync(
        IReadOnlyList<KeptLine> lines, bool withNames, CancellationToken cancellationToken)
    {
        try
        {
            var failures = (await history.ReadAsync(new HistoryQuery { Completed = false }, null, MaxFailures, cancellationToken)).Items;
            var words = withNames ? [] : SupportNames.WordsOf(lines.Select(line => line.Text).Concat(failures.Select(item => item.FailMessage)));
            var stored = await database.ReadAsync(connection => ReadStored(connection, words, cancellationToken), cancellationToken);
            return (failures, stored);
        }
        catch (Exception e) when (e is DatabaseLostException or StorageException or DbException)
        {
            return ([], new Stored([], [$"The database could not be read: {e.GetType().Name}. The failed imports are missing too."]));
        }
    }

    private Stored ReadStored(DbConnection connection, HashSet<string> words, CancellationToken cancellationToken)
    {
        List<string> tables = [.. DatabaseCopy.CountRows(connection).Select(table => string.Create(CultureInfo.InvariantCulture, $"{table.Key}: {table.Value} rows"))];
        foreach (var file in ((string[])[folder.Database, folder.Database + "-wal"]).Select(path => new FileInfo(path)).Where(file => file.Exists))
            tables.Add(string.Create(CultureInfo.InvariantCulture, $"{file.Name}: {file.Length} bytes"));
        var names = new HashSet<string>();
        if (words.Count == 0)
            return new Stored(names, tables);
        foreach (var name in NameColumns.Read(connection))
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (SupportNames.CanOccur(name, words))
                names.Add(name);
        }

        return new Stored(names, tables);
    }

    private static IEnumerable<string> NamesOf(IReadOnlyList<KeptLine> lines, IReadOnlyList<HistoryItem> failures) => lines
        .SelectMany(line => line.Names).SelectMany(SupportNames.NamesIn)
        .Concat(failures.SelectMany(item => (string[])[item.Name, item.NzbName, FileAtStart().Match(item.FailMessage).Value]));

    private static IEnumerable<string> About(bool withNames) =>
    [
        "Made by Sluice for a bug report. Passwords and keys are masked, and neither the database nor an NZB is included.",
        withNames
            ? "Names of releases and addresses of clients are included, because they were asked for."
            : "Names of releases and files are replaced by words such as film-1a2b. The same name has the same word in all files, but not in the next bundle.",
        "Read the files before you publish them.",
    ];

    private IEnumerable<string> DescribeSystem()
    {
        var state = system.Show();
        return
        [
            string.Create(CultureInfo.InvariantCulture, $"version: {state.Version}, commit {state.Commit ?? "unknown"}, {state.Form}, database version {migrations.Latest}"),
            string.Create(CultureInfo.InvariantCulture, $"machine: {RuntimeInformation.OSDescription}, {RuntimeInformation.RuntimeIdentifier}, {Environment.ProcessorCount} processors"),
            string.Create(CultureInfo.InvariantCulture, $"runtime: {RuntimeInformation.FrameworkDescription}"),
            string.Create(CultureInfo.InvariantCulture, $"started: {state.StartedAt:u}, now {time.WallTime():u}, mode {state.Mode}"),
            string.Create(CultureInfo.InvariantCulture, $"memory: {state.ResidentBytes} bytes in use, {state.BudgetBytes} for articles, {GC.GetGCMemoryInfo().TotalAvailableMemoryBytes} available"),
            string.Create(CultureInfo.InvariantCulture, $"disk: {state.FreeBytes?.ToString(CultureInfo.InvariantCulture) ?? "unknown"} bytes free"),
            string.Create(CultureInfo.InvariantCulture, $"connections in use: {state.PlaybackPermits} for playback, {state.ImportPermits} for imports"),
            .. state.Checks.Select(check => $"check: {check.Name} {(check.Ok ? "ok" : "failed")}. {check.Sentence}"),
        ];
    }

    private IEnumerable<string> DescribeSettings() => settings.Current.All
        .Select(setting => $"{setting.Definition.Key}={(setting.Definition.Secret && setting.Value.Length > 0 ? "********" : setting.Value)} ({setting.Origin}{(setting.IsLocked ? ", locked" : "")})")
        .Concat(settings.Current.Warnings.Select(warning => $"warning: {warning}"));

    // Mask the user name, because it is half of a login.
    private IEnumerable<string> DescribeProviders() => providers.Rows()
        .Select(row => JsonSerializer.Serialize(row with { User = row.User.Length > 0 ? "********" : "" }, AdminJson.Default.ProviderRow));

    private static string Describe(HistoryItem item, SupportNames? names) => string.Create(
        CultureInfo.InvariantCulture,
        $"{item.CompletedAt:u} {names?.WordOf(item.Name) ?? item.Name} ({item.Category}) {item.Reason}: {names?.Mask(item.FailMessage) ?? item.FailMessage} {item.Bytes} bytes, {(item.CompletedAt - item.StartedAt).TotalSeconds:F1} s ({item.Id})");

    private static string Describe(KeptLine line, SupportNames? names) => LogResource.TextOf(names is null ? line : line with { Text = names.Mask(line.Text, line.Names) });

    /// <summary>Matches the file name at the start of some <see cref="ImportFailure"/> sentences.</summary>
    [GeneratedRegex(@"^.+?(?=: (?:an article|\d+ of \d+ articles) | is compressed \()")]
    private static partial Regex FileAtStart();

    /// <summary>Facts from the database: names that may occur in the texts, and the table sizes.</summary>
    private sealed record Stored(IReadOnlyCollection<string> Names, IReadOnlyList<string> Tables);
}
