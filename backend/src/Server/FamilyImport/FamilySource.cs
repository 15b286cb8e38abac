using System.Globalization;
using System.IO.Compression;
using Sluice.Server.Database;

namespace Sluice.Server.FamilyImport;

/// <summary>How the old database keeps what files are made of.</summary>
internal enum FamilyShape
{
    /// <summary>JSON in columns.</summary>
    JsonColumns,

    /// <summary>Compressed JSON in columns.</summary>
    CompressedColumns,

    /// <summary>Files among its blobs.</summary>
    BlobFiles,
}

/// <summary>The data folder of a server of the family, read and never written: its tables in a copy, its blobs where they are.</summary>
/// <remarks>Not thread-safe. Owns the copy.</remarks>
internal sealed class FamilySource : IDisposable
{
    private readonly ForeignDatabase _database;
    private readonly string _blobs;

    private FamilySource(ForeignDatabase database, string blobs)
    {
        (_database, _blobs) = (database, blobs);
        Store = new FamilyStore(database.Connection);
    }

    /// <summary>The tables.</summary>
    public FamilyStore Store { get; }

    /// <summary>Where the old database is; null when the folder has none.</summary>
    public static string? Find(DataFolder folder) => Path.Combine(folder.Root, "db.sqlite") is var path && File.Exists(path) ? path : null;

    /// <summary>Copies the old database and opens the copy.</summary>
    /// <exception cref="ForeignDatabaseException">It is in use, damaged, or none of the family.</exception>
    /// <exception cref="StorageException">There is no room for the copy.</exception>
    public static async Task<FamilySource> OpenAsync(DataFolder folder, CancellationToken cancellationToken)
    {
        var database = await ForeignDatabase.CopyAsync(Find(folder)!, folder.Import, cancellationToken);
        var source = new FamilySource(database, folder.Blobs);
        if (source.Store.IsOfFamily)
            return source;
        source.Dispose();
        throw new ForeignDatabaseException("The file db.sqlite is no database of nzbdav or a relative.");
    }

    /// <summary>What a file is made of.</summary>
    /// <exception cref="FamilyFormatException">The old server does not say, or not in a form that can be read.</exception>
    public FamilyContent ReadContent(FamilyItem item)
    {
        if (item.Length is not ({ } length and > 0))
            throw new FamilyFormatException("the old database does not know how long it is");
        if (item.Blob is { } blob && TryOpen(blob) is { } file)
        {
            using (file)
                return FamilyBlobReader.Read(item.Kind, FamilyText.ReadBlob(file), length);
        }

        if (Store.FindContent(item.Kind, item.Id) is not { } text)
            throw new FamilyFormatException(item.Blob is null ? "the old database does not say what it is made of" : "the blob that says what it is made of is missing");
        return FamilyJsonReader.Read(item.Kind, FamilyText.Read(text), length, item.Kind == FamilyKind.Nzb ? Store.FindSegmentSizes(item.Id) : null);
    }

    /// <summary>The plain NZB of an item, or of a blob.</summary>
    /// <param name="blob">The blob that may hold it; null for none.</param>
    /// <param name="item">The item of queue or history whose row may hold it; null for none.</param>
    /// <returns>A stream that the caller disposes; null when there is none.</returns>
    /// <exception cref="FamilyFormatException">What is there cannot be read.</exception>
    public Stream? OpenNzb(Guid? blob, Guid? item)
    {
        if (blob is { } id && TryOpen(id) is { } file)
            return Unzipped(file);
        return item is { } row && Store.FindNzb(row) is { Length: > 0 } text ? new MemoryStream(FamilyText.Read(text), writable: false) : null;
    }

    /// <inheritdoc/>
    public void Dispose() => _database.Dispose();

    private static Stream Unzipped(FileStream file)
    {
        Span<byte> magic = stackalloc byte[2];
        var isZipped = file.ReadAtLeast(magic, 2, throwOnEndOfStream: false) == 2 && magic is [0x1F, 0x8B];
        file.Position = 0;
        return isZipped ? new GZipStream(file, CompressionMode.Decompress) : file;
    }

    private FileStream? TryOpen(Guid id)
    {
        var digits = id.ToString("N", CultureInfo.InvariantCulture);
        try
        {
            return new FileStream(Path.Combine(_blobs, digits[..2], digits[2..4], id.ToString("D", CultureInfo.InvariantCulture)), FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        }
        catch (Exception e) when (e is FileNotFoundException or DirectoryNotFoundException)
        {
            return null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new FamilyFormatException("its blob cannot be read", e);
        }
    }
}
