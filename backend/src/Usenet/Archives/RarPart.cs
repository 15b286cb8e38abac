namespace Sluice.Usenet.Archives;

public enum RarPartKind
{
    /// <summary>A file, or its part in one volume.</summary>
    File,

    /// <summary>A folder, which has no data.</summary>
    Folder,

    /// <summary>A symbolic link, junction, hard link or file copy: a name without data to stream.</summary>
    Link,
}

/// <summary>Identifies a file across volumes: all its parts share this value, and no two files of a release do (IMP-50).</summary>
/// <remarks>Groups volumes into sets regardless of names. Has no checksum, because only the last volume has the checksum of the whole file.</remarks>
/// <param name="Format">RAR 4 or RAR 5.</param>
/// <param name="Path">Path as stored in the archive, with <c>/</c> as separator; not sanitized.</param>
/// <param name="UnpackedLength">Length of the whole file in bytes.</param>
/// <param name="Time">Modification time in the format's own unit, only for comparison.</param>
/// <param name="Attributes">File attributes of the packing system.</param>
/// <param name="Salt">Salt and initialization vector as hexadecimal digits; empty if not encrypted.</param>
public readonly record struct RarIdentity(ArchiveFormat Format, string Path, long UnpackedLength, ulong Time, ulong Attributes, string Salt);

/// <summary>The part of a file in one volume, as its header describes it. Immutable.</summary>
public sealed record RarPart
{
    /// <summary>Shared by all parts of the file.</summary>
    public required RarIdentity Identity { get; init; }

    public RarPartKind Kind { get; init; }

    public string Path => Identity.Path;

    public long UnpackedLength => Identity.UnpackedLength;

    /// <summary>0-based offset of the data in the volume.</summary>
    public long DataOffset { get; init; }

    /// <summary>Length in bytes of the data in this volume, packed and encrypted; never exceeds the volume.</summary>
    public long DataLength { get; init; }

    /// <summary>Compression method, <c>m1</c> to <c>m5</c>; null if stored.</summary>
    public string? Method { get; init; }

    /// <summary>Whether the file continues from the previous volume.</summary>
    public bool IsSplitBefore { get; init; }

    /// <summary>Whether the file continues in the next volume.</summary>
    public bool IsSplitAfter { get; init; }

    /// <summary>CRC-32 of the unpacked file in the last part, of the packed bytes in all others. Null if absent or keyed by the password.</summary>
    public uint? Crc32 { get; init; }

    /// <summary>Null if not encrypted.</summary>
    public RarEncryption? Encryption { get; init; }
}
