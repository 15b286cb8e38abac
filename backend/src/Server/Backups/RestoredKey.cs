using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Backups;

/// <summary>
/// Installs a backup's key file during a restore (OPS-16). A restore request stages the key next to the current one. If the current key differs, it is kept
/// under another name.
/// </summary>
internal static class RestoredKey
{
    /// <summary>Stages a key. If the key is null, discards a staged key.</summary>
    /// <exception cref="IOException">The file cannot be written.</exception>
    public static void Stage(DataFolder folder, byte[]? key)
    {
        Discard(folder);
        if (key is not null)
            KeyFile.Write(StagedIn(folder), key);
    }

    /// <summary>Makes a staged key the server's key. Does nothing if there is none, so that it may be repeated after a kill.</summary>
    public static void Place(DataFolder folder)
    {
        var (staged, path) = (StagedIn(folder), KeyFile.Of(folder));
        if (KeyFile.Read(staged).Key is not { } key)
            return;
        if (KeyFile.Read(path).Key is { } present && present.AsSpan().SequenceEqual(key))
        {
            Discard(folder);
            return;
        }

        KeyFile.SetAside(path);
        Failpoint.Reach("restore-key-aside");
        File.Move(staged, path);
        PosixCalls.SyncFolder(folder.Keys);
    }

    /// <summary>Deletes a staged key.</summary>
    public static void Discard(DataFolder folder) => File.Delete(StagedIn(folder));

    private static string StagedIn(DataFolder folder) => KeyFile.Of(folder) + ".restoring";
}
