using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Backups;

/// <summary>Checks where the second folder is, because copies on the same disk are lost together with it (OPS-5).</summary>
internal static class SecondPlace
{
    /// <summary>Returns why copies in a folder protect less than they could, as a sentence; null if nothing is wrong or unknown.</summary>
    public static string? FindWarning(DataFolder folder, string path) =>
        IsIn(path, folder.Root) ? "The second folder is inside the data folder, so both are lost together."
        : PosixCalls.DeviceOf(path) is { } device && device == PosixCalls.DeviceOf(folder.Root)
            ? "The second folder is on the same disk as the data folder, so both are lost together."
        : null;

    /// <summary>Whether a path is the folder itself or lies inside it.</summary>
    public static bool IsIn(string path, string folder) =>
        Resolve(path) is var inner && Resolve(folder) is var outer && (inner == outer || inner.StartsWith(outer + Path.DirectorySeparatorChar, StringComparison.Ordinal));

    private static string Resolve(string path) => PosixCalls.RealPath(path) ?? Path.TrimEndingDirectorySeparator(Path.GetFullPath(path));
}

/// <summary>Refuses a second folder whose files would be mixed with other files of the data folder.</summary>
internal sealed class SecondPlaceCheck(DataFolder folder) : ISettingCheck
{
    public string Key => "backup.second-dir";

    public IEnumerable<string> Errors(string value)
    {
        if (value.Length == 0)
            yield break;
        string[] own = [folder.Blobs, folder.Backups, folder.Keys, folder.Staged, folder.Quarantine, folder.Replaced, folder.Import, Path.Combine(folder.Root, "cache")];
        if (SecondPlace.IsIn(folder.Root, value) || own.Any(path => SecondPlace.IsIn(value, path)))
            yield return "Sluice uses this folder itself. Choose one outside the data folder.";
    }
}
