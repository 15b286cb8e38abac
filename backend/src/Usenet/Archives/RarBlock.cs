namespace Sluice.Usenet.Archives;

/// <summary>What a header of a RAR volume is, in the words of both formats.</summary>
internal enum RarBlockKind
{
    /// <summary>The main header of the archive: <see cref="RarBlock.Archive"/>.</summary>
    Main,

    /// <summary>A file, folder or link: <see cref="RarBlock.Part"/>.</summary>
    File,

    /// <summary>RAR 5: the headers from here on are encrypted: <see cref="RarBlock.Encryption"/>.</summary>
    Encryption,

    /// <summary>The end of the volume: <see cref="RarBlock.Continues"/>, <see cref="RarBlock.Number"/>.</summary>
    End,

    /// <summary>Comment, recovery record, quick-open list, signature and the like, which are skipped with their data (IMP-59).</summary>
    Other,
}

/// <summary>One header of a RAR volume, by itself: it knows neither where it lies nor what lies around it.</summary>
/// <param name="Kind">What it is.</param>
internal sealed record RarBlock(RarBlockKind Kind)
{
    /// <summary>Bytes of data that follow the header.</summary>
    public long DataLength { get; init; }

    /// <summary>The volume as its main header describes it, without length and parts.</summary>
    public RarArchiveFlags Archive { get; init; }

    /// <summary>The number of the volume, where this header tells it.</summary>
    public int? Number { get; init; }

    /// <summary>Whether another volume follows, by the end of this one.</summary>
    public bool Continues { get; init; }

    /// <summary>The file, with neither offset nor length of its data.</summary>
    public RarPart? Part { get; init; }

    /// <summary>How headers are encrypted from here on.</summary>
    public RarEncryption? Encryption { get; init; }
}

/// <summary>What a main header says of its archive.</summary>
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
