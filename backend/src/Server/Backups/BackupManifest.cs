using System.Security.Cryptography;
using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>Why a backup was created. Each kind has its own retention (OPS-6).</summary>
internal enum BackupKind
{
    /// <summary>Scheduled.</summary>
    Daily,

    /// <summary>Requested by a user.</summary>
    Manual,
}

/// <summary>The content of <c>manifest.json</c>: the facts against which a backup is verified (OPS-1).</summary>
/// <param name="Id">Name of the folder.</param>
/// <param name="Kind">Why the backup was created.</param>
/// <param name="At">When the database was in this state.</param>
/// <param name="ProgramVersion">Version of the program that created the backup.</param>
/// <param name="Schema">Number of the database's last migration.</param>
/// <param name="Instance">Id of the installation.</param>
/// <param name="Generation">Identifies the NZBs that belong to the database, and the number of its last startup.</param>
/// <param name="Numbers">The highest row numbers in the database.</param>
/// <param name="Sha256">Hash of the database, in lowercase hex.</param>
/// <param name="KeysSha256">Hash of <c>blobs.keys</c>.</param>
/// <param name="Bytes">Length of the database.</param>
/// <param name="Rows">Number of rows in each table.</param>
/// <param name="Blobs">Number of stored NZBs that the database references.</param>
/// <param name="BlobBytes">Size of these NZBs on disk, in bytes.</param>
internal sealed record BackupManifest(
    string Id,
    BackupKind Kind,
    DateTimeOffset At,
    string ProgramVersion,
    int Schema,
    string Instance,
    BlobGeneration? Generation,
    RowNumbers Numbers,
    string Sha256,
    string KeysSha256,
    long Bytes,
    IReadOnlyDictionary<string, long> Rows,
    long Blobs,
    long BlobBytes)
{
    public const string FileName = "manifest.json";

    // A manifest takes about 2 KiB. The limit keeps a damaged length from exhausting memory.
    private const int MaxBytes = 1 << 20;

    /// <summary>The last time when the database was found unchanged since <see cref="At"/>.</summary>
    public DateTimeOffset StillTrueAt { get; init; }

    /// <summary>Length and write time of the database file and its log at that time, which change with every write.</summary>
    public string Mark { get; init; } = "";

    /// <summary>Hash of <c>key.sealed</c>; null if the backup has no key.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? SealedKeySha256 { get; init; }

    /// <summary>Hash of the other fields, so that damage to any of them is detected.</summary>
    public string Seal { get; init; } = "";

    /// <summary>Durably writes or replaces a backup's manifest.</summary>
    public void Write(string folder) => PrivateFile.Replace(Path.Combine(folder, FileName), ToBytes());

    /// <summary>Reads a backup's manifest. Returns null if it is missing, damaged, or in an unknown format.</summary>
    /// <exception cref="StorageException">The file cannot be read.</exception>
    public static BackupManifest? Read(string folder)
    {
        var path = Path.Combine(folder, FileName);
        try
        {
            return DurableFolder.Read(() => new FileInfo(path) is { Exists: true, Length: <= MaxBytes } ? Parse(File.ReadAllBytes(path)) : null, path);
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    /// <summary>Parses a manifest. Returns null unless its bytes are exactly those that <see cref="Write"/> would produce.</summary>
    public static BackupManifest? Parse(ReadOnlySpan<byte> bytes)
    {
        try
        {
            return JsonSerializer.Deserialize(bytes, BackupsJson.Default.BackupManifest) is { } manifest && bytes.SequenceEqual(manifest.ToBytes()) ? manifest : null;
        }
        catch (JsonException)
        {
            return null;
        }
    }

    private byte[] ToBytes()
    {
        var open = JsonSerializer.SerializeToUtf8Bytes(this with { Seal = "" }, BackupsJson.Default.BackupManifest);
        return JsonSerializer.SerializeToUtf8Bytes(this with { Seal = Convert.ToHexStringLower(SHA256.HashData(open)) }, BackupsJson.Default.BackupManifest);
    }
}

/// <summary>Build-time JSON serializers for the types of this folder.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, WriteIndented = true, RespectRequiredConstructorParameters = true, RespectNullableAnnotations = true, UseStringEnumConverter = true)]
[JsonSerializable(typeof(BackupManifest))]
[JsonSerializable(typeof(RestoreWish))]
[JsonSerializable(typeof(SealedKey))]
[JsonSerializable(typeof(SecondFolderNote))]
internal sealed partial class BackupsJson : JsonSerializerContext;
