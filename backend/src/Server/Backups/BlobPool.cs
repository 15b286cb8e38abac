using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// The NZBs of the backups in a second folder: <c>blobs/ab/&lt;hash&gt;.nzb.br</c>. All backups share them and each NZB is copied once, because NZBs never
/// change (OPS-5). Message-id lists are not copied, because Sluice rebuilds them from the NZBs.
/// </summary>
/// <remarks>Calls that write must not overlap. Every call blocks.</remarks>
internal sealed class BlobPool(string root, IBlobFiles files) : IBlobSource
{
    private const string FolderName = "blobs";
    private const int PrefixLength = 2;

    // Few enough that a kill costs little, and enough that flushing does not count.
    private const int BatchCount = 512;

    private readonly byte[] _piece = new byte[256 << 10];

    // Paths of copies whose content is not on disk yet.
    private readonly List<string> _unsynced = [];

    // Folders with new file names, which Flush writes to disk.
    private readonly HashSet<string> _changed = [];

    /// <summary>Returns the pool in a second folder.</summary>
    public static BlobPool In(string second, IBlobFiles files) => new(Path.Combine(second, FolderName), files);

    /// <summary>Returns the pool next to a backup; null if there is none, because the NZBs are in the data folder.</summary>
    public static BlobPool? Beside(string backup, IBlobFiles files) =>
        Path.GetDirectoryName(Path.GetFullPath(backup)) is { } second && In(second, files) is { Exists: true } pool ? pool : null;

    public bool Exists => Directory.Exists(root);

    /// <inheritdoc/>
    public Dictionary<UInt128, long> MeasureNzbs() => Exists ? BlobStore.MeasureNzbs(root) : [];

    /// <inheritdoc/>
    public FileStream? OpenBlob(string name) => DurableFolder.Read(
        // A name from a backup is untrusted and becomes part of a path.
        () => IsNzb(name) && File.Exists(PathOf(name)) ? files.OpenRead(PathOf(name)) : null,
        root);

    /// <summary>Splits the NZBs into parts by the number that their first two digits form. Returns the names in one part.</summary>
    public IEnumerable<string> List(int part, int parts) => DurableFolder.Read(
        () => Enumerable.Range(0, 1 << (4 * PrefixLength)).Where(prefix => prefix % parts == part)
            .Select(prefix => Path.Combine(root, prefix.ToString("x2", System.Globalization.CultureInfo.InvariantCulture))).Where(Directory.Exists)
            .SelectMany(Directory.EnumerateFiles).Select(path => Path.GetFileName(path)).Where(IsNzb).ToList(),
        root);

    /// <summary>Adds a copy, or replaces a damaged copy. It has its name, also on disk, after <see cref="Flush"/>.</summary>
    /// <param name="name">The file name, which starts with the hash.</param>
    /// <param name="from">The NZB in its stored form.</param>
    public void Put(string name, Stream from, CancellationToken cancellationToken)
    {
        var path = PathOf(name);
        var folder = Path.GetDirectoryName(path)!;
        if (_changed.Add(folder))
            PrivateFile.CreateFolder(folder);
        var temporary = path + DurableFolder.TemporarySuffix;
        files.Delete(temporary);
        files.CopyUnsynced(from, temporary, _piece, cancellationToken);
        _unsynced.Add(path);
        if (_unsynced.Count == BatchCount)
            NameSynced();
    }

    /// <summary>Flushes new copies and their names to disk.</summary>
    public void Flush()
    {
        NameSynced();
        foreach (var folder in _changed)
            files.SyncFolder(folder);
        if (_changed.Count > 0)
            files.SyncFolder(root);
        _changed.Clear();
    }

    // A copy gets its name once its content is on disk, so a name never stands for half a copy.
    private void NameSynced()
    {
        if (_unsynced.Count == 0)
            return;
        files.SyncFiles(root, [.. _unsynced.Select(path => path + DurableFolder.TemporarySuffix)]);
        foreach (var path in _unsynced)
        {
            files.Rename(path + DurableFolder.TemporarySuffix, path);
            Failpoint.Reach("second-nzb-named");
        }

        _unsynced.Clear();
    }

    /// <summary>Creates the pool, and removes unfinished copies left by a kill.</summary>
    public void Prepare()
    {
        _unsynced.Clear();
        PrivateFile.CreateFolder(root);
        foreach (var path in Files().Where(path => path.EndsWith(DurableFolder.TemporarySuffix, StringComparison.Ordinal)).ToList())
            files.Delete(path);
    }

    /// <summary>Deletes the NZBs that no backup needs. Returns how many were deleted.</summary>
    /// <param name="needed">Keys of the NZBs to keep.</param>
    public int DeleteExcept(IReadOnlySet<UInt128> needed)
    {
        var unneeded = Files().Where(path => IsNzb(Path.GetFileName(path)) && !needed.Contains(BlobStore.KeyOf(HashOf(Path.GetFileName(path))))).ToList();
        unneeded.ForEach(files.Delete);
        return unneeded.Count;
    }

    /// <summary>Returns the hash at the start of an NZB's file name.</summary>
    public static string HashOf(string name) => name[..^BlobStore.NzbSuffix.Length];

    /// <summary>Whether this is the file name of an NZB. Only such a name may become part of a path.</summary>
    public static bool IsNzb(string name) =>
        name.EndsWith(BlobStore.NzbSuffix, StringComparison.Ordinal) && BlobStore.KeyOf(HashOf(name)) != UInt128.Zero && HashOf(name).All(char.IsAsciiHexDigitLower);

    // Only folders with two-digit names, because all others belong to the operator.
    private IEnumerable<string> Files() => Directory.EnumerateDirectories(root)
        .Where(folder => Path.GetFileName(folder) is { Length: PrefixLength } prefix && prefix.All(char.IsAsciiHexDigitLower)).SelectMany(Directory.EnumerateFiles);

    private string PathOf(string name) => Path.Combine(root, name[..PrefixLength], name);
}
