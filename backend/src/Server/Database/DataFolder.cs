namespace Sluice.Server.Database;

/// <summary>The one folder that holds everything Sluice keeps (<c>CONFIG_PATH</c>), and the places in it.</summary>
/// <param name="Root">Absolute path.</param>
internal sealed record DataFolder(string Root)
{
    /// <summary>The database.</summary>
    public string Database => Path.Combine(Root, "sluice.db");

    /// <summary>Stored NZBs and message-id lists.</summary>
    public string Blobs => Path.Combine(Root, "blobs");

    /// <summary>Uploads that wait for their name. Made when the first one comes.</summary>
    public string Staged => Path.Combine(Root, "staged");

    /// <summary>What is kept of read articles. Made when the first block comes; always safe to delete.</summary>
    public string Segments => Path.Combine(Root, "cache", "segments");

    /// <summary>Which database the blobs belong to (<see cref="BlobGeneration"/>).</summary>
    public string Generation => Path.Combine(Root, "blobs.generation");

    /// <summary>Blobs that nothing refers to any more (<see cref="BlobQuarantine"/>). Made when the first one comes.</summary>
    public string Quarantine => Path.Combine(Root, "quarantine");

    /// <summary>Copies of the database.</summary>
    public string Backups => Path.Combine(Root, "backups");

    /// <summary>Key files, mode 0600, never part of a backup.</summary>
    public string Keys => Path.Combine(Root, "keys");

    /// <summary>Held by the running process.</summary>
    public string LockFile => Path.Combine(Root, "sluice.lock");

    /// <summary>Creates what is missing and proves that files can be written here.</summary>
    /// <exception cref="StartRefusedException">The folder cannot be created or written (CFG-13).</exception>
    public void Prepare()
    {
        try
        {
            Directory.CreateDirectory(Root);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"configuration folder {Root} does not exist and cannot be created by uid {PosixCalls.EffectiveUser()}",
                e);
        }

        try
        {
            var probe = Path.Combine(Root, $".write-test-{Guid.NewGuid():N}");
            File.WriteAllBytes(probe, [1]);
            File.Delete(probe);
            Directory.CreateDirectory(Blobs);
            Directory.CreateDirectory(Backups);
            CreatePrivate(Keys);
        }
        catch (IOException e) when (DiskFullException.IsCauseOf(e))
        {
            // A full disk is no reason to stay down: what is stored can still be streamed (F34).
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"configuration folder {Root} is not writable by uid {PosixCalls.EffectiveUser()}{PosixCalls.DescribeOwner(Root)}",
                e);
        }
    }

    private static void CreatePrivate(string folder)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(folder);
        else
            Directory.CreateDirectory(folder, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }
}
