using System.Globalization;
using Sluice.Server.Database;

namespace Sluice.Server.Settings;

/// <summary>
/// The start that is under way with a set that no start has succeeded with: a small file, which a start that fails or is killed leaves
/// behind (CFG-12). Not in the database, which takes no write this early.
/// </summary>
/// <remarks>Used by the start alone.</remarks>
internal sealed class SettingsTrial(DataFolder folder)
{
    private string Path => System.IO.Path.Combine(folder.Root, "settings.trial");

    /// <summary>The sets of starts that did not end, in their order; empty after a start that succeeded.</summary>
    public IReadOnlyList<long> Tried()
    {
        try
        {
            return File.Exists(Path)
                ? [.. File.ReadAllLines(Path).Select(line => long.TryParse(line, NumberStyles.None, CultureInfo.InvariantCulture, out var id) ? id : 0)]
                : [];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // What cannot be read accuses no set.
            return [];
        }
    }

    /// <summary>Notes a set before it is used.</summary>
    public void Begin(long set) => Write([.. Tried(), set]);

    /// <summary>The start has succeeded.</summary>
    public void End() => Write([]);

    /// <summary>The start has failed for a reason that no setting can have, or was called off.</summary>
    public void Withdraw() => Write([.. Tried().SkipLast(1)]);

    private void Write(IReadOnlyList<long> sets)
    {
        try
        {
            if (sets.Count == 0)
                File.Delete(Path);
            else
                File.WriteAllLines(Path, sets.Select(set => set.ToString(CultureInfo.InvariantCulture)));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A disk that takes no byte must not stop a start: the set goes without a trial.
        }
    }
}
