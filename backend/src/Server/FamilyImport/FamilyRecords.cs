namespace Sluice.Server.FamilyImport;

/// <summary>What an entry of the old tree is.</summary>
internal enum FamilyKind
{
    /// <summary>A folder, or a root.</summary>
    Folder,

    /// <summary>A file that was posted as it is.</summary>
    Nzb,

    /// <summary>A file in RAR volumes.</summary>
    Rar,

    /// <summary>A file of several parts, of any format.</summary>
    Multipart,
}

/// <summary>An entry of the old tree.</summary>
/// <param name="Id">Its id, which links to it hold.</param>
/// <param name="Parent">The folder that it lies in; null for the root, and where it is not known.</param>
/// <param name="Name">Its name, which may be empty.</param>
/// <param name="Kind">What it is.</param>
internal sealed record FamilyItem(Guid Id, Guid? Parent, string Name, FamilyKind Kind)
{
    /// <summary>Length in bytes as the old server shows it; null where it has none.</summary>
    public long? Length { get; init; }

    /// <summary>Its whole path, where the old database keeps it.</summary>
    public string? Path { get; init; }

    /// <summary>The file among the old blobs that says what it is made of; null where a table does.</summary>
    public Guid? Blob { get; init; }

    /// <summary>The file among the old blobs that holds its NZB; null for none.</summary>
    public Guid? Nzb { get; init; }

    /// <summary>When it was made.</summary>
    public DateTimeOffset At { get; init; }
}

/// <summary>An item of the old history.</summary>
internal sealed record FamilyHistory(Guid Id, string Name, string NzbName, string Category, DateTimeOffset At)
{
    /// <summary>Whether a release came of it.</summary>
    public bool IsCompleted { get; init; }

    /// <summary>Whether a client has removed it from the list.</summary>
    public bool IsArchived { get; init; }

    /// <summary>Size of the post in bytes.</summary>
    public long Bytes { get; init; }

    /// <summary>How long the import took.</summary>
    public TimeSpan Took { get; init; }

    /// <summary>Why it failed; empty for none.</summary>
    public string Message { get; init; } = "";

    /// <summary>The folder of its release; null for none.</summary>
    public Guid? Folder { get; init; }

    /// <summary>The file among the old blobs that holds its NZB; null for none.</summary>
    public Guid? Nzb { get; init; }

    /// <summary>Whether the table itself holds its NZB.</summary>
    public bool HasNzbText { get; init; }
}

/// <summary>An item of the old queue, whose NZB lies in a table or among the blobs.</summary>
internal sealed record FamilyQueueItem(Guid Id, string Name, string NzbName, string Category, int Priority, DateTimeOffset At);

/// <summary>The administrator of the old server.</summary>
/// <param name="Name">The name.</param>
/// <param name="Hash">Password and salt, hashed.</param>
/// <param name="Salt">What stands behind the password before it is hashed.</param>
internal sealed record FamilyLogin(string Name, string Hash, string Salt);

/// <summary>A saved value of the old server.</summary>
internal sealed record FamilySetting(string Key, string Value);

/// <summary>A stretch of one posted file.</summary>
/// <param name="Ids">The message-ids of the whole posted file, in order.</param>
/// <param name="PostedLength">Its length in bytes.</param>
/// <param name="Offset">Where the stretch begins.</param>
/// <param name="Length">How long it is.</param>
internal sealed record FamilyPart(IReadOnlyList<string> Ids, long PostedLength, long Offset, long Length)
{
    /// <summary>The lengths of its segments, where the old server has noted them; null where it has not.</summary>
    public IReadOnlyList<long>? Segments { get; init; }
}

/// <summary>What a file is made of.</summary>
/// <param name="Parts">The stretches, in order.</param>
internal sealed record FamilyContent(IReadOnlyList<FamilyPart> Parts)
{
    /// <summary>Key and vector of what is encrypted; null for none. Secret.</summary>
    public FamilyCipher? Cipher { get; init; }

    /// <summary>Whether the old server had not looked into all volumes yet, so that it is not known where its data lies in them.</summary>
    public bool IsUnfinished { get; init; }
}

/// <summary>What decrypts a file.</summary>
/// <param name="Key">16 or 32 bytes.</param>
/// <param name="Vector">16 bytes.</param>
/// <param name="Length">Length of the plain file in bytes; 0 where it is not noted.</param>
internal sealed record FamilyCipher(byte[] Key, byte[] Vector, long Length);

/// <summary>Something of the old server cannot be used; the message says why, for people.</summary>
internal sealed class FamilyFormatException(string reason, Exception? inner = null) : Exception(reason, inner);
