using System.Globalization;
using System.IO.Compression;
using Sluice.Server.Database;

namespace Sluice.Server.FamilyImport;

/// <summary>How the old database stores file descriptions.</summary>
internal enum FamilyShape
{
    JsonColumns,

    CompressedColumns,

    BlobFiles,
}

/// <summary>The data folder of an old server. It is never written to: tables are read from a copy, blobs in place.</summary>
/// <remarks>Not thread-safe. Owns the copy of the database.</remarks>
internal sealed class FamilySource : IDisposable
{
    private readonly ForeignDatabase _database;
    private readonly string _blobs;

    private FamilySource(ForeignDatabase database, string blobs)
    {
        (_database, _blobs) = (database, blobs);
        Store = new FamilyStore(database.Connection);
    }

    public FamilyStore Store { get; }

    /// <summary>Returns the path of the old database; null if there is none.</summary>
    public static string? Find(DataFolder folder) => Path.Combine(folder.Root, "db.sqlite") is var path && File.Exists(path) ? path : null;

    /// <summary>Whether the folder belongs to an old server whose main database is elsewhere.</summary>
    public static bool IsOnPostgres(DataFolder folder) => Find(folder) is null && File.Exists(Path.Combine(folder.Root, "metrics.sqlite")) && File.Exists(Path.Combine(folder.Root, "warden.db"));

    /// <summary>Copies the old database and opens the copy.</summary>
    /// <exception cref="ForeignDatabaseException">The database is in use, damaged, or made by another program.</exception>
    /// <exception cref="StorageException">The disk has no space for the copy.</exception>
    public static async Task<FamilySource> OpenAsync(DataFolder folder, CancellationToken cancellationToken)
    {
        var database = await ForeignDatabase.CopyAsync(Find(folder)!, folder.Import, cancellationToken);
        var source = new FamilySource(database, folder.Blobs);
        if (source.Store.IsOfFamily)
            return source;
        source.Dispose();
        throw new ForeignDatabaseException("The file db.sqlite is no database of nzbdav or a relative.");
    }

    /// <summary>Reads the description of a file.</summary>
    /// <exception cref="FamilyFormatException">The description is missing or unreadable.</exception>
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

    /// <summary>Opens the plain NZB from a blob or a row; null if it is in neither. The caller disposes the stream.</summary>
    /// <exception cref="FamilyFormatException">The NZB is unreadable.</exception>
    public Stream? OpenNzb(Guid? blob, Guid? item)
    {
        if (blob is { } id && TryOpen(id) is { } file)
            return Unzipped(file);
        return item is { } row && Store.FindNzb(row) is { Length: > 0 } text ? new MemoryStream(FamilyText.Read(text), writable: false) : null;
    }

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
