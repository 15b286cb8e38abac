using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>
/// Adds NZBs from the watch folder and its subfolders named after categories, then deletes the files (IMP-7). Polls, because network folders send no
/// change events. A file is complete if it has not changed for <see cref="QuietTime"/>. Links are ignored.
/// </summary>
internal sealed class WatchFolderWorker(
    NzbIntake intake,
    WatchedFileStore remembered,
    CategoryRules categories,
    SluiceDatabase database,
    IOptionsMonitor<QueueOptions> options,
    TimeProvider time,
    ILogger<WatchFolderWorker> logger) : IWorker
{
    /// <summary>How long a file must be unchanged; also the polling interval.</summary>
    public static readonly TimeSpan QuietTime = TimeSpan.FromSeconds(5);

    /// <summary>Delay after a temporary refusal.</summary>
    public static readonly TimeSpan RefusalPause = TimeSpan.FromMinutes(1);

    // Maximum files per scan; the next scans find the rest.
    private const int MaxFiles = 10_000;

    private readonly WakeSignal _signal = new(time);

    // Used only by the loop.
    private Dictionary<string, Sighting> _seen = [];
    private string _said = "";

    private volatile bool _isAsked;
    private volatile bool _isUnreadable;

    public string Name => "the watch folder";

    /// <summary>One row if the last scan could not read the folder.</summary>
    public IEnumerable<AttentionRow> Attention() => options.CurrentValue.WatchFolder is not null && _isUnreadable
        ? [new(AttentionKind.WatchFolder, AttentionLevel.Warning, "The watch folder cannot be read.", "queue.watch-dir", null)]
        : [];

    /// <summary>Scans now and retries files that failed earlier.</summary>
    public void ScanNow()
    {
        _isAsked = true;
        _signal.Set();
    }

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        using var changed = options.OnChange((_, _) => _signal.Set());
        while (true)
        {
            TimeSpan? next = options.CurrentValue.WatchFolder is { } folder ? await ScanAsync(folder, stopping) : null;
            _isUnreadable = _isUnreadable && next is not null;
            await _signal.WaitAsync(next, stopping);
        }
    });

    /// <returns>Time until the next scan.</returns>
    private async Task<TimeSpan> ScanAsync(string folder, CancellationToken stopping)
    {
        var isAsked = _isAsked;
        _isAsked = false;
        if (!TryList(folder, isAsked))
            return QuietTime;

        var known = (await remembered.ListAsync(stopping)).ToDictionary(file => file.Path);
        var gone = known.Keys.Where(path => !_seen.ContainsKey(path) && !Path.Exists(path)).ToList();
        if (gone.Count > 0)
            await remembered.ForgetAsync(gone, stopping);

        var due = _seen.Values.Where(seen => !seen.IsLeft && seen.File.Length > 0 && time.GetElapsedTime(seen.Since) >= QuietTime);
        foreach (var seen in due.OrderBy(seen => seen.File.ChangedAt).ThenBy(seen => seen.File.Path, StringComparer.Ordinal).ToList())
        {
            if (known.GetValueOrDefault(seen.File.Path) != seen.File && !await AddAsync(seen, stopping))
                return RefusalPause;
            if (!seen.IsLeft)
                Remove(seen);
        }

        return QuietTime;
    }

    /// <summary>Lists the files and records when each was last seen to change.</summary>
    /// <param name="isAsked">Whether to retry files that failed earlier.</param>
    private bool TryList(string folder, bool isAsked)
    {
        try
        {
            var seen = new Dictionary<string, Sighting>();
            foreach (var (file, category) in List(new DirectoryInfo(folder)).Take(MaxFiles))
            {
                var found = new WatchedFile(file.FullName, file.Length, file.LastWriteTimeUtc.Ticks);
                var before = _seen.GetValueOrDefault(found.Path);
                seen[found.Path] = before?.File == found ? before : new Sighting(found, category, time.GetTimestamp());
                seen[found.Path].IsLeft &= !isAsked;
            }

            (_seen, _said) = (seen, "");
            _isUnreadable = false;
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            if (_said != e.Message)
                QueueLog.WatchFolderUnreadable(logger, folder, e.Message);
            _said = e.Message;
            _isUnreadable = true;
            return false;
        }
    }

    private IEnumerable<(FileInfo File, string Category)> List(DirectoryInfo folder)
    {
        foreach (var file in Nzbs(folder))
            yield return (file, "");
        foreach (var inner in folder.EnumerateDirectories().Where(inner => !IsLink(inner)))
        {
            if (categories.Configured.FirstOrDefault(name => name.Equals(NfcName.Of(inner.Name), StringComparison.OrdinalIgnoreCase)) is not { } category)
                continue;
            foreach (var file in Nzbs(inner))
                yield return (file, category);
        }
    }

    // Skip names with a leading dot, because they are temporary or desktop files.
    private static IEnumerable<FileInfo> Nzbs(DirectoryInfo folder) =>
        folder.EnumerateFiles().Where(file => ItemName.IsOfNzb(file.Name) && !file.Name.StartsWith('.') && !IsLink(file));

    private static bool IsLink(FileSystemInfo file) => (file.Attributes & FileAttributes.ReparsePoint) != 0;

    /// <returns>False if files cannot be added at the moment.</returns>
    private async Task<bool> AddAsync(Sighting seen, CancellationToken stopping)
    {
        var path = seen.File.Path;
        if (!PosixCalls.IsPlainFile(path))
        {
            Leave(seen, "is no plain file");
            return true;
        }

        try
        {
            await using var body = new FileStream(
                path, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete, bufferSize: 0, FileOptions.Asynchronous | FileOptions.SequentialScan);
            var addition = new NzbAddition { FileName = Path.GetFileName(path), Category = seen.Category, Source = seen.File };
            var outcome = await intake.AddAsync(body, body.Length, addition, stopping);
            switch (outcome.Refusal)
            {
                case null:
                    QueueLog.WatchedFileAdded(logger, NameOf(path), string.Join(", ", outcome.Ids));
                    return true;
                case AddRefusal.QueueFull or AddRefusal.DiskFull:
                    return false;
                default:
                    Leave(seen, "is too large");
                    return true;
            }
        }
        catch (StorageException)
        {
            // The storage error is already logged.
            return false;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Do not log the system's message, because its file name may contain a password.
            Leave(seen, e is UnauthorizedAccessException ? "cannot be read: permission denied" : $"cannot be read: {e.GetType().Name}");
            return true;
        }
    }

    /// <summary>Deletes a file after its NZBs were added, unless it has changed since.</summary>
    private void Remove(Sighting seen)
    {
        try
        {
            var now = new FileInfo(seen.File.Path);
            if (now.Exists && now.Length == seen.File.Length && now.LastWriteTimeUtc.Ticks == seen.File.ChangedAt)
                now.Delete();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Leave(seen, "is added and cannot be removed");
        }
    }

    private void Leave(Sighting seen, string cause)
    {
        seen.IsLeft = true;
        QueueLog.WatchedFileLeft(logger, NameOf(seen.File.Path), cause);
    }

    /// <summary>Returns the file's name without extension or password.</summary>
    private static string NameOf(string path) => ItemName.Parse(Path.GetFileName(path)).Name;

    /// <summary>A file, and the time since which it has been unchanged.</summary>
    private sealed record Sighting(WatchedFile File, string Category, long Since)
    {
        public bool IsLeft { get; set; }
    }
}
