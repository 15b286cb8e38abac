namespace Sluice.Usenet.Archives;

/// <summary>What the header of a file in a RAR volume stands for.</summary>
public enum RarPartKind
{
    /// <summary>A file, or what one volume holds of it.</summary>
    File,

    /// <summary>A folder. It has no data.</summary>
    Folder,

    /// <summary>A symbolic link, a junction, a hard link or a copy of another file: a name, and nothing to stream.</summary>
    Link,
}

/// <summary>What all parts of one file have in common, in whichever volumes they lie, and what no two files of a release share (IMP-50).</summary>
/// <remarks>
/// Equal by value. Checksums are not among it: each volume but the last has the checksum of its own part. Splits a release into sets
/// however its volumes are called.
/// </remarks>
/// <param name="Format">RAR 4 or RAR 5.</param>
/// <param name="Path">The path as the archive has it, separated by <c>/</c>.</param>
/// <param name="UnpackedLength">Length of the whole file in bytes.</param>
/// <param name="Time">When it was changed last, in the unit of its format: good for nothing but to be compared.</param>
/// <param name="Attributes">Its attributes in the way of the system that packed it.</param>
/// <param name="Salt">Salt and initial vector in hexadecimal digits; empty where it is not encrypted.</param>
public readonly record struct RarIdentity(ArchiveFormat Format, string Path, long UnpackedLength, ulong Time, ulong Attributes, string Salt);

/// <summary>What one volume holds of a file, by its header.</summary>
/// <remarks>Immutable.</remarks>
public sealed record RarPart
{
    /// <summary>What it shares with the parts in other volumes.</summary>
    public required RarIdentity Identity { get; init; }

    /// <summary>What it is.</summary>
    public RarPartKind Kind { get; init; }

    /// <summary>The path of the file as the archive has it, separated by <c>/</c>; not cleaned.</summary>
    public string Path => Identity.Path;

    /// <summary>Length of the whole file in bytes, unpacked.</summary>
    public long UnpackedLength => Identity.UnpackedLength;

    /// <summary>Where its data begins in the volume, 0-based.</summary>
    public long DataOffset { get; init; }

    /// <summary>Bytes of its data in this volume, packed and encrypted as they are; they end inside of the volume.</summary>
    public long DataLength { get; init; }

    /// <summary>How it is compressed, <c>m1</c> to <c>m5</c>; null where it is stored.</summary>
    public string? Method { get; init; }

    /// <summary>Whether the volume before holds data of the file, too.</summary>
    public bool IsSplitBefore { get; init; }

    /// <summary>Whether the file goes on in the next volume.</summary>
    public bool IsSplitAfter { get; init; }

    /// <summary>
    /// CRC-32: of the whole unpacked file in the last part of it, of the packed bytes of this part in each other one. Null where there is none,
    /// and where it is keyed by the password.
    /// </summary>
    public uint? Crc32 { get; init; }

    /// <summary>How it is encrypted; null where it is not.</summary>
    public RarEncryption? Encryption { get; init; }
}
