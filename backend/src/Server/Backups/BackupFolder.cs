using System.Globalization;
using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>A verified backup. It got its name only after all its bytes were read back.</summary>
internal sealed record Backup(string Path, BackupManifest Manifest)
{
    public string Id => Manifest.Id;

    /// <summary>Names of the backup's files.</summary>
    public IReadOnlyList<string> FileNames => Manifest.SealedKeySha256 is null
        ? [BackupManifest.FileName, BackupKeys.FileName, BackupFolder.DatabaseName]
        : [BackupManifest.FileName, BackupKeys.FileName, BackupFolder.DatabaseName, SealedKey.FileName];
}

/// <summary>
/// A folder of backups, with one subfolder each: <c>2026-11-29T030000Z-v23</c>, in UTC and with the schema version. The name of an unfinished backup ends in
/// <c>.partial</c>, that of a damaged one in <c>.failed</c>.
/// </summary>
/// <remarks>Thread-safe. The folder names are the only state.</remarks>
internal sealed class BackupFolder(string root)
{
    public const string DatabaseName = "sluice.db";

    private const string TimeFormat = "yyyy-MM-dd'T'HHmmss'Z'";
    private const string FailedSuffix = ".failed";
    private const int TimeLength = 18;

    public static string NameOf(DateTimeOffset at, int schema) =>
        string.Create(CultureInfo.InvariantCulture, $"{at.UtcDateTime.ToString(TimeFormat, CultureInfo.InvariantCulture)}-v{schema}");

    /// <summary>Whether a string is a well-formed backup name. Only such a string may become part of a path.</summary>
    public static bool IsName(string text) =>
        text.Length > TimeLength + 2 && text.AsSpan(TimeLength, 2) is "-v" && text[(TimeLength + 2)..] is { Length: <= 6 } schema && schema.All(char.IsAsciiDigit)
        && DateTime.TryParseExact(text[..TimeLength], TimeFormat, CultureInfo.InvariantCulture, DateTimeStyles.None, out _);

    public string PathOf(string name) => Path.Combine(root, name);

    /// <summary>All backups with a readable manifest, newest first.</summary>
    public IReadOnlyList<Backup> List() =>
    [
        .. Folders().Select(path => BackupManifest.Read(path) is { } manifest && manifest.Id == Path.GetFileName(path) ? new Backup(path, manifest) : null)
            .OfType<Backup>().OrderByDescending(backup => backup.Manifest.At).ThenByDescending(backup => backup.Id, StringComparer.Ordinal),
    ];

    /// <summary>Finds a backup by name; null if there is none or its manifest is damaged.</summary>
    public Backup? Find(string name) =>
        IsName(name) && Directory.Exists(PathOf(name)) && BackupManifest.Read(PathOf(name)) is { } manifest ? new Backup(PathOf(name), manifest) : null;

    /// <summary>Keys of all blobs that any backup references, including backups with a damaged manifest.</summary>
    /// <exception cref="IOException">The keys of a backup cannot be read.</exception>
    public HashSet<UInt128> ReadKeys() => [.. Folders().SelectMany(BackupKeys.Read)];

    /// <summary>
    /// Whether old backups may be deleted now: once a day, and not after the clock was set back. Stores the day as a file's modification time.
    /// </summary>
    public bool MayRotate(DateTimeOffset now)
    {
        var mark = new FileInfo(PathOf("rotated"));
        if (mark.Exists && mark.LastWriteTimeUtc.Date >= now.UtcDateTime.Date)
            return false;
        File.WriteAllBytes(mark.FullName, []);
        File.SetLastWriteTimeUtc(mark.FullName, now.UtcDateTime);
        return true;
    }

    /// <summary>Creates the folder for an unfinished backup and returns its path.</summary>
    public string Begin(DateTimeOffset at, int schema)
    {
        PrivateFile.CreateFolder(root);
        // Two backups within a second would get the same name.
        while (Directory.Exists(PathOf(NameOf(at, schema))))
            at = at.AddSeconds(1);
        var partial = PathOf(NameOf(at, schema) + PrivateFile.PartialSuffix);
        Discard(partial);
        PrivateFile.CreateFolder(partial);
        return partial;
    }

    /// <summary>Creates the folder for an unfinished copy of a backup and returns its path. Sets aside a damaged backup of that name.</summary>
    public string BeginCopy(string name)
    {
        if (Directory.Exists(PathOf(name)))
            Fail(PathOf(name));
        var partial = PathOf(name + PrivateFile.PartialSuffix);
        Discard(partial);
        PrivateFile.CreateFolder(partial);
        return partial;
    }

    /// <summary>Durably renames a verified backup to its final name.</summary>
    public Backup Complete(string partial)
    {
        PosixCalls.SyncFolder(partial);
        var path = partial[..^PrivateFile.PartialSuffix.Length];
        Directory.Move(partial, path);
        PosixCalls.SyncFolder(root);
        RemoveFailed();
        return new Backup(path, BackupManifest.Read(path) ?? throw new IOException($"{path} lost its manifest"));
    }

    /// <summary>Keeps a damaged backup for the operator, replacing an earlier damaged one.</summary>
    public void Fail(string path)
    {
        RemoveFailed();
        var name = path.EndsWith(PrivateFile.PartialSuffix, StringComparison.Ordinal) ? path[..^PrivateFile.PartialSuffix.Length] : path;
        Directory.Move(path, name + FailedSuffix);
    }

    public void Delete(Backup backup)
    {
        // Renamed, it no longer counts as a backup, even if the deletion stops halfway.
        var partial = backup.Path + PrivateFile.PartialSuffix;
        Directory.Move(backup.Path, partial);
        PosixCalls.SyncFolder(root);
        Discard(partial);
    }

    /// <summary>Deletes an unfinished backup.</summary>
    public static void Discard(string partial)
    {
        if (Directory.Exists(partial))
            Directory.Delete(partial, recursive: true);
    }

    /// <summary>Deletes what remains of backups that a kill interrupted.</summary>
    public void RemovePartials()
    {
        if (!Directory.Exists(root))
            return;
        foreach (var path in Directory.GetDirectories(root).Where(path => IsOf(path, PrivateFile.PartialSuffix)))
            Directory.Delete(path, recursive: true);
    }

    private void RemoveFailed()
    {
        foreach (var path in Directory.GetDirectories(root).Where(path => IsOf(path, FailedSuffix)))
            Directory.Delete(path, recursive: true);
    }

    private IEnumerable<string> Folders() =>
        Directory.Exists(root) ? Directory.EnumerateDirectories(root).Where(path => IsName(Path.GetFileName(path))) : [];

    // Other folders belong to the operator.
    private static bool IsOf(string path, string suffix) =>
        Path.GetFileName(path) is var name && name.EndsWith(suffix, StringComparison.Ordinal) && IsName(name[..^suffix.Length]);
}
