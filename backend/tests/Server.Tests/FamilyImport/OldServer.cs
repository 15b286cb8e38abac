using System.Buffers.Binary;
using System.Globalization;
using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.Data.Sqlite;
using SharpCompress.Compressors.ZStandard;
using Sluice.Server.Tests.Database;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>The three formats in which servers of the family store the parts of files.</summary>
public enum OldShape
{
    Json,
    Compressed,
    Blobs,
}

/// <summary>
/// Writes the data folder of an old nzbdav server: tables as its migrations create them, columns and blobs as its serializers write them.
/// </summary>
internal sealed class OldServer : IDisposable
{
    public const string User = "old-admin";
    public const string Password = "old-password-of-the-test";
    public const string ApiKey = "00112233445566778899aabbccddeeff";
    public const string StrmKey = "ffeeddccbbaa99887766554433221100";
    public const string Mount = "/mnt/old";

    private const string Salt = "a1b2c3d4";

    private static readonly Guid Content = new("00000000-0000-0000-0000-000000000002");

    private static readonly string[] Tables =
    [
        """CREATE TABLE "ConfigItems" ("ConfigName" TEXT NOT NULL CONSTRAINT "PK_ConfigItems" PRIMARY KEY, "ConfigValue" TEXT NOT NULL)""",
        """CREATE TABLE "Accounts" ("Type" INTEGER NOT NULL, "Username" TEXT NOT NULL, "PasswordHash" TEXT NOT NULL, "RandomSalt" TEXT NOT NULL, PRIMARY KEY ("Type", "Username"))""",
        """CREATE TABLE "DavNzbFiles" ("Id" TEXT NOT NULL PRIMARY KEY, "SegmentIds" TEXT NOT NULL{0})""",
        """CREATE TABLE "DavRarFiles" ("Id" TEXT NOT NULL PRIMARY KEY, "RarParts" TEXT NOT NULL)""",
        """CREATE TABLE "DavMultipartFiles" ("Id" TEXT NOT NULL PRIMARY KEY, "Metadata" TEXT NOT NULL)""",
        """CREATE TABLE "DavItems" ("Id" TEXT NOT NULL PRIMARY KEY, "IdPrefix" TEXT NOT NULL DEFAULT '', "CreatedAt" TEXT NOT NULL DEFAULT '0001-01-01 00:00:00', "ParentId" TEXT NULL, "Name" TEXT NOT NULL, "FileSize" INTEGER NULL, "Type" INTEGER NOT NULL{1})""",
        """CREATE TABLE "HistoryItems" ("Id" TEXT NOT NULL PRIMARY KEY, "CreatedAt" TEXT NOT NULL, "FileName" TEXT NOT NULL, "JobName" TEXT NOT NULL, "Category" TEXT NOT NULL, "DownloadStatus" INTEGER NOT NULL, "TotalSegmentBytes" INTEGER NOT NULL, "DownloadTimeSeconds" INTEGER NOT NULL, "FailMessage" TEXT NULL, "DownloadDirId" TEXT NULL{2})""",
        """CREATE TABLE "QueueItems" ("Id" TEXT NOT NULL PRIMARY KEY, "CreatedAt" TEXT NOT NULL, "FileName" TEXT NOT NULL, "JobName" TEXT NOT NULL, "NzbFileSize" INTEGER NOT NULL, "TotalSegmentBytes" INTEGER NOT NULL, "Category" TEXT NOT NULL, "Priority" INTEGER NOT NULL, "PostProcessing" INTEGER NOT NULL, "PauseUntil" TEXT NULL)""",
        """CREATE TABLE "QueueNzbContents" ("Id" TEXT NOT NULL PRIMARY KEY, "NzbContents" TEXT NOT NULL)""",
    ];

    private readonly OldShape _shape;
    private readonly TemporaryFolder _folder;
    private readonly DirectoryInfo _scratch = Directory.CreateTempSubdirectory("sluice-old-");
    private readonly SqliteConnection _connection;
    private DateTime _now = new(2026, 1, 1, 8, 0, 0, DateTimeKind.Local);

    public OldServer(OldShape shape, TemporaryFolder folder)
    {
        (_shape, _folder) = (shape, folder);
        _connection = new SqliteConnection($"Data Source={Path.Combine(_scratch.FullName, "db.sqlite")};Pooling=False");
        _connection.Open();
        Run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;");
        var columns = shape switch
        {
            OldShape.Json => ("", "", ""),
            OldShape.Compressed => (", \"SegmentSizes\" BLOB NULL, \"SegmentFallbacks\" TEXT NULL", ", \"Path\" TEXT NOT NULL DEFAULT ''", ", \"IsHidden\" INTEGER NOT NULL DEFAULT 0, \"NzbContents\" TEXT NULL"),
            _ => ("", ", \"SubType\" INTEGER NOT NULL DEFAULT 0, \"Path\" TEXT NOT NULL DEFAULT '', \"HistoryItemId\" TEXT NULL, \"FileBlobId\" TEXT NULL, \"NzbBlobId\" TEXT NULL", ", \"NzbBlobId\" TEXT NULL"),
        };
        foreach (var table in Tables)
            Run(string.Format(CultureInfo.InvariantCulture, table, columns.Item1, columns.Item2, columns.Item3));
        AddFolder(Guid.Empty, null, "/");
        AddFolder(Content, Guid.Empty, "content");
        AddFolder(new("00000000-0000-0000-0000-000000000001"), Guid.Empty, "nzbs");
        foreach (var category in (string[])["movies", "tv"])
            AddFolder(CategoryId(category), Content, category);
    }

    public static Guid CategoryId(string category) => new(SHA256.HashData(Encoding.UTF8.GetBytes(category)).AsSpan(0, 16));

    /// <summary>Adds a release with its files and its completed item.</summary>
    public void Add(OldReleaseRow release)
    {
        AddFolder(release.Folder, CategoryId(release.Category), release.Name);
        AddHistory(release.Item, release.Name, release.Category, 1, null, release.Folder, release.Nzb);
        foreach (var file in release.Files)
        {
            var parent = release.Folder;
            var names = file.Name.Split('/');
            foreach (var name in names[..^1])
            {
                var inner = new Guid(SHA256.HashData([.. parent.ToByteArray(), .. Encoding.UTF8.GetBytes(name)]).AsSpan(0, 16));
                AddFolder(inner, parent, name);
                parent = inner;
            }

            AddFile(file with { Name = names[^1] }, parent, file.Truth.Length, $"/content/{release.Category}/{release.Name}/{file.Name}", _shape == OldShape.Blobs ? release.Item : null);
        }
    }

    public void AddFile(OldFile file, Guid? parent, long? length, string path, Guid? nzb, Func<byte[], byte[]>? damage = null, bool isMissing = false)
    {
        var blob = Guid.NewGuid();
        var old = file.Kind switch { 201 => 3, 202 => 4, _ => 6 };
        if (_shape == OldShape.Blobs)
        {
            Run(
                "INSERT INTO DavItems (Id, IdPrefix, CreatedAt, ParentId, Name, FileSize, Type, SubType, Path, FileBlobId, NzbBlobId) VALUES (@p0, @p1, @p2, @p3, @p4, @p5, 2, @p6, @p7, @p8, @p9)",
                Id(file.Id), file.Id.ToString()[..5], Time(), Id(parent), file.Name, length, file.Kind, path, Id(blob), Id(nzb));
            if (!isMissing)
                WriteBlob(blob, (damage ?? (bytes => bytes))(Zstd(Blob(file))));
            return;
        }

        Run("INSERT INTO DavItems (Id, IdPrefix, CreatedAt, ParentId, Name, FileSize, Type) VALUES (@p0, @p1, @p2, @p3, @p4, @p5, @p6)",
            Id(file.Id), file.Id.ToString()[..5], Time(), Id(parent), file.Name, length, old);
        if (_shape == OldShape.Compressed)
            Run("UPDATE DavItems SET Path = @p0 WHERE Id = @p1", path, Id(file.Id));
        if (isMissing)
            return;
        var value = Encoding.UTF8.GetBytes(Json(file).ToJsonString());
        var text = _shape == OldShape.Json ? Encoding.UTF8.GetString((damage ?? (bytes => bytes))(value)) : Column(value, file.Id, damage);
        Run(
            file.Kind switch
            {
                201 => "INSERT INTO DavNzbFiles (Id, SegmentIds) VALUES (@p0, @p1)",
                202 => "INSERT INTO DavRarFiles (Id, RarParts) VALUES (@p0, @p1)",
                _ => "INSERT INTO DavMultipartFiles (Id, Metadata) VALUES (@p0, @p1)",
            },
            Id(file.Id), text);
    }

    public void AddHistory(Guid id, string name, string category, int status, string? message, Guid? folder, byte[]? nzb)
    {
        Run("INSERT INTO HistoryItems VALUES (@p0, @p1, @p2, @p3, @p4, @p5, 1000, 3, @p6, @p7" + (_shape switch { OldShape.Json => ")", OldShape.Compressed => ", 0, @p8)", _ => ", @p8)" }),
            Id(id), Time(), name + ".nzb", name, category, status, message, Id(folder),
            nzb is null ? null : _shape == OldShape.Compressed ? Column(nzb, id, null) : Id(id));
        if (nzb is not null && _shape == OldShape.Blobs)
            WriteBlob(id, nzb);
    }

    public void AddQueue(Guid id, string name, string category, int priority, byte[]? nzb)
    {
        Run("INSERT INTO QueueItems VALUES (@p0, @p1, @p2, @p3, 10, 1000, @p4, @p5, -1, NULL)", Id(id), Time(), name + ".nzb", name, category, priority);
        if (nzb is null)
            return;
        if (_shape == OldShape.Blobs)
            WriteBlob(id, nzb);
        else
            Run("INSERT INTO QueueNzbContents VALUES (@p0, @p1)", Id(id), _shape == OldShape.Json ? Encoding.UTF8.GetString(nzb) : Column(nzb, id, null));
    }

    public void AddSetting(string key, string value) => Run("INSERT INTO ConfigItems VALUES (@p0, @p1)", key, value);

    public void AddLogin() => Run("INSERT INTO Accounts VALUES (1, @p0, @p1, @p2)", User, Identity(Password + Salt), Salt);

    public void Run(string sql, params object?[] values)
    {
        using var command = _connection.CreateCommand();
        command.CommandText = sql;
        for (var i = 0; i < values.Length; i++)
            command.Parameters.AddWithValue($"@p{i}", values[i] ?? DBNull.Value);
        command.ExecuteNonQuery();
    }

    public long Count(string sql)
    {
        using var command = _connection.CreateCommand();
        command.CommandText = sql;
        return (long)command.ExecuteScalar()!;
    }

    /// <summary>Copies the database into the data folder as during a run of its server, with most of it in the write-ahead log.</summary>
    public void Leave()
    {
        foreach (var name in (string[])["db.sqlite", "db.sqlite-wal"])
            File.Copy(Path.Combine(_scratch.FullName, name), Path.Combine(_folder.Root, name));
    }

    /// <summary>Returns all files of the old server, each with its time and a hash of its bytes.</summary>
    public IReadOnlyList<string> Look() =>
    [
        .. Directory.EnumerateFiles(_folder.Root, "db.sqlite*").Concat(Directory.EnumerateDirectories(_folder.Folder.Blobs).SelectMany(folder => Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories)))
            .Order(StringComparer.Ordinal).Select(file => $"{file} {File.GetLastWriteTimeUtc(file).Ticks} {new FileInfo(file).UnixFileMode} {Convert.ToHexString(SHA256.HashData(File.ReadAllBytes(file)))}"),
    ];

    /// <summary>Hashes a password like ASP.NET Identity.</summary>
    public static string Identity(string password)
    {
        var (bytes, salt) = (new byte[13 + 16 + 32], RandomNumberGenerator.GetBytes(16));
        bytes[0] = 1;
        BinaryPrimitives.WriteUInt32BigEndian(bytes.AsSpan(1), 2);
        BinaryPrimitives.WriteUInt32BigEndian(bytes.AsSpan(5), 1000);
        BinaryPrimitives.WriteUInt32BigEndian(bytes.AsSpan(9), 16);
        salt.CopyTo(bytes, 13);
        Rfc2898DeriveBytes.Pbkdf2(Encoding.UTF8.GetBytes(password), salt, 1000, HashAlgorithmName.SHA512, 32).CopyTo(bytes, 29);
        return Convert.ToBase64String(bytes);
    }

    public void Dispose()
    {
        _connection.Dispose();
        _scratch.Delete(recursive: true);
    }

    private void AddFolder(Guid id, Guid? parent, string name) =>
        Run(
            _shape == OldShape.Blobs
                ? "INSERT OR IGNORE INTO DavItems (Id, CreatedAt, ParentId, Name, Type, SubType, Path) VALUES (@p0, @p1, @p2, @p3, 1, 101, '')"
                : "INSERT OR IGNORE INTO DavItems (Id, CreatedAt, ParentId, Name, Type) VALUES (@p0, @p1, @p2, @p3, 1)",
            Id(id), Time(), Id(parent), name);

    private string Time()
    {
        _now = _now.AddSeconds(1);
        return _now.ToString("yyyy-MM-dd HH:mm:ss.fffffff", CultureInfo.InvariantCulture);
    }

    private static string? Id(Guid? id) => id?.ToString("D").ToUpperInvariant();

    private void WriteBlob(Guid id, byte[] bytes)
    {
        var folder = Directory.CreateDirectory(Path.Combine(_folder.Folder.Blobs, id.ToString("N")[..2], id.ToString("N")[2..4]));
        File.WriteAllBytes(Path.Combine(folder.FullName, id.ToString("D")), bytes);
    }

    // One fork writes Zstandard, another one writes Brotli.
    private static string Column(byte[] plain, Guid id, Func<byte[], byte[]>? damage)
    {
        damage ??= bytes => bytes;
        if (id.ToByteArray()[0] % 2 == 0)
            return "ZSTD:" + Convert.ToBase64String(damage(Zstd(plain)));
        var packed = new MemoryStream();
        using (var brotli = new BrotliStream(packed, CompressionLevel.Fastest, leaveOpen: true))
            brotli.Write(plain);
        return Convert.ToBase64String(damage(packed.ToArray()));
    }

    private static byte[] Zstd(byte[] plain)
    {
        var packed = new MemoryStream();
        using (var zstd = new CompressionStream(packed, 1, 0, leaveOpen: true))
            zstd.Write(plain);
        return packed.ToArray();
    }

    public static JsonNode Json(OldFile file)
    {
        JsonArray Ids(OldPart part) => [.. part.Ids.Select(id => (JsonNode)id)];
        JsonObject Range(long from, long to) => new() { ["StartInclusive"] = from, ["EndExclusive"] = to, ["Count"] = to - from };
        return file.Kind switch
        {
            201 => Ids(file.Parts[0]),
            202 => new JsonArray([.. file.Parts.Select(part => (JsonNode)new JsonObject
            {
                ["SegmentIds"] = Ids(part), ["PartSize"] = part.Posted, ["Offset"] = part.Offset, ["ByteCount"] = part.Length,
            })]),
            _ => new JsonObject
            {
                ["AesParams"] = file.Cipher is { } cipher
                    ? new JsonObject { ["DecodedSize"] = file.Truth.Length, ["Iv"] = Convert.ToBase64String(cipher.Iv.Span), ["Key"] = Convert.ToBase64String(cipher.Key.Span) }
                    : null,
                ["FileParts"] = new JsonArray([.. ResolvedOf(file).Select(part => (JsonNode)new JsonObject
                {
                    ["SegmentIds"] = Ids(part), ["SegmentIdByteRange"] = Range(0, part.Posted), ["FilePartByteRange"] = Range(part.Offset, part.Offset + part.Length),
                })]),
                ["IsLazy"] = file.Resolved < file.Parts.Length,
                ["PathInArchive"] = file.Resolved is null ? null : file.Name,
                ["ArchivePassword"] = file.Password,
                ["PendingParts"] = new JsonArray([.. PendingOf(file).Select(part => (JsonNode)new JsonObject
                {
                    ["SegmentIds"] = Ids(part), ["SegmentIdByteRange"] = Range(0, part.Encoded), ["EstimatedDataSize"] = part.Length, ["SegmentFallbackIds"] = null,
                })]),
            },
        };
    }

    /// <summary>
    /// Returns the volumes that the old server has read. Lazy reading measures the first one and uses the encoded bytes of the others as lengths.
    /// </summary>
    private static OldPart[] ResolvedOf(OldFile file) =>
        file.Resolved is not { } resolved ? file.Parts : [.. file.Parts.Take(resolved).Select((part, i) => i == 0 ? part : part with { Posted = part.Encoded })];

    private static OldPart[] PendingOf(OldFile file) => [.. file.Parts.Skip(file.Resolved ?? file.Parts.Length)];

    /// <summary>Serializes the file in the version-tolerant format of MemoryPack.</summary>
    public static byte[] Blob(OldFile file)
    {
        var id = file.Id.ToByteArray();
        return file.Kind switch
        {
            201 => Members(id, Texts(file.Parts[0].Ids)),
            202 => Members(id, List(file.Parts.Select(part => Members(Texts(part.Ids), Number(part.Posted), Number(part.Offset), Number(part.Length))))),
            _ => Members(id, Members(
                file.Cipher is { } cipher ? Members(Number(file.Truth.Length), Bytes(cipher.Iv.ToArray()), Bytes(cipher.Key.ToArray())) : [255],
                List(ResolvedOf(file).Select(part => Members(
                    Texts(part.Ids), Members(Number(0), Number(part.Posted)), Members(Number(part.Offset), Number(part.Offset + part.Length)), Absent, Absent))),
                [file.Resolved < file.Parts.Length ? (byte)1 : (byte)0],
                file.Resolved is null ? Absent : Text(file.Name),
                file.Password is null ? Absent : Text(file.Password),
                List(PendingOf(file).Select(part => Members(Texts(part.Ids), Members(Number(0), Number(part.Encoded)), Number(part.Length), Absent))))),
        };
    }

    // A null array or string.
    private static byte[] Absent => BitConverter.GetBytes(-1);

    private static byte[] Members(params byte[][] members)
    {
        var whole = new List<byte> { (byte)members.Length };
        foreach (var member in members)
        {
            if (member.Length <= 127)
                whole.Add((byte)member.Length);
            else if (member.Length <= short.MaxValue)
                whole.AddRange([unchecked((byte)-124), .. BitConverter.GetBytes((short)member.Length)]);
            else
                whole.AddRange([unchecked((byte)-126), .. BitConverter.GetBytes(member.Length)]);
        }

        return [.. whole, .. members.SelectMany(member => member)];
    }

    private static byte[] Number(long number) => BitConverter.GetBytes(number);

    private static byte[] Bytes(byte[] bytes) => [.. BitConverter.GetBytes(bytes.Length), .. bytes];

    private static byte[] List(IEnumerable<byte[]> items)
    {
        byte[][] all = [.. items];
        return [.. BitConverter.GetBytes(all.Length), .. all.SelectMany(item => item)];
    }

    private static byte[] Texts(string[] texts) => List(texts.Select(Text));

    private static byte[] Text(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        return [.. BitConverter.GetBytes(~bytes.Length), .. BitConverter.GetBytes(text.Length), .. bytes];
    }
}
