namespace Sluice.Server.FamilyImport;

/// <summary>Kinds of entries in the old tree.</summary>
internal enum FamilyKind
{
    /// <summary>A folder or a root.</summary>
    Folder,

    /// <summary>A file posted as is, without an archive.</summary>
    Nzb,

    Rar,

    /// <summary>A file in several parts of any format.</summary>
    Multipart,
}

/// <summary>An entry of the old tree. Links contain its id. The parent is null for the root, or if unknown. The name may be empty.</summary>
internal sealed record FamilyItem(Guid Id, Guid? Parent, string Name, FamilyKind Kind)
{
    /// <summary>Length in bytes, as shown by the old server; null if unknown.</summary>
    public long? Length { get; init; }

    /// <summary>Full path; null if the old database does not store it.</summary>
    public string? Path { get; init; }

    /// <summary>The blob that describes the file; null if a table does.</summary>
    public Guid? Blob { get; init; }

    /// <summary>The blob that contains the NZB; null if there is none.</summary>
    public Guid? Nzb { get; init; }

    public DateTimeOffset At { get; init; }
}

internal sealed record FamilyHistory(Guid Id, string Name, string NzbName, string Category, DateTimeOffset At)
{
    public bool IsCompleted { get; init; }

    /// <summary>Whether a client removed the item from its history list.</summary>
    public bool IsArchived { get; init; }

    public long Bytes { get; init; }

    public TimeSpan Took { get; init; }

    /// <summary>The failure message; may be empty.</summary>
    public string Message { get; init; } = "";

    /// <summary>The release's folder; null if there is none.</summary>
    public Guid? Folder { get; init; }

    /// <summary>The blob that contains the NZB; null if there is none.</summary>
    public Guid? Nzb { get; init; }

    /// <summary>Whether the history table itself contains the NZB.</summary>
    public bool HasNzbText { get; init; }
}

/// <summary>An item of the old queue. Its NZB is in a table or a blob.</summary>
internal sealed record FamilyQueueItem(Guid Id, string Name, string NzbName, string Category, int Priority, DateTimeOffset At);

/// <summary>The old server's administrator. The password was hashed together with the salt appended to it.</summary>
internal sealed record FamilyLogin(string Name, string Hash, string Salt);

internal sealed record FamilySetting(string Key, string Value);

/// <summary>A range of a posted file. First the file's message-ids in order and its length in bytes, then offset and length of the range.</summary>
internal sealed record FamilyPart(IReadOnlyList<string> Ids, long PostedLength, long Offset, long Length)
{
    /// <summary>Segment lengths; null if the old server did not store them.</summary>
    public IReadOnlyList<long>? Segments { get; init; }
}

/// <summary>The ranges that make up a file, in order.</summary>
internal sealed record FamilyContent(IReadOnlyList<FamilyPart> Parts)
{
    /// <summary>Decryption parameters; null if the data is not encrypted. Secret.</summary>
    public FamilyCipher? Cipher { get; init; }

    /// <summary>Whether the old server had not read all volumes, so that the data's position is unknown.</summary>
    public bool IsUnfinished { get; init; }

    /// <summary>Volumes that the old server had not read, in order. Their ranges are unknown; their lengths are upper limits.</summary>
    public IReadOnlyList<FamilyPart> Pending { get; init; } = [];

    /// <summary>Whether the old server read volumes only on playback. The length of such a volume may be its total encoded bytes.</summary>
    public bool IsLazy { get; init; }

    /// <summary>The archive password; null if unknown. Secret.</summary>
    public string? Password { get; init; }
}

/// <summary>Decryption parameters of a file.</summary>
/// <param name="Key">16 or 32 bytes.</param>
/// <param name="Vector">Initialization vector of 16 bytes.</param>
/// <param name="Length">Plain length in bytes; 0 if unknown.</param>
internal sealed record FamilyCipher(byte[] Key, byte[] Vector, long Length);

/// <summary>Old data cannot be used. The message tells the user why.</summary>
internal sealed class FamilyFormatException(string reason, Exception? inner = null) : Exception(reason, inner);
