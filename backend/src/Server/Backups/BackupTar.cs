using System.Formats.Tar;
using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// A backup with its NZBs as one tar file (OPS-8), which unpacks to the layout of a second folder: the backup's folder, and <c>blobs/ab/</c>. The order and all
/// headers depend only on the backup, so two downloads contain the same bytes.
/// </summary>
internal sealed class BackupTar
{
    private const string Blobs = "blobs/";
    private const int Block = 512;

    // Two empty blocks.
    private const int EndBytes = 2 * Block;

    private const UnixFileMode Private = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private readonly Backup _backup;
    private readonly IBlobSource _blobs;
    private readonly List<(string Name, long Bytes)> _files = [];

    private BackupTar(Backup backup, IBlobSource blobs) => (_backup, _blobs) = (backup, blobs);

    /// <summary>Length of the file in bytes.</summary>
    public long Length => EndBytes + _files.Sum(file => Block + ((file.Bytes + Block - 1) / Block * Block));

    /// <summary>Lists the files of a backup without reading them. Blocks the calling thread.</summary>
    /// <exception cref="IOException">A file cannot be read.</exception>
    public static BackupTar Of(Backup backup, IBlobSource blobs, IEnumerable<BlobReference> references)
    {
        var tar = new BackupTar(backup, blobs);
        foreach (var name in backup.FileNames)
            tar._files.Add(($"{backup.Id}/{name}", new FileInfo(Path.Combine(backup.Path, name)).Length));
        using var copy = DatabaseCopy.Open(Path.Combine(backup.Path, BackupFolder.DatabaseName));
        var lengths = blobs.MeasureNzbs();
        foreach (var hash in new SortedSet<string>(copy.HashesOf(references.Where(reference => reference.IsNzb)), StringComparer.Ordinal))
        {
            // Skip NZBs that are not stored. The backup records them as lost.
            if (lengths.TryGetValue(BlobStore.KeyOf(hash), out var bytes))
                tar._files.Add((NameOf(hash), bytes));
        }

        return tar;
    }

    /// <summary>Writes the tar file and leaves the stream open.</summary>
    /// <exception cref="IOException">A file no longer exists, or its length has changed. The part written so far is useless.</exception>
    public async Task WriteAsync(Stream to, CancellationToken cancellationToken)
    {
        await using var writer = new TarWriter(to, TarEntryFormat.Ustar, leaveOpen: true);
        foreach (var (name, bytes) in _files)
        {
            await using var file = Open(name);
            if (file is null || file.Length != bytes)
                throw new IOException($"{name} has changed");
            await writer.WriteEntryAsync(
                new UstarTarEntry(TarEntryType.RegularFile, name) { DataStream = file, Mode = Private, ModificationTime = _backup.Manifest.At }, cancellationToken);
        }
    }

    /// <summary>Unpacks a tar file into a folder. Returns the folder of the backup inside; null if there is none.</summary>
    /// <param name="to">An existing, empty folder.</param>
    /// <exception cref="IOException">The file cannot be read, or the folder cannot be written.</exception>
    public static async Task<string?> UnpackAsync(string path, string to, CancellationToken cancellationToken)
    {
        string? found = null;
        try
        {
            await using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read, 1 << 16, FileOptions.SequentialScan | FileOptions.Asynchronous);
            await using var reader = new TarReader(file);
            while (await reader.GetNextEntryAsync(copyData: false, cancellationToken) is { } entry)
            {
                // The names come from an untrusted file, so only expected names become paths.
                if (entry.DataStream is not { } content || entry.Name.Split('/') is not [var folder, .., var name] parts || !IsExpected(parts))
                    continue;
                if (BackupFolder.IsName(folder))
                    found = Path.Combine(to, folder);
                var target = Path.Combine([to, .. parts]);
                PrivateFile.CreateFolder(Path.GetDirectoryName(target)!);
                await using var unpacked = PrivateFile.Create(target);
                await content.CopyToAsync(unpacked, cancellationToken);
            }
        }
        catch (Exception e) when (e is InvalidDataException or EndOfStreamException or FormatException)
        {
            return null;
        }

        return found;
    }

    private static bool IsExpected(string[] parts) => parts is [var folder, var part]
        ? BackupFolder.IsName(folder) && part is BackupFolder.DatabaseName or BackupKeys.FileName or BackupManifest.FileName or SealedKey.FileName
        : parts is ["blobs", { Length: 2 } prefix, var nzb] && nzb.StartsWith(prefix, StringComparison.Ordinal) && BlobPool.IsNzb(nzb);

    private static string NameOf(string hash) => $"{Blobs}{hash[..2]}/{hash}{BlobStore.NzbSuffix}";

    private FileStream? Open(string name) => name.StartsWith(Blobs, StringComparison.Ordinal)
        ? _blobs.OpenBlob(name[(name.LastIndexOf('/') + 1)..])
        : new FileStream(Path.Combine(_backup.Path, Path.GetFileName(name)), FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete);
}
