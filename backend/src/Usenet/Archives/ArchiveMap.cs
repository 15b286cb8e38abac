using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

public enum ArchiveFormat
{
    /// <summary>RAR 2.9 to 4.</summary>
    Rar4,

    /// <summary>RAR 5 to 7.</summary>
    Rar5,

    SevenZip,

    Zip,

    /// <summary>tar: ustar, pax, GNU.</summary>
    Tar,

    Split,
}

/// <summary>A byte range of one volume.</summary>
/// <param name="Volume">0-based index of the volume in its set.</param>
/// <param name="Offset">0-based offset of the first byte in the volume.</param>
/// <param name="Length">Length in bytes.</param>
public readonly record struct ArchiveExtent(int Volume, long Offset, long Length);

/// <summary>A file inside an archive. Immutable. Folders, links and empty streams are not entries.</summary>
public sealed record ArchiveEntry
{
    /// <summary>Path as stored in the archive, with <c>/</c> as separator. It is not sanitized and may try to escape its folder.</summary>
    public required string Path { get; init; }

    /// <summary>Unpacked length in bytes.</summary>
    public required long Length { get; init; }

    /// <summary>
    /// Locations of the data, in order. A stored entry's lengths add up to <see cref="Length"/>, an encrypted entry's to <see cref="StreamCipher.Skip"/> plus
    /// <see cref="Length"/>, rounded up to a multiple of 16. May be empty for a compressed entry.
    /// </summary>
    public required IReadOnlyList<ArchiveExtent> Extents { get; init; }

    /// <summary>Compression method in the format's own terms (<c>m3</c>, <c>LZMA2</c>, <c>Deflate</c>); null if stored.</summary>
    public string? Method { get; init; }

    /// <summary>Decrypts the entry with a verified password; null if the entry is not encrypted or <see cref="Candidates"/> is not empty.</summary>
    public StreamCipher? Cipher { get; init; }

    /// <summary>
    /// One cipher for each password, in order, if the archive has no password check. The caller then chooses by the decrypted bytes, or refuses
    /// the entry. Empty if <see cref="Cipher"/> is set or the entry is not encrypted.
    /// </summary>
    public CipherCandidates Candidates { get; init; } = CipherCandidates.None;

    /// <summary>CRC-32 of the unpacked bytes; null if unknown or unusable.</summary>
    public uint? Crc32 { get; init; }
}

/// <summary>One candidate cipher for each password. Keys are derived lazily, because derivation is slow. Contains passwords; never log it.</summary>
/// <param name="passwords">The passwords, in the order to try.</param>
/// <param name="derive">Returns the cipher for a password; called again for each access.</param>
public sealed class CipherCandidates(IReadOnlyList<string> passwords, Func<string, StreamCipher> derive) : IReadOnlyList<StreamCipher>
{
    public static CipherCandidates None { get; } = new([], _ => throw new InvalidOperationException("There is no password."));

    public IReadOnlyList<string> Passwords => passwords;

    public int Count => passwords.Count;

    public StreamCipher this[int index] => derive(passwords[index]);

    public StreamCipher Of(string password) => derive(password);

    public IEnumerator<StreamCipher> GetEnumerator() => passwords.Select(derive).GetEnumerator();

    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
}

/// <summary>The contents of an archive and their locations.</summary>
/// <param name="Entries">Files in archive order.</param>
/// <param name="Notes">One short text for each skipped item, with the reason.</param>
public sealed record ArchiveMap(ArchiveFormat Format, IReadOnlyList<ArchiveEntry> Entries, IReadOnlyList<string> Notes);
