using System.Globalization;
using Sluice.Server.Database;

namespace Sluice.Server.Settings;

/// <summary>
/// Remembers sets whose startup failed (CFG-12). A set is accused by one startup that failed with an error, or by two consecutive startups without a recorded
/// end, because a single kill or power cut proves nothing. Kept in a small file, because the database is not writable yet. Not thread-safe.
/// </summary>
internal sealed class SettingsTrial(DataFolder folder)
{
    private const string FailedMark = " failed";

    // True from Begin until the outcome of this startup is recorded.
    private bool _isRunning;

    private string Path => System.IO.Path.Combine(folder.Root, "settings.trial");

    /// <summary>Returns the accused sets; none after a successful startup.</summary>
    public IReadOnlyList<long> Accused()
    {
        var starts = Read();
        return
        [
            .. starts.Where((start, i) => start.Failed || (i > 0 && starts[i - 1].Set == start.Set))
                .Select(start => start.Set)
                .Distinct(),
        ];
    }

    /// <summary>Records the use of an unproven set, before startup uses it.</summary>
    public void Begin(long set)
    {
        _isRunning = true;
        Write([.. Read(), new Start(set, Failed: false)]);
    }

    /// <summary>Records a successful startup. Earlier accusations stay until <see cref="Forget"/>.</summary>
    public void Succeed() => EndWith(starts => starts[..^1]);

    /// <summary>Removes the record of this startup, which was canceled or failed for a reason other than the settings.</summary>
    public void Withdraw() => EndWith(starts => starts[..^1]);

    /// <summary>Records that startup failed with an error.</summary>
    public void Accuse() => EndWith(starts => [.. starts[..^1], starts[^1] with { Failed = true }]);

    /// <summary>Forgets all startups. Call after the database has marked the accused sets.</summary>
    public void Forget() => Write([]);

    /// <summary>Changes the last line, which belongs to this startup. Does nothing if no set is on trial.</summary>
    private void EndWith(Func<List<Start>, List<Start>> change)
    {
        if (!_isRunning)
            return;
        _isRunning = false;
        if (Read() is { Count: > 0 } starts)
            Write(change(starts));
    }

    private List<Start> Read()
    {
        try
        {
            return File.Exists(Path) ? [.. File.ReadAllLines(Path).Select(Start.Parse)] : [];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // An unreadable file accuses no set.
            return [];
        }
    }

    private void Write(List<Start> starts)
    {
        try
        {
            if (starts.Count == 0)
                File.Delete(Path);
            else
                File.WriteAllLines(Path, starts.Select(start => start.ToString()));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Use the set without recording a trial, because a full disk must not prevent startup.
        }
    }

    private sealed record Start(long Set, bool Failed)
    {
        public static Start Parse(string line)
        {
            var failed = line.EndsWith(FailedMark, StringComparison.Ordinal);
            var digits = failed ? line[..^FailedMark.Length] : line;
            return new Start(long.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out var set) ? set : 0, failed);
        }

        public override string ToString() => Set.ToString(CultureInfo.InvariantCulture) + (Failed ? FailedMark : "");
    }
}
