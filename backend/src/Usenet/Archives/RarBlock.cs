namespace Sluice.Usenet.Archives;

/// <summary>The kind of a RAR header, for both formats.</summary>
internal enum RarBlockKind
{
    /// <summary>The main header: <see cref="RarBlock.Archive"/>.</summary>
    Main,

    /// <summary>A file, folder or link: <see cref="RarBlock.Part"/>.</summary>
    File,

    /// <summary>RAR 5: all further headers are encrypted: <see cref="RarBlock.Encryption"/>.</summary>
    Encryption,

    /// <summary>The end of the volume: <see cref="RarBlock.Continues"/>, <see cref="RarBlock.Number"/>.</summary>
    End,

    /// <summary>A comment, recovery record, quick-open list, signature or similar; skipped with its data (IMP-59).</summary>
    Other,
}

/// <summary>One parsed RAR header, without its position.</summary>
internal sealed record RarBlock(RarBlockKind Kind)
{
    /// <summary>Length in bytes of the data after the header.</summary>
    public long DataLength { get; init; }

    public RarArchiveFlags Archive { get; init; }

    /// <summary>The volume number; null if this header does not state it.</summary>
    public int? Number { get; init; }

    /// <summary>Whether the end header announces another volume.</summary>
    public bool Continues { get; init; }

    /// <summary>The file, without offset and length of its data.</summary>
    public RarPart? Part { get; init; }

    /// <summary>Encryption of all further headers.</summary>
    public RarEncryption? Encryption { get; init; }
}

[Flags]
internal enum RarArchiveFlags
{
    None = 0,
    Volume = 1,
    First = 2,
    NewNames = 4,
    Solid = 8,
    Locked = 16,
    Recovery = 32,
    EncryptedHeaders = 64,
}
